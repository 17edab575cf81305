-- Allowances by month or quarter, with what is left of one period carried into the next, and allowances of pools above
-- those of their teams.

ALTER TABLE allowance_version ADD COLUMN period TEXT NOT NULL DEFAULT 'month'
    CONSTRAINT allowance_period CHECK (period IN ('month', 'quarter'));
-- What is carried over: none of what is left, all of it, or at most carry_cap.
ALTER TABLE allowance_version ADD COLUMN carry TEXT NOT NULL DEFAULT 'none'
    CONSTRAINT allowance_carry CHECK (carry IN ('none', 'capped', 'full'));
ALTER TABLE allowance_version ADD COLUMN carry_cap INTEGER
    CONSTRAINT allowance_carry_cap CHECK (carry_cap BETWEEN 0 AND 9007199254740991);

CREATE TABLE pool_allowance_version (
    pool                   TEXT NOT NULL,
    version                INTEGER NOT NULL,
    -- Local credits that the pool's teams together may spend in a period; null is no allowance.
    amount                 INTEGER CONSTRAINT pool_allowance_amount CHECK (amount BETWEEN 0 AND 9007199254740991),
    hard                   INTEGER NOT NULL CONSTRAINT pool_allowance_hard CHECK (hard IN (0, 1)),
    period                 TEXT NOT NULL CONSTRAINT pool_allowance_period CHECK (period IN ('month', 'quarter')),
    carry                  TEXT NOT NULL CONSTRAINT pool_allowance_carry CHECK (carry IN ('none', 'capped', 'full')),
    carry_cap              INTEGER CONSTRAINT pool_allowance_carry_cap CHECK (carry_cap BETWEEN 0 AND 9007199254740991),
    -- Its teams' allowances may sum to more than it.
    overcommit             INTEGER NOT NULL CONSTRAINT pool_allowance_overcommit CHECK (overcommit IN (0, 1)),
    written_at             INTEGER NOT NULL,
    effective_cycle        INTEGER,
    superseded_cycle       INTEGER,
    CONSTRAINT pool_allowance_version_key PRIMARY KEY (pool, version)
) STRICT;

DROP TRIGGER allowance_version_keeps_values;
CREATE TRIGGER allowance_version_keeps_values BEFORE UPDATE OF team, version, amount, hard, period, carry, carry_cap, written_at
    ON allowance_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of allowance_version refused'); END;
CREATE TRIGGER pool_allowance_version_keeps_values BEFORE UPDATE OF pool, version, amount, hard, period, carry, carry_cap,
    overcommit, written_at ON pool_allowance_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of pool_allowance_version refused'); END;
CREATE TRIGGER pool_allowance_version_stamped_once BEFORE UPDATE OF effective_cycle ON pool_allowance_version
    WHEN OLD.effective_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of pool_allowance_version refused'); END;
CREATE TRIGGER pool_allowance_version_superseded_once BEFORE UPDATE OF superseded_cycle ON pool_allowance_version
    WHEN OLD.superseded_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of pool_allowance_version refused'); END;
CREATE TRIGGER pool_allowance_version_stays BEFORE DELETE ON pool_allowance_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of pool_allowance_version refused'); END;
