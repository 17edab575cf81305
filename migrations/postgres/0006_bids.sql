-- Who placed a bid; a team's queue and its ended bids by index; what each bid was charged.

-- The account of the person; null where no person placed it.
ALTER TABLE bid ADD COLUMN placed_by TEXT COLLATE "C";

-- The bid's team once more, so that an index of versions begins with it.
ALTER TABLE bid_version ADD COLUMN team TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE bid_version SET team = (SELECT b.team FROM bid b WHERE b.number = bid_version.bid);
CREATE TRIGGER bid_version_keeps_team BEFORE UPDATE OF team ON bid_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE INDEX bid_version_queue ON bid_version (team, position, bid, version) WHERE superseded_cycle IS NULL;
CREATE INDEX bid_version_ended ON bid_version (team, written_at, bid) WHERE state IN ('cancelled', 'served', 'expired');

-- A bid's part of its team's charges up to the last accounting step, counted from the step after this table was made.
CREATE TABLE bid_cost (
    bid                    BIGINT NOT NULL CONSTRAINT bid_cost_key PRIMARY KEY,
    amount                 BIGINT NOT NULL,
    -- What is left below one micro-credit, in 1/3600 of it.
    carry                  BIGINT NOT NULL CONSTRAINT bid_cost_carry CHECK (carry BETWEEN 0 AND 3599)
);
