-- Money as finance looks at it. The spend tables are roll-ups of the ledger's charges and of usage, by days and months
-- of the organisation's zone: they follow from the ledger and may be made again. The rest is history and only added to.

CREATE TABLE spend_day (
    -- First instant of the day. What an accounting step booked counts just before the step.
    starts_at              BIGINT NOT NULL,
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    granted_chip_seconds   BIGINT NOT NULL,
    used_chip_seconds      BIGINT NOT NULL,
    opportunistic_chip_seconds BIGINT NOT NULL,
    -- Granted and not used, and used beyond what was granted: summed over pieces, so that neither hides the other.
    idle_chip_seconds      BIGINT NOT NULL,
    over_chip_seconds      BIGINT NOT NULL,
    -- What the ledger's charges say: chip-seconds, local credits, and these in global credits, each charge converted once.
    charged_chip_seconds   BIGINT NOT NULL,
    cost                   BIGINT NOT NULL,
    global_cost            BIGINT NOT NULL,
    CONSTRAINT spend_day_key PRIMARY KEY (starts_at, team, chip_type)
);
CREATE INDEX spend_day_by_team ON spend_day (team, starts_at);

CREATE TABLE spend_month (
    starts_at              BIGINT NOT NULL,
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    granted_chip_seconds   BIGINT NOT NULL,
    used_chip_seconds      BIGINT NOT NULL,
    opportunistic_chip_seconds BIGINT NOT NULL,
    idle_chip_seconds      BIGINT NOT NULL,
    over_chip_seconds      BIGINT NOT NULL,
    charged_chip_seconds   BIGINT NOT NULL,
    cost                   BIGINT NOT NULL,
    global_cost            BIGINT NOT NULL,
    CONSTRAINT spend_month_key PRIMARY KEY (starts_at, team, chip_type)
);

CREATE TABLE spend_pool_day (
    starts_at              BIGINT NOT NULL,
    pool                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    granted_chip_seconds   BIGINT NOT NULL,
    used_chip_seconds      BIGINT NOT NULL,
    opportunistic_chip_seconds BIGINT NOT NULL,
    idle_chip_seconds      BIGINT NOT NULL,
    over_chip_seconds      BIGINT NOT NULL,
    charged_chip_seconds   BIGINT NOT NULL,
    cost                   BIGINT NOT NULL,
    global_cost            BIGINT NOT NULL,
    CONSTRAINT spend_pool_day_key PRIMARY KEY (starts_at, pool, chip_type)
);

-- How far the roll-up goes: the last accounting step in it, and the zone whose days it counts.
CREATE TABLE spend_progress (
    number                 BIGINT NOT NULL CONSTRAINT spend_progress_one PRIMARY KEY CHECK (number = 1),
    cycle                  BIGINT NOT NULL,
    booked_at              BIGINT NOT NULL,
    time_zone              TEXT NOT NULL
);

-- Months that are closed, in order and without gaps: nothing that counts in them is booked any more.
CREATE TABLE period_close (
    starts_at              BIGINT NOT NULL CONSTRAINT period_close_key PRIMARY KEY,
    ends_at                BIGINT NOT NULL CONSTRAINT period_close_end UNIQUE,
    time_zone              TEXT NOT NULL,
    closed_at              BIGINT NOT NULL,
    closed_by              TEXT NOT NULL,
    closed_by_name         TEXT NOT NULL,
    reason                 TEXT NOT NULL CONSTRAINT period_close_reason CHECK (length(reason) BETWEEN 1 AND 500),
    -- What counts in the month: how many transfers and entries, and a SHA-256 over the numbers and hashes of the transfers.
    transfers              BIGINT NOT NULL,
    entries                BIGINT NOT NULL,
    sha256                 BYTEA NOT NULL
);

-- What was booked to the teams of a pool in a closed month, by kind of transfer.
CREATE TABLE period_close_total (
    starts_at              BIGINT NOT NULL CONSTRAINT period_close_total_period REFERENCES period_close (starts_at),
    pool                   TEXT NOT NULL,
    kind                   TEXT NOT NULL,
    amount                 BIGINT NOT NULL,
    CONSTRAINT period_close_total_key PRIMARY KEY (starts_at, pool, kind)
);

