-- The lab: comparisons of allocation policies, which run in the background, and the traces that people uploaded for them.

-- A run's row changes as it is computed. None of it is history: a run can be computed again from its request.
CREATE TABLE lab_run (
    id                     TEXT NOT NULL CONSTRAINT lab_run_key PRIMARY KEY,
    -- What was asked for, in JSON.
    request                TEXT NOT NULL,
    state                  TEXT NOT NULL CONSTRAINT lab_run_state
                           CHECK (state IN ('queued', 'running', 'done', 'cancelled', 'failed')),
    -- Somebody wants it to end.
    cancel_wanted          BIGINT NOT NULL CONSTRAINT lab_run_cancel CHECK (cancel_wanted IN (0, 1)),
    done_steps             BIGINT NOT NULL,
    all_steps              BIGINT NOT NULL,
    created_at             BIGINT NOT NULL,
    created_by             TEXT NOT NULL,
    created_by_name        TEXT NOT NULL,
    -- When whoever computes it last said so; a run whose process is gone is taken up by another.
    heard_at               BIGINT NOT NULL,
    finished_at            BIGINT,
    problem                TEXT,
    -- The figures in JSON, compressed with zstd.
    result                 BYTEA
);
CREATE INDEX lab_run_by_time ON lab_run (created_at);

-- Uploaded traces, kept whole. Like all history they are only added to.
CREATE TABLE lab_trace (
    name                   TEXT NOT NULL CONSTRAINT lab_trace_key PRIMARY KEY,
    -- Chips of each type in every round; none: a tenth above the mean demand.
    supply                 BIGINT,
    round_seconds          BIGINT NOT NULL CONSTRAINT lab_trace_round CHECK (round_seconds >= 1),
    rounds                 BIGINT NOT NULL,
    teams                  BIGINT NOT NULL,
    created_at             BIGINT NOT NULL,
    created_by             TEXT NOT NULL,
    -- The file, compressed with zstd.
    content                BYTEA NOT NULL
);

CREATE TRIGGER lab_trace_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON lab_trace
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
