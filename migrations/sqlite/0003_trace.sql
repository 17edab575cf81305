-- Imported traces, and what the demo plays. Like all history, both are only added to.

CREATE TABLE trace (
    name                   TEXT NOT NULL CONSTRAINT trace_key PRIMARY KEY,
    -- Of the file as it was imported.
    sha256                 BLOB NOT NULL,
    jobs                   INTEGER NOT NULL,
    -- The file, compressed with zstd.
    content                BLOB NOT NULL,
    imported_at            INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- From its first cycle on, each cycle of the demo plays so many seconds of the trace.
CREATE TABLE demo_stretch (
    first_cycle            INTEGER NOT NULL CONSTRAINT demo_stretch_key PRIMARY KEY,
    trace                  TEXT NOT NULL,
    chips                  INTEGER NOT NULL,
    -- Cycles that a clock plays; the others are history, cleared at once.
    live                   INTEGER NOT NULL CONSTRAINT demo_stretch_live CHECK (live IN (0, 1)),
    cycle_seconds          INTEGER NOT NULL CONSTRAINT demo_stretch_cycle CHECK (cycle_seconds >= 1),
    trace_seconds          INTEGER NOT NULL CONSTRAINT demo_stretch_trace CHECK (trace_seconds >= 1),
    -- Seconds of the trace played when the first cycle begins.
    played_seconds         INTEGER NOT NULL
) STRICT;

CREATE TRIGGER trace_keeps_values BEFORE UPDATE ON trace
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of trace refused'); END;
CREATE TRIGGER trace_stays BEFORE DELETE ON trace
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of trace refused'); END;
CREATE TRIGGER demo_stretch_keeps_values BEFORE UPDATE ON demo_stretch
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of demo_stretch refused'); END;
CREATE TRIGGER demo_stretch_stays BEFORE DELETE ON demo_stretch
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of demo_stretch refused'); END;
