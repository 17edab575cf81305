-- What becomes of jobs that lose their quota by a cut of supply.

CREATE TABLE cut_policy_version (
    version                BIGINT NOT NULL CONSTRAINT cut_policy_version_key PRIMARY KEY,
    -- at_once: they stop. keep: they run on over quota until they are done. reclaim: lowest price first, so many chips in
    -- a cycle.
    policy                 TEXT NOT NULL CONSTRAINT cut_policy_known CHECK (policy IN ('at_once', 'keep', 'reclaim')),
    -- Of reclaim: chips taken in a cycle at most, but for the rest of the last job's gang; null is no limit.
    churn_chips            BIGINT CONSTRAINT cut_policy_churn CHECK (churn_chips BETWEEN 1 AND 4294967295),
    written_at             BIGINT NOT NULL,
    effective_cycle        BIGINT,
    superseded_cycle       BIGINT
);

-- Chips that a bid uses over its quota, their type, and what each costs in an hour.
ALTER TABLE bid_result ADD COLUMN over_type TEXT;
ALTER TABLE bid_result ADD COLUMN over_chips BIGINT NOT NULL DEFAULT 0;
ALTER TABLE bid_result ADD COLUMN over_price BIGINT NOT NULL DEFAULT 0;

-- A job that a cut stopped.
CREATE TABLE reclaim (
    cycle                  BIGINT NOT NULL,
    bid                    BIGINT NOT NULL CONSTRAINT reclaim_bid REFERENCES bid (number),
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    chips                  BIGINT NOT NULL,
    why                    TEXT NOT NULL CONSTRAINT reclaim_why CHECK (why IN ('at_once', 'room', 'policy')),
    -- The team's local price in the cycle before, and in this one; null where there was none.
    price_then             BIGINT,
    price_now              BIGINT,
    CONSTRAINT reclaim_key PRIMARY KEY (cycle, bid)
);

CREATE TRIGGER cut_policy_version_keeps_values BEFORE UPDATE OF version, policy, churn_chips, written_at ON cut_policy_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER cut_policy_version_stamped_once BEFORE UPDATE OF effective_cycle ON cut_policy_version
    FOR EACH ROW WHEN (OLD.effective_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER cut_policy_version_superseded_once BEFORE UPDATE OF superseded_cycle ON cut_policy_version
    FOR EACH ROW WHEN (OLD.superseded_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER cut_policy_version_stays BEFORE DELETE OR TRUNCATE ON cut_policy_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER reclaim_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON reclaim
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
