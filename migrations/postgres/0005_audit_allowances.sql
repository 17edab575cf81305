-- The audit log, allowances and their alerts. Like all history they are only added to; an allowance's version is
-- stamped once with the cycles between which it holds.

CREATE TABLE audit_entry (
    number                 BIGINT NOT NULL CONSTRAINT audit_entry_number PRIMARY KEY,
    at                     BIGINT NOT NULL,
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
);
CREATE INDEX audit_entry_by_action ON audit_entry (action, number);

-- What a team may spend in a month.
CREATE TABLE allowance_version (
    team                   TEXT NOT NULL,
    version                BIGINT NOT NULL,
    -- Local credits; null is no allowance.
    amount                 BIGINT CONSTRAINT allowance_amount CHECK (amount BETWEEN 0 AND 9007199254740991),
    -- Once it is used up the team's bids get only chips that cost nothing until the month is over.
    hard                   BIGINT NOT NULL CONSTRAINT allowance_hard CHECK (hard IN (0, 1)),
    written_at             BIGINT NOT NULL,
    effective_cycle        BIGINT,
    superseded_cycle       BIGINT,
    CONSTRAINT allowance_version_key PRIMARY KEY (team, version)
);

-- A share of an allowance that was reached: once for each month, allowance and share.
CREATE TABLE allowance_alert (
    team                   TEXT NOT NULL,
    month_starts_at        BIGINT NOT NULL,
    amount                 BIGINT NOT NULL,
    percent                BIGINT NOT NULL CONSTRAINT allowance_alert_percent CHECK (percent IN (50, 75, 90, 100)),
    spent                  BIGINT NOT NULL,
    cycle                  BIGINT NOT NULL,
    fired_at               BIGINT NOT NULL,
    CONSTRAINT allowance_alert_key PRIMARY KEY (team, month_starts_at, amount, percent)
);

-- What a team was charged between two cycles, without looking at other entries.
CREATE INDEX ledger_entry_charges ON ledger_entry (account, cycle, chip_type, amount) WHERE chip_type IS NOT NULL;

CREATE TRIGGER audit_entry_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER allowance_version_keeps_values BEFORE UPDATE OF team, version, amount, hard, written_at ON allowance_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER allowance_version_stamped_once BEFORE UPDATE OF effective_cycle ON allowance_version
    FOR EACH ROW WHEN (OLD.effective_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER allowance_version_superseded_once BEFORE UPDATE OF superseded_cycle ON allowance_version
    FOR EACH ROW WHEN (OLD.superseded_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER allowance_version_stays BEFORE DELETE OR TRUNCATE ON allowance_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER allowance_alert_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON allowance_alert
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
