-- Imported traces, and what the demo plays. Like all history, both are only added to.

CREATE TABLE trace (
    name                   TEXT NOT NULL CONSTRAINT trace_key PRIMARY KEY,
    -- Of the file as it was imported.
    sha256                 BYTEA NOT NULL,
    jobs                   BIGINT NOT NULL,
    -- The file, compressed with zstd.
    content                BYTEA NOT NULL,
    imported_at            BIGINT NOT NULL
);

-- From its first cycle on, each cycle of the demo plays so many seconds of the trace.
CREATE TABLE demo_stretch (
    first_cycle            BIGINT NOT NULL CONSTRAINT demo_stretch_key PRIMARY KEY,
    trace                  TEXT NOT NULL,
    chips                  BIGINT NOT NULL,
    -- Cycles that a clock plays; the others are history, cleared at once.
    live                   BIGINT NOT NULL CONSTRAINT demo_stretch_live CHECK (live IN (0, 1)),
    cycle_seconds          BIGINT NOT NULL CONSTRAINT demo_stretch_cycle CHECK (cycle_seconds >= 1),
    trace_seconds          BIGINT NOT NULL CONSTRAINT demo_stretch_trace CHECK (trace_seconds >= 1),
    -- Seconds of the trace played when the first cycle begins.
    played_seconds         BIGINT NOT NULL
);

CREATE TRIGGER trace_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON trace
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER demo_stretch_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON demo_stretch
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
