-- Allowances by month or quarter, with what is left of one period carried into the next, and allowances of pools above
-- those of their teams.

ALTER TABLE allowance_version ADD COLUMN period TEXT NOT NULL DEFAULT 'month'
    CONSTRAINT allowance_period CHECK (period IN ('month', 'quarter'));
-- What is carried over: none of what is left, all of it, or at most carry_cap.
ALTER TABLE allowance_version ADD COLUMN carry TEXT NOT NULL DEFAULT 'none'
    CONSTRAINT allowance_carry CHECK (carry IN ('none', 'capped', 'full'));
ALTER TABLE allowance_version ADD COLUMN carry_cap BIGINT
    CONSTRAINT allowance_carry_cap CHECK (carry_cap BETWEEN 0 AND 9007199254740991);

CREATE TABLE pool_allowance_version (
    pool                   TEXT NOT NULL,
    version                BIGINT NOT NULL,
    -- Local credits that the pool's teams together may spend in a period; null is no allowance.
    amount                 BIGINT CONSTRAINT pool_allowance_amount CHECK (amount BETWEEN 0 AND 9007199254740991),
    hard                   BIGINT NOT NULL CONSTRAINT pool_allowance_hard CHECK (hard IN (0, 1)),
    period                 TEXT NOT NULL CONSTRAINT pool_allowance_period CHECK (period IN ('month', 'quarter')),
    carry                  TEXT NOT NULL CONSTRAINT pool_allowance_carry CHECK (carry IN ('none', 'capped', 'full')),
    carry_cap              BIGINT CONSTRAINT pool_allowance_carry_cap CHECK (carry_cap BETWEEN 0 AND 9007199254740991),
    -- Its teams' allowances may sum to more than it.
    overcommit             BIGINT NOT NULL CONSTRAINT pool_allowance_overcommit CHECK (overcommit IN (0, 1)),
    written_at             BIGINT NOT NULL,
    effective_cycle        BIGINT,
    superseded_cycle       BIGINT,
    CONSTRAINT pool_allowance_version_key PRIMARY KEY (pool, version)
);

DROP TRIGGER allowance_version_keeps_values ON allowance_version;
CREATE TRIGGER allowance_version_keeps_values BEFORE UPDATE OF team, version, amount, hard, period, carry, carry_cap, written_at
    ON allowance_version FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER pool_allowance_version_keeps_values BEFORE UPDATE OF pool, version, amount, hard, period, carry, carry_cap,
    overcommit, written_at ON pool_allowance_version FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER pool_allowance_version_stamped_once BEFORE UPDATE OF effective_cycle ON pool_allowance_version
    FOR EACH ROW WHEN (OLD.effective_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER pool_allowance_version_superseded_once BEFORE UPDATE OF superseded_cycle ON pool_allowance_version
    FOR EACH ROW WHEN (OLD.superseded_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER pool_allowance_version_stays BEFORE DELETE OR TRUNCATE ON pool_allowance_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
