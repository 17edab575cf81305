-- Who placed a bid; a team's queue and its ended bids by index; what each bid was charged.

-- The account of the person; null where no person placed it.
ALTER TABLE bid ADD COLUMN placed_by TEXT;

-- The bid's team once more, so that an index of versions begins with it.
ALTER TABLE bid_version ADD COLUMN team TEXT NOT NULL DEFAULT '';
UPDATE bid_version SET team = (SELECT b.team FROM bid b WHERE b.number = bid_version.bid);
CREATE TRIGGER bid_version_keeps_team BEFORE UPDATE OF team ON bid_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of bid_version refused'); END;
CREATE INDEX bid_version_queue ON bid_version (team, position, bid, version) WHERE superseded_cycle IS NULL;
CREATE INDEX bid_version_ended ON bid_version (team, written_at, bid) WHERE state IN ('cancelled', 'served', 'expired');

-- A bid's part of its team's charges up to the last accounting step, counted from the step after this table was made.
CREATE TABLE bid_cost (
    bid                    INTEGER NOT NULL CONSTRAINT bid_cost_key PRIMARY KEY,
    amount                 INTEGER NOT NULL,
    -- What is left below one micro-credit, in 1/3600 of it.
    carry                  INTEGER NOT NULL CONSTRAINT bid_cost_carry CHECK (carry BETWEEN 0 AND 3599)
) STRICT;
