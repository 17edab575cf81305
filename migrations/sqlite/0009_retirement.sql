-- What is not used any more stays, for its history: a chip type is retired, a team or a pool archived. It takes nothing
-- new, and leaves the market after its last use.

ALTER TABLE chip_type_version ADD COLUMN retired INTEGER NOT NULL DEFAULT 0 CONSTRAINT chip_type_retired CHECK (retired IN (0, 1));
ALTER TABLE team_version ADD COLUMN archived INTEGER NOT NULL DEFAULT 0 CONSTRAINT team_archived CHECK (archived IN (0, 1));
ALTER TABLE pool_version ADD COLUMN archived INTEGER NOT NULL DEFAULT 0 CONSTRAINT pool_archived CHECK (archived IN (0, 1));

CREATE TRIGGER chip_type_version_keeps_retired BEFORE UPDATE OF retired ON chip_type_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of chip_type_version refused'); END;
CREATE TRIGGER team_version_keeps_archived BEFORE UPDATE OF archived ON team_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of team_version refused'); END;
CREATE TRIGGER pool_version_keeps_archived BEFORE UPDATE OF archived ON pool_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of pool_version refused'); END;

-- The hash of all that a version of a bid says, names and notes included, which no clearing depends on. Versions from
-- before this column have none.
ALTER TABLE bid_version ADD COLUMN sha256 BLOB;
CREATE TRIGGER bid_version_keeps_sha256 BEFORE UPDATE OF sha256 ON bid_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of bid_version refused'); END;