-- The statements of closed months, numbered from 1 on without gaps.
CREATE TABLE statement (
    number                 BIGINT NOT NULL CONSTRAINT statement_number PRIMARY KEY,
    starts_at              BIGINT NOT NULL CONSTRAINT statement_period REFERENCES period_close (starts_at),
    team                   TEXT NOT NULL,
    opening                BIGINT NOT NULL,
    closing                BIGINT NOT NULL,
    -- Over all that the statement says.
    sha256                 BYTEA NOT NULL,
    CONSTRAINT statement_of_team UNIQUE (team, starts_at)
);

-- What finance wants to book, and what became of it. Small amounts are booked at once, others wait for a second person.
CREATE TABLE money_request (
    number                 BIGINT NOT NULL CONSTRAINT money_request_number PRIMARY KEY,
    -- Made by the client: a repeated request is recognised.
    id                     TEXT NOT NULL CONSTRAINT money_request_id UNIQUE,
    request_sha256         BYTEA NOT NULL,
    kind                   TEXT NOT NULL CONSTRAINT money_request_kind CHECK (kind IN ('correction', 'grant', 'transfer')),
    team                   TEXT NOT NULL,
    -- The team that a transfer goes to; null for the other kinds.
    to_team                TEXT,
    amount                 BIGINT NOT NULL,
    -- The transfer that a correction puts right.
    corrects               BIGINT,
    reason                 TEXT NOT NULL CONSTRAINT money_request_reason CHECK (length(reason) BETWEEN 1 AND 500),
    maker                  TEXT NOT NULL,
    maker_name             TEXT NOT NULL,
    made_at                BIGINT NOT NULL,
    expires_at             BIGINT NOT NULL,
    needs_approval         BIGINT NOT NULL CONSTRAINT money_request_needs_approval CHECK (needs_approval IN (0, 1))
);
CREATE INDEX money_request_corrects ON money_request (corrects) WHERE corrects IS NOT NULL;

CREATE TABLE money_decision (
    request                BIGINT NOT NULL CONSTRAINT money_decision_key PRIMARY KEY
                           CONSTRAINT money_decision_request REFERENCES money_request (number),
    verdict                TEXT NOT NULL CONSTRAINT money_decision_verdict CHECK (verdict IN ('booked', 'refused')),
    by_user                TEXT NOT NULL,
    by_name                TEXT NOT NULL,
    at                     BIGINT NOT NULL,
    reason                 TEXT NOT NULL,
    -- The transfer that was booked, and the one into the other pool where there are two.
    transfer               BIGINT,
    second_transfer        BIGINT
);
CREATE INDEX money_decision_transfer ON money_decision (transfer) WHERE transfer IS NOT NULL;
CREATE INDEX money_decision_second_transfer ON money_decision (second_transfer) WHERE second_transfer IS NOT NULL;

-- Above how many global credits a booking needs a second person; null: each one does. The newest row counts.
CREATE TABLE approval_limit (
    number                 BIGINT NOT NULL CONSTRAINT approval_limit_number PRIMARY KEY,
    amount                 BIGINT CONSTRAINT approval_limit_amount CHECK (amount BETWEEN 0 AND 9007199254740991),
    set_at                 BIGINT NOT NULL,
    set_by                 TEXT NOT NULL
);

-- A closed month stays as it is: whatever the program does, nothing is booked into it.
CREATE FUNCTION refuse_booking_into_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.written_at - (CASE WHEN NEW.step IS NULL THEN 0 ELSE 1 END) < (SELECT MAX(ends_at) FROM period_close) THEN
        RAISE EXCEPTION 'history is append-only: the period is closed' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER ledger_transfer_not_into_closed BEFORE INSERT ON ledger_transfer
    FOR EACH ROW EXECUTE FUNCTION refuse_booking_into_closed();

CREATE TRIGGER period_close_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON period_close
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER period_close_total_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON period_close_total
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER statement_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON statement
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER money_request_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON money_request
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER money_decision_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON money_decision
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER approval_limit_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON approval_limit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
