-- The audit log, allowances and their alerts. Like all history they are only added to; an allowance's version is
-- stamped once with the cycles between which it holds.

CREATE TABLE audit_entry (
    number                 INTEGER NOT NULL CONSTRAINT audit_entry_number PRIMARY KEY,
    at                     INTEGER NOT NULL,
    -- The account and its display name at that time; the token where a program used one.
    user_id                TEXT NOT NULL,
    user_name              TEXT NOT NULL,
    token                  TEXT,
    -- What was done, as noun.verb, and to which object.
    action                 TEXT NOT NULL,
    object_kind            TEXT NOT NULL,
    object                 TEXT NOT NULL,
    -- JSON of the object; null where there was none, or for a look that changed nothing.
    before_json            TEXT,
    after_json             TEXT,
    reason                 TEXT NOT NULL CONSTRAINT audit_entry_reason CHECK (length(reason) BETWEEN 1 AND 500),
    -- From where, and the request that the server's log knows.
    address                TEXT,
    request_id             TEXT
) STRICT;
CREATE INDEX audit_entry_by_action ON audit_entry (action, number);

-- What a team may spend in a month.
CREATE TABLE allowance_version (
    team                   TEXT NOT NULL,
    version                INTEGER NOT NULL,
    -- Local credits; null is no allowance.
    amount                 INTEGER CONSTRAINT allowance_amount CHECK (amount BETWEEN 0 AND 9007199254740991),
    -- Once it is used up the team's bids get only chips that cost nothing until the month is over.
    hard                   INTEGER NOT NULL CONSTRAINT allowance_hard CHECK (hard IN (0, 1)),
    written_at             INTEGER NOT NULL,
    effective_cycle        INTEGER,
    superseded_cycle       INTEGER,
    CONSTRAINT allowance_version_key PRIMARY KEY (team, version)
) STRICT;

-- A share of an allowance that was reached: once for each month, allowance and share.
CREATE TABLE allowance_alert (
    team                   TEXT NOT NULL,
    month_starts_at        INTEGER NOT NULL,
    amount                 INTEGER NOT NULL,
    percent                INTEGER NOT NULL CONSTRAINT allowance_alert_percent CHECK (percent IN (50, 75, 90, 100)),
    spent                  INTEGER NOT NULL,
    cycle                  INTEGER NOT NULL,
    fired_at               INTEGER NOT NULL,
    CONSTRAINT allowance_alert_key PRIMARY KEY (team, month_starts_at, amount, percent)
) STRICT, WITHOUT ROWID;

-- What a team was charged between two cycles, without looking at other entries.
CREATE INDEX ledger_entry_charges ON ledger_entry (account, cycle, chip_type, amount) WHERE chip_type IS NOT NULL;

CREATE TRIGGER audit_entry_keeps_values BEFORE UPDATE ON audit_entry
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of audit_entry refused'); END;
CREATE TRIGGER audit_entry_stays BEFORE DELETE ON audit_entry
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of audit_entry refused'); END;
CREATE TRIGGER allowance_version_keeps_values BEFORE UPDATE OF team, version, amount, hard, written_at ON allowance_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of allowance_version refused'); END;
CREATE TRIGGER allowance_version_stamped_once BEFORE UPDATE OF effective_cycle ON allowance_version WHEN OLD.effective_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of allowance_version refused'); END;
CREATE TRIGGER allowance_version_superseded_once BEFORE UPDATE OF superseded_cycle ON allowance_version WHEN OLD.superseded_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of allowance_version refused'); END;
CREATE TRIGGER allowance_version_stays BEFORE DELETE ON allowance_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of allowance_version refused'); END;
CREATE TRIGGER allowance_alert_keeps_values BEFORE UPDATE ON allowance_alert
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of allowance_alert refused'); END;
CREATE TRIGGER allowance_alert_stays BEFORE DELETE ON allowance_alert
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of allowance_alert refused'); END;
