-- What is not used any more stays, for its history: a chip type is retired, a team or a pool archived. It takes nothing
-- new, and leaves the market after its last use.

ALTER TABLE chip_type_version ADD COLUMN retired BIGINT NOT NULL DEFAULT 0 CONSTRAINT chip_type_retired CHECK (retired IN (0, 1));
ALTER TABLE team_version ADD COLUMN archived BIGINT NOT NULL DEFAULT 0 CONSTRAINT team_archived CHECK (archived IN (0, 1));
ALTER TABLE pool_version ADD COLUMN archived BIGINT NOT NULL DEFAULT 0 CONSTRAINT pool_archived CHECK (archived IN (0, 1));

CREATE TRIGGER chip_type_version_keeps_retired BEFORE UPDATE OF retired ON chip_type_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER team_version_keeps_archived BEFORE UPDATE OF archived ON team_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER pool_version_keeps_archived BEFORE UPDATE OF archived ON pool_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- The hash of all that a version of a bid says, names and notes included, which no clearing depends on. Versions from
-- before this column have none.
ALTER TABLE bid_version ADD COLUMN sha256 BYTEA;
CREATE TRIGGER bid_version_keeps_sha256 BEFORE UPDATE OF sha256 ON bid_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
