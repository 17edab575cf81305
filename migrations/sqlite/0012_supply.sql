-- Changes of supply at a time to come, and windows of maintenance. A row is stamped once with the cycle in which it took
-- effect, and once with how it ended; all else of it stays.

CREATE TABLE supply_plan (
    number                 INTEGER NOT NULL CONSTRAINT supply_plan_number PRIMARY KEY,
    -- Made by the client: the same request again is recognised.
    id                     TEXT NOT NULL CONSTRAINT supply_plan_id UNIQUE,
    kind                   TEXT NOT NULL CONSTRAINT supply_plan_kind CHECK (kind IN ('change', 'maintenance')),
    -- JSON of what is set; of maintenance: which chips, and how many are down.
    edit                   TEXT NOT NULL,
    starts_at              INTEGER NOT NULL,
    -- Of maintenance.
    ends_at                INTEGER,
    user_id                TEXT NOT NULL,
    user_name              TEXT NOT NULL,
    reason                 TEXT NOT NULL CONSTRAINT supply_plan_reason CHECK (length(reason) BETWEEN 1 AND 500),
    written_at             INTEGER NOT NULL,
    -- The cycle with which it took effect, and of maintenance the chips it took.
    begun_cycle            INTEGER,
    taken                  INTEGER,
    outcome                TEXT CONSTRAINT supply_plan_outcome CHECK (outcome IN ('done', 'cancelled', 'refused')),
    note                   TEXT,
    ended_at               INTEGER,
    CONSTRAINT supply_plan_window CHECK ((kind = 'maintenance') = (ends_at IS NOT NULL))
) STRICT;
CREATE INDEX supply_plan_open ON supply_plan (starts_at, number) WHERE outcome IS NULL;

CREATE TRIGGER supply_plan_keeps_values BEFORE UPDATE OF number, id, kind, edit, starts_at, ends_at, user_id, user_name,
    reason, written_at ON supply_plan
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of supply_plan refused'); END;
CREATE TRIGGER supply_plan_begun_once BEFORE UPDATE OF begun_cycle, taken ON supply_plan WHEN OLD.begun_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of supply_plan refused'); END;
CREATE TRIGGER supply_plan_ended_once BEFORE UPDATE OF outcome, note, ended_at ON supply_plan WHEN OLD.outcome IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of supply_plan refused'); END;
CREATE TRIGGER supply_plan_stays BEFORE DELETE ON supply_plan
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of supply_plan refused'); END;
