-- Counting a team's open bids, as each new bid is told its place, reads nothing but this index; SQLite looks into the table
-- for a column that is not in it, also where the condition of the index says what it is.
DROP INDEX bid_version_queue;
CREATE INDEX bid_version_queue ON bid_version (team, position, bid, version, state, superseded_cycle)
    WHERE superseded_cycle IS NULL;
