-- Plans of training jobs: what a job told of its loss, what it still needs, and the bids that were placed for it.

CREATE TABLE plan (
    number                 BIGINT NOT NULL CONSTRAINT plan_number PRIMARY KEY,
    id                     TEXT NOT NULL CONSTRAINT plan_id UNIQUE,
    team                   TEXT NOT NULL,
    -- Of the request that made it, so that a repeated one is recognised.
    request_sha256         BYTEA NOT NULL,
    made_at                BIGINT NOT NULL,
    made_by                TEXT NOT NULL,
    made_by_name           TEXT NOT NULL
);
CREATE INDEX plan_by_team ON plan (team, number);

-- One row per report of losses, so that a repeated report is recognised by its id.
CREATE TABLE plan_losses (
    plan                   BIGINT NOT NULL CONSTRAINT plan_losses_plan REFERENCES plan (number),
    report                 BIGINT NOT NULL,
    id                     TEXT NOT NULL,
    request_sha256         BYTEA NOT NULL,
    -- JSON: step, chip-hours and loss of each.
    losses                 TEXT NOT NULL,
    posted_at              BIGINT NOT NULL,
    posted_by              TEXT NOT NULL,
    CONSTRAINT plan_losses_key PRIMARY KEY (plan, report),
    CONSTRAINT plan_losses_id UNIQUE (plan, id)
);

-- What the plan is for and what it said, after each report of losses and each change.
CREATE TABLE plan_version (
    plan                   BIGINT NOT NULL CONSTRAINT plan_version_plan REFERENCES plan (number),
    version                BIGINT NOT NULL,
    -- JSON of name, chip type, chips, target, deadline.
    terms                  TEXT NOT NULL,
    closed                 BIGINT NOT NULL CONSTRAINT plan_version_closed CHECK (closed IN (0, 1)),
    -- JSON of the forecast.
    forecast               TEXT NOT NULL,
    written_at             BIGINT NOT NULL,
    written_by_name        TEXT NOT NULL,
    CONSTRAINT plan_version_key PRIMARY KEY (plan, version)
);

-- Each time that bids were made what the plan says.
CREATE TABLE plan_placement (
    plan                   BIGINT NOT NULL CONSTRAINT plan_placement_plan REFERENCES plan (number),
    number                 BIGINT NOT NULL,
    id                     TEXT NOT NULL,
    version                BIGINT NOT NULL,
    -- JSON of what was placed, changed and cancelled.
    done                   TEXT NOT NULL,
    placed_at              BIGINT NOT NULL,
    placed_by              TEXT NOT NULL,
    CONSTRAINT plan_placement_key PRIMARY KEY (plan, number),
    CONSTRAINT plan_placement_id UNIQUE (plan, id)
);

CREATE TABLE plan_bid (
    plan                   BIGINT NOT NULL CONSTRAINT plan_bid_plan REFERENCES plan (number),
    bid                    TEXT NOT NULL CONSTRAINT plan_bid_bid REFERENCES bid (id),
    CONSTRAINT plan_bid_key PRIMARY KEY (plan, bid)
);

CREATE TRIGGER plan_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON plan
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER plan_losses_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON plan_losses
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER plan_version_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON plan_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER plan_placement_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON plan_placement
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER plan_bid_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON plan_bid
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
