-- A what-if over a day is a job like other long work: a server that starts again goes on with it. SQLite changes no
-- constraint of a table that is there.

CREATE TABLE job_with_what_ifs (
    id                     TEXT NOT NULL CONSTRAINT job_key PRIMARY KEY,
    kind                   TEXT NOT NULL CONSTRAINT job_kind CHECK (kind IN ('export', 'reconciliation', 'what_if')),
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
INSERT INTO job_with_what_ifs SELECT * FROM job;
DROP TABLE job;
ALTER TABLE job_with_what_ifs RENAME TO job;
CREATE INDEX job_by_user ON job (user_id, made_at);
CREATE INDEX job_open ON job (made_at) WHERE state IN ('waiting', 'running');
CREATE INDEX job_by_kind ON job (kind, made_at);
