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
    done_steps             BIGINT NOT NULL,
    all_steps              BIGINT NOT NULL,
    row_count              BIGINT NOT NULL,
    expected_rows          BIGINT NOT NULL,
    bytes                  BIGINT NOT NULL,
    made_at                BIGINT NOT NULL,
    -- When whoever runs it last said so: one that is silent for long has died, and the job is begun anew.
    seen_at                BIGINT,
    ended_at               BIGINT,
    -- Path of its file; null while there is none, and again when it was removed.
    file                   TEXT,
    -- JSON of what it found.
    result                 TEXT,
    error                  TEXT
);
CREATE INDEX job_by_user ON job (user_id, made_at);
CREATE INDEX job_open ON job (made_at) WHERE state IN ('waiting', 'running');
CREATE INDEX job_by_kind ON job (kind, made_at);

-- What a credit is worth in an ISO currency, from the month that begins at holds_from on.
CREATE TABLE credit_value (
    number                 BIGINT NOT NULL CONSTRAINT credit_value_number PRIMARY KEY,
    currency               TEXT NOT NULL CONSTRAINT credit_value_currency CHECK (length(currency) = 3),
    -- In millionths of the currency's unit.
    value_micros           BIGINT NOT NULL CONSTRAINT credit_value_micros CHECK (value_micros BETWEEN 1 AND 9007199254740991),
    holds_from             BIGINT NOT NULL,
    written_at             BIGINT NOT NULL
);

CREATE TRIGGER credit_value_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON credit_value
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
