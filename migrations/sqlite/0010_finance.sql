-- Money as finance looks at it. The spend tables are roll-ups of the ledger's charges and of usage, by days and months
-- of the organisation's zone: they follow from the ledger and may be made again. The rest is history and only added to.

CREATE TABLE spend_day (
    -- First instant of the day. What an accounting step booked counts just before the step.
    starts_at              INTEGER NOT NULL,
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    granted_chip_seconds   INTEGER NOT NULL,
    used_chip_seconds      INTEGER NOT NULL,
    opportunistic_chip_seconds INTEGER NOT NULL,
    -- Granted and not used, and used beyond what was granted: summed over pieces, so that neither hides the other.
    idle_chip_seconds      INTEGER NOT NULL,
    over_chip_seconds      INTEGER NOT NULL,
    -- What the ledger's charges say: chip-seconds, local credits, and these in global credits, each charge converted once.
    charged_chip_seconds   INTEGER NOT NULL,
    cost                   INTEGER NOT NULL,
    global_cost            INTEGER NOT NULL,
    CONSTRAINT spend_day_key PRIMARY KEY (starts_at, team, chip_type)
) STRICT, WITHOUT ROWID;
CREATE INDEX spend_day_by_team ON spend_day (team, starts_at);

CREATE TABLE spend_month (
    starts_at              INTEGER NOT NULL,
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    granted_chip_seconds   INTEGER NOT NULL,
    used_chip_seconds      INTEGER NOT NULL,
    opportunistic_chip_seconds INTEGER NOT NULL,
    idle_chip_seconds      INTEGER NOT NULL,
    over_chip_seconds      INTEGER NOT NULL,
    charged_chip_seconds   INTEGER NOT NULL,
    cost                   INTEGER NOT NULL,
    global_cost            INTEGER NOT NULL,
    CONSTRAINT spend_month_key PRIMARY KEY (starts_at, team, chip_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE spend_pool_day (
    starts_at              INTEGER NOT NULL,
    pool                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    granted_chip_seconds   INTEGER NOT NULL,
    used_chip_seconds      INTEGER NOT NULL,
    opportunistic_chip_seconds INTEGER NOT NULL,
    idle_chip_seconds      INTEGER NOT NULL,
    over_chip_seconds      INTEGER NOT NULL,
    charged_chip_seconds   INTEGER NOT NULL,
    cost                   INTEGER NOT NULL,
    global_cost            INTEGER NOT NULL,
    CONSTRAINT spend_pool_day_key PRIMARY KEY (starts_at, pool, chip_type)
) STRICT, WITHOUT ROWID;

-- How far the roll-up goes: the last accounting step in it, and the zone whose days it counts.
CREATE TABLE spend_progress (
    number                 INTEGER NOT NULL CONSTRAINT spend_progress_one PRIMARY KEY CHECK (number = 1),
    cycle                  INTEGER NOT NULL,
    booked_at              INTEGER NOT NULL,
    time_zone              TEXT NOT NULL
) STRICT;

-- Months that are closed, in order and without gaps: nothing that counts in them is booked any more.
CREATE TABLE period_close (
    starts_at              INTEGER NOT NULL CONSTRAINT period_close_key PRIMARY KEY,
    ends_at                INTEGER NOT NULL CONSTRAINT period_close_end UNIQUE,
    time_zone              TEXT NOT NULL,
    closed_at              INTEGER NOT NULL,
    closed_by              TEXT NOT NULL,
    closed_by_name         TEXT NOT NULL,
    reason                 TEXT NOT NULL CONSTRAINT period_close_reason CHECK (length(reason) BETWEEN 1 AND 500),
    -- What counts in the month: how many transfers and entries, and a SHA-256 over the numbers and hashes of the transfers.
    transfers              INTEGER NOT NULL,
    entries                INTEGER NOT NULL,
    sha256                 BLOB NOT NULL
) STRICT;

-- What was booked to the teams of a pool in a closed month, by kind of transfer.
CREATE TABLE period_close_total (
    starts_at              INTEGER NOT NULL CONSTRAINT period_close_total_period REFERENCES period_close (starts_at),
    pool                   TEXT NOT NULL,
    kind                   TEXT NOT NULL,
    amount                 INTEGER NOT NULL,
    CONSTRAINT period_close_total_key PRIMARY KEY (starts_at, pool, kind)
) STRICT, WITHOUT ROWID;

-- The statements of closed months, numbered from 1 on without gaps.
CREATE TABLE statement (
    number                 INTEGER NOT NULL CONSTRAINT statement_number PRIMARY KEY,
    starts_at              INTEGER NOT NULL CONSTRAINT statement_period REFERENCES period_close (starts_at),
    team                   TEXT NOT NULL,
    opening                INTEGER NOT NULL,
    closing                INTEGER NOT NULL,
    -- Over all that the statement says.
    sha256                 BLOB NOT NULL,
    CONSTRAINT statement_of_team UNIQUE (team, starts_at)
) STRICT;

-- What finance wants to book, and what became of it. Small amounts are booked at once, others wait for a second person.
CREATE TABLE money_request (
    number                 INTEGER NOT NULL CONSTRAINT money_request_number PRIMARY KEY,
    -- Made by the client: a repeated request is recognised.
    id                     TEXT NOT NULL CONSTRAINT money_request_id UNIQUE,
    request_sha256         BLOB NOT NULL,
    kind                   TEXT NOT NULL CONSTRAINT money_request_kind CHECK (kind IN ('correction', 'grant', 'transfer')),
    team                   TEXT NOT NULL,
    -- The team that a transfer goes to; null for the other kinds.
    to_team                TEXT,
    amount                 INTEGER NOT NULL,
    -- The transfer that a correction puts right.
    corrects               INTEGER,
    reason                 TEXT NOT NULL CONSTRAINT money_request_reason CHECK (length(reason) BETWEEN 1 AND 500),
    maker                  TEXT NOT NULL,
    maker_name             TEXT NOT NULL,
    made_at                INTEGER NOT NULL,
    expires_at             INTEGER NOT NULL,
    needs_approval         INTEGER NOT NULL CONSTRAINT money_request_needs_approval CHECK (needs_approval IN (0, 1))
) STRICT;
CREATE INDEX money_request_corrects ON money_request (corrects) WHERE corrects IS NOT NULL;

CREATE TABLE money_decision (
    request                INTEGER NOT NULL CONSTRAINT money_decision_key PRIMARY KEY
                           CONSTRAINT money_decision_request REFERENCES money_request (number),
    verdict                TEXT NOT NULL CONSTRAINT money_decision_verdict CHECK (verdict IN ('booked', 'refused')),
    by_user                TEXT NOT NULL,
    by_name                TEXT NOT NULL,
    at                     INTEGER NOT NULL,
    reason                 TEXT NOT NULL,
    -- The transfer that was booked, and the one into the other pool where there are two.
    transfer               INTEGER,
    second_transfer        INTEGER
) STRICT;
CREATE INDEX money_decision_transfer ON money_decision (transfer) WHERE transfer IS NOT NULL;
CREATE INDEX money_decision_second_transfer ON money_decision (second_transfer) WHERE second_transfer IS NOT NULL;

-- Above how many global credits a booking needs a second person; null: each one does. The newest row counts.
CREATE TABLE approval_limit (
    number                 INTEGER NOT NULL CONSTRAINT approval_limit_number PRIMARY KEY,
    amount                 INTEGER CONSTRAINT approval_limit_amount CHECK (amount BETWEEN 0 AND 9007199254740991),
    set_at                 INTEGER NOT NULL,
    set_by                 TEXT NOT NULL
) STRICT;

-- A closed month stays as it is: whatever the program does, nothing is booked into it.
CREATE TRIGGER ledger_transfer_not_into_closed BEFORE INSERT ON ledger_transfer
    WHEN NEW.written_at - (NEW.step IS NOT NULL) < COALESCE((SELECT MAX(ends_at) FROM period_close), NEW.written_at - 1)
BEGIN SELECT RAISE(ABORT, 'history is append-only: the period is closed'); END;

CREATE TRIGGER period_close_keeps_values BEFORE UPDATE ON period_close
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of period_close refused'); END;
CREATE TRIGGER period_close_stays BEFORE DELETE ON period_close
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of period_close refused'); END;
CREATE TRIGGER period_close_total_keeps_values BEFORE UPDATE ON period_close_total
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of period_close_total refused'); END;
CREATE TRIGGER period_close_total_stays BEFORE DELETE ON period_close_total
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of period_close_total refused'); END;
CREATE TRIGGER statement_keeps_values BEFORE UPDATE ON statement
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of statement refused'); END;
CREATE TRIGGER statement_stays BEFORE DELETE ON statement
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of statement refused'); END;
CREATE TRIGGER money_request_keeps_values BEFORE UPDATE ON money_request
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of money_request refused'); END;
CREATE TRIGGER money_request_stays BEFORE DELETE ON money_request
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of money_request refused'); END;
CREATE TRIGGER money_decision_keeps_values BEFORE UPDATE ON money_decision
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of money_decision refused'); END;
CREATE TRIGGER money_decision_stays BEFORE DELETE ON money_decision
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of money_decision refused'); END;
CREATE TRIGGER approval_limit_keeps_values BEFORE UPDATE ON approval_limit
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of approval_limit refused'); END;
CREATE TRIGGER approval_limit_stays BEFORE DELETE ON approval_limit
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of approval_limit refused'); END;
