-- Plans of training jobs: what a job told of its loss, what it still needs, and the bids that were placed for it.

CREATE TABLE plan (
    number                 INTEGER NOT NULL CONSTRAINT plan_number PRIMARY KEY,
    id                     TEXT NOT NULL CONSTRAINT plan_id UNIQUE,
    team                   TEXT NOT NULL,
    -- Of the request that made it, so that a repeated one is recognised.
    request_sha256         BLOB NOT NULL,
    made_at                INTEGER NOT NULL,
    made_by                TEXT NOT NULL,
    made_by_name           TEXT NOT NULL
) STRICT;
CREATE INDEX plan_by_team ON plan (team, number);

-- One row per report of losses, so that a repeated report is recognised by its id.
CREATE TABLE plan_losses (
    plan                   INTEGER NOT NULL CONSTRAINT plan_losses_plan REFERENCES plan (number),
    report                 INTEGER NOT NULL,
    id                     TEXT NOT NULL,
    request_sha256         BLOB NOT NULL,
    -- JSON: step, chip-hours and loss of each.
    losses                 TEXT NOT NULL,
    posted_at              INTEGER NOT NULL,
    posted_by              TEXT NOT NULL,
    CONSTRAINT plan_losses_key PRIMARY KEY (plan, report),
    CONSTRAINT plan_losses_id UNIQUE (plan, id)
) STRICT, WITHOUT ROWID;

-- What the plan is for and what it said, after each report of losses and each change.
CREATE TABLE plan_version (
    plan                   INTEGER NOT NULL CONSTRAINT plan_version_plan REFERENCES plan (number),
    version                INTEGER NOT NULL,
    -- JSON of name, chip type, chips, target, deadline.
    terms                  TEXT NOT NULL,
    closed                 INTEGER NOT NULL CONSTRAINT plan_version_closed CHECK (closed IN (0, 1)),
    -- JSON of the forecast.
    forecast               TEXT NOT NULL,
    written_at             INTEGER NOT NULL,
    written_by_name        TEXT NOT NULL,
    CONSTRAINT plan_version_key PRIMARY KEY (plan, version)
) STRICT, WITHOUT ROWID;

-- Each time that bids were made what the plan says.
CREATE TABLE plan_placement (
    plan                   INTEGER NOT NULL CONSTRAINT plan_placement_plan REFERENCES plan (number),
    number                 INTEGER NOT NULL,
    id                     TEXT NOT NULL,
    version                INTEGER NOT NULL,
    -- JSON of what was placed, changed and cancelled.
    done                   TEXT NOT NULL,
    placed_at              INTEGER NOT NULL,
    placed_by              TEXT NOT NULL,
    CONSTRAINT plan_placement_key PRIMARY KEY (plan, number),
    CONSTRAINT plan_placement_id UNIQUE (plan, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE plan_bid (
    plan                   INTEGER NOT NULL CONSTRAINT plan_bid_plan REFERENCES plan (number),
    bid                    TEXT NOT NULL CONSTRAINT plan_bid_bid REFERENCES bid (id),
    CONSTRAINT plan_bid_key PRIMARY KEY (plan, bid)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER plan_keeps_values BEFORE UPDATE ON plan
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of plan refused'); END;
CREATE TRIGGER plan_stays BEFORE DELETE ON plan
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of plan refused'); END;
CREATE TRIGGER plan_losses_keeps_values BEFORE UPDATE ON plan_losses
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of plan_losses refused'); END;
CREATE TRIGGER plan_losses_stays BEFORE DELETE ON plan_losses
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of plan_losses refused'); END;
CREATE TRIGGER plan_version_keeps_values BEFORE UPDATE ON plan_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of plan_version refused'); END;
CREATE TRIGGER plan_version_stays BEFORE DELETE ON plan_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of plan_version refused'); END;
CREATE TRIGGER plan_placement_keeps_values BEFORE UPDATE ON plan_placement
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of plan_placement refused'); END;
CREATE TRIGGER plan_placement_stays BEFORE DELETE ON plan_placement
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of plan_placement refused'); END;
CREATE TRIGGER plan_bid_keeps_values BEFORE UPDATE ON plan_bid
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of plan_bid refused'); END;
CREATE TRIGGER plan_bid_stays BEFORE DELETE ON plan_bid
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of plan_bid refused'); END;
