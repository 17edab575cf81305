-- Counting a team's open bids, as each new bid is told its place, reads nothing but this index.
DROP INDEX bid_version_queue;
CREATE INDEX bid_version_queue ON bid_version (team, position, bid, version, state) WHERE superseded_cycle IS NULL;

-- These are looked up by columns that have this collation, which an index of another one does not serve.
ALTER TABLE user_account ALTER COLUMN id TYPE text COLLATE "C";
CREATE INDEX allowance_version_of_team ON allowance_version (team COLLATE "C", version);
