-- A policy on how long a bid may be for, and warnings before a balance is used up.

-- Null: a bid may be for any time.
ALTER TABLE organisation_version ADD COLUMN most_bid_hours INTEGER
    CONSTRAINT organisation_most_bid_hours CHECK (most_bid_hours BETWEEN 1 AND 100000);
CREATE TRIGGER organisation_version_keeps_most_bid_hours BEFORE UPDATE OF most_bid_hours ON organisation_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of organisation_version refused'); END;

-- A balance that would last no longer than so many hours: told once a day.
CREATE TABLE runway_warning (
    team                   TEXT NOT NULL,
    -- The first instant of the day, in the organisation's zone.
    day_starts_at          INTEGER NOT NULL,
    hours                  INTEGER NOT NULL CONSTRAINT runway_warning_hours CHECK (hours IN (1, 24)),
    -- What it followed from, in local credits and local credits per hour.
    balance                INTEGER NOT NULL,
    burn                   INTEGER NOT NULL,
    income                 INTEGER NOT NULL,
    cycle                  INTEGER NOT NULL,
    fired_at               INTEGER NOT NULL,
    CONSTRAINT runway_warning_key PRIMARY KEY (team, day_starts_at, hours)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER runway_warning_keeps_values BEFORE UPDATE ON runway_warning
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of runway_warning refused'); END;
CREATE TRIGGER runway_warning_stays BEFORE DELETE ON runway_warning
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of runway_warning refused'); END;

-- Forms that were sent when the session was over, until their owners are back from the identity provider.
CREATE TABLE kept_form (
    -- SHA-256 of what the browser carries meanwhile.
    mark                   BLOB NOT NULL CONSTRAINT kept_form_key PRIMARY KEY,
    -- From then on the sign-in is over, and the row may go.
    ends_at                INTEGER NOT NULL,
    -- JSON: where it was sent, and its fields.
    form                   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
