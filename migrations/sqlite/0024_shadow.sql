-- Policies that run in shadow beside the live market: what each would have given, never in force.

-- Those that run, as an admin chose them.
CREATE TABLE shadow_policy (
    policy                 TEXT NOT NULL CONSTRAINT shadow_policy_key PRIMARY KEY,
    chosen_at              INTEGER NOT NULL,
    chosen_by              TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per policy and step. It can be computed again from the cycles, so old rows may go.
CREATE TABLE shadow_step (
    policy                 TEXT NOT NULL,
    cycle                  INTEGER NOT NULL,
    at                     INTEGER NOT NULL,
    -- Per team the chips asked for, granted by the market, and given by the policy, in JSON.
    teams                  TEXT NOT NULL,
    CONSTRAINT shadow_step_key PRIMARY KEY (policy, cycle)
) STRICT, WITHOUT ROWID;
CREATE INDEX shadow_step_by_time ON shadow_step (at);
