-- What becomes of jobs that lose their quota by a cut of supply.

CREATE TABLE cut_policy_version (
    version                INTEGER NOT NULL CONSTRAINT cut_policy_version_key PRIMARY KEY,
    -- at_once: they stop. keep: they run on over quota until they are done. reclaim: lowest price first, so many chips in
    -- a cycle.
    policy                 TEXT NOT NULL CONSTRAINT cut_policy_known CHECK (policy IN ('at_once', 'keep', 'reclaim')),
    -- Of reclaim: chips taken in a cycle at most, but for the rest of the last job's gang; null is no limit.
    churn_chips            INTEGER CONSTRAINT cut_policy_churn CHECK (churn_chips BETWEEN 1 AND 4294967295),
    written_at             INTEGER NOT NULL,
    effective_cycle        INTEGER,
    superseded_cycle       INTEGER
) STRICT;

-- Chips that a bid uses over its quota, their type, and what each costs in an hour.
ALTER TABLE bid_result ADD COLUMN over_type TEXT;
ALTER TABLE bid_result ADD COLUMN over_chips INTEGER NOT NULL DEFAULT 0;
ALTER TABLE bid_result ADD COLUMN over_price INTEGER NOT NULL DEFAULT 0;

-- A job that a cut stopped.
CREATE TABLE reclaim (
    cycle                  INTEGER NOT NULL,
    bid                    INTEGER NOT NULL CONSTRAINT reclaim_bid REFERENCES bid (number),
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    chips                  INTEGER NOT NULL,
    why                    TEXT NOT NULL CONSTRAINT reclaim_why CHECK (why IN ('at_once', 'room', 'policy')),
    -- The team's local price in the cycle before, and in this one; null where there was none.
    price_then             INTEGER,
    price_now              INTEGER,
    CONSTRAINT reclaim_key PRIMARY KEY (cycle, bid)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER cut_policy_version_keeps_values BEFORE UPDATE OF version, policy, churn_chips, written_at ON cut_policy_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of cut_policy_version refused'); END;
CREATE TRIGGER cut_policy_version_stamped_once BEFORE UPDATE OF effective_cycle ON cut_policy_version WHEN OLD.effective_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of cut_policy_version refused'); END;
CREATE TRIGGER cut_policy_version_superseded_once BEFORE UPDATE OF superseded_cycle ON cut_policy_version WHEN OLD.superseded_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of cut_policy_version refused'); END;
CREATE TRIGGER cut_policy_version_stays BEFORE DELETE ON cut_policy_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of cut_policy_version refused'); END;
CREATE TRIGGER reclaim_keeps_values BEFORE UPDATE ON reclaim
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of reclaim refused'); END;
CREATE TRIGGER reclaim_stays BEFORE DELETE ON reclaim
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of reclaim refused'); END;
