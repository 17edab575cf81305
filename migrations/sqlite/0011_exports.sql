-- Long work in the background: exports and reconciliations. Rows say how far each is; they change while it runs, and
-- stay when it has ended.

CREATE TABLE job (
    id                     TEXT NOT NULL CONSTRAINT job_key PRIMARY KEY,
    kind                   TEXT NOT NULL CONSTRAINT job_kind CHECK (kind IN ('export', 'reconciliation')),
    user_id                TEXT NOT NULL,
    -- Display name at that time.
    user_name              TEXT NOT NULL,
    title                  TEXT NOT NULL,
    -- JSON of what is asked for.
    request                TEXT NOT NULL,
    state                  TEXT NOT NULL CONSTRAINT job_state CHECK (state IN ('waiting', 'running', 'done', 'cancelled', 'failed')),
    done_steps             INTEGER NOT NULL,
    all_steps              INTEGER NOT NULL,
    row_count              INTEGER NOT NULL,
    expected_rows          INTEGER NOT NULL,
    bytes                  INTEGER NOT NULL,
    made_at                INTEGER NOT NULL,
    -- When whoever runs it last said so: one that is silent for long has died, and the job is begun anew.
    seen_at                INTEGER,
    ended_at               INTEGER,
    -- Path of its file; null while there is none, and again when it was removed.
    file                   TEXT,
    -- JSON of what it found.
    result                 TEXT,
    error                  TEXT
) STRICT;
CREATE INDEX job_by_user ON job (user_id, made_at);
CREATE INDEX job_open ON job (made_at) WHERE state IN ('waiting', 'running');
CREATE INDEX job_by_kind ON job (kind, made_at);

-- What a credit is worth in an ISO currency, from the month that begins at holds_from on.
CREATE TABLE credit_value (
    number                 INTEGER NOT NULL CONSTRAINT credit_value_number PRIMARY KEY,
    currency               TEXT NOT NULL CONSTRAINT credit_value_currency CHECK (length(currency) = 3),
    -- In millionths of the currency's unit.
    value_micros           INTEGER NOT NULL CONSTRAINT credit_value_micros CHECK (value_micros BETWEEN 1 AND 9007199254740991),
    holds_from             INTEGER NOT NULL,
    written_at             INTEGER NOT NULL
) STRICT;

CREATE TRIGGER credit_value_keeps_values BEFORE UPDATE ON credit_value
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of credit_value refused'); END;
CREATE TRIGGER credit_value_stays BEFORE DELETE ON credit_value
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of credit_value refused'); END;
