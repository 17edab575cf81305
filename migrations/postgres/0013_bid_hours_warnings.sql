-- A policy on how long a bid may be for, and warnings before a balance is used up.

-- Null: a bid may be for any time.
ALTER TABLE organisation_version ADD COLUMN most_bid_hours BIGINT
    CONSTRAINT organisation_most_bid_hours CHECK (most_bid_hours BETWEEN 1 AND 100000);
CREATE TRIGGER organisation_version_keeps_most_bid_hours BEFORE UPDATE OF most_bid_hours ON organisation_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- A balance that would last no longer than so many hours: told once a day.
CREATE TABLE runway_warning (
    team                   TEXT NOT NULL,
    -- The first instant of the day, in the organisation's zone.
    day_starts_at          BIGINT NOT NULL,
    hours                  BIGINT NOT NULL CONSTRAINT runway_warning_hours CHECK (hours IN (1, 24)),
    -- What it followed from, in local credits and local credits per hour.
    balance                BIGINT NOT NULL,
    burn                   BIGINT NOT NULL,
    income                 BIGINT NOT NULL,
    cycle                  BIGINT NOT NULL,
    fired_at               BIGINT NOT NULL,
    CONSTRAINT runway_warning_key PRIMARY KEY (team, day_starts_at, hours)
);
CREATE TRIGGER runway_warning_keeps_values BEFORE UPDATE ON runway_warning
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER runway_warning_stays BEFORE DELETE OR TRUNCATE ON runway_warning
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Forms that were sent when the session was over, until their owners are back from the identity provider.
CREATE TABLE kept_form (
    -- SHA-256 of what the browser carries meanwhile.
    mark                   BYTEA NOT NULL CONSTRAINT kept_form_key PRIMARY KEY,
    -- From then on the sign-in is over, and the row may go.
    ends_at                BIGINT NOT NULL,
    -- JSON: where it was sent, and its fields.
    form                   TEXT NOT NULL
);
