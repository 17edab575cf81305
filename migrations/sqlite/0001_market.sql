-- The market's history. Entities are version rows: a write adds a version whose effective_cycle is null ("takes
-- effect in the next cycle"); the clearing of cycle c stamps it with c and what it supersedes with
-- superseded_cycle = c. A version holds in cycle c when effective_cycle <= c and not superseded_cycle <= c.
-- Instants are microseconds since 1970 in UTC, money is micro-credits, hashes are SHA-256.

CREATE TABLE cycle (
    number          INTEGER NOT NULL CONSTRAINT cycle_number PRIMARY KEY CONSTRAINT cycle_number_from_1 CHECK (number >= 1),
    starts_at       INTEGER NOT NULL CONSTRAINT cycle_starts_at UNIQUE,
    -- Number of the accounting step booked in this cycle; null where none was due.
    step            INTEGER CONSTRAINT cycle_step UNIQUE,
    bids            INTEGER NOT NULL,
    clear_micros    INTEGER NOT NULL,
    snapshot_sha256 BLOB NOT NULL,
    outcome_sha256  BLOB NOT NULL
) STRICT;

CREATE TABLE organisation_version (
    version                INTEGER NOT NULL CONSTRAINT organisation_version_key PRIMARY KEY,
    name                   TEXT NOT NULL,
    data_note              TEXT,
    time_zone              TEXT NOT NULL,
    cycle_seconds          INTEGER NOT NULL CONSTRAINT organisation_cycle_seconds CHECK (cycle_seconds BETWEEN 1 AND 3600),
    accounting_seconds     INTEGER NOT NULL CONSTRAINT organisation_accounting_seconds CHECK (accounting_seconds BETWEEN 1 AND 3600),
    sustain_minutes        INTEGER NOT NULL CONSTRAINT organisation_sustain_minutes CHECK (sustain_minutes BETWEEN 1 AND 100000),
    rebase_balances        INTEGER NOT NULL CONSTRAINT organisation_rebase_balances CHECK (rebase_balances IN (0, 1)),
    raw_retention_days     INTEGER NOT NULL CONSTRAINT organisation_raw_retention_days CHECK (raw_retention_days BETWEEN 2 AND 36500),
    written_at             INTEGER NOT NULL,
    effective_cycle        INTEGER,
    superseded_cycle       INTEGER
) STRICT;

CREATE TABLE chip_type_version (
    id                     TEXT NOT NULL,
    version                INTEGER NOT NULL,
    name                   TEXT NOT NULL,
    shared                 INTEGER NOT NULL CONSTRAINT chip_type_shared CHECK (shared BETWEEN 0 AND 4294967295),
    reserve_price          INTEGER NOT NULL CONSTRAINT chip_type_reserve_price CHECK (reserve_price BETWEEN 0 AND 9007199254740991),
    written_at             INTEGER NOT NULL,
    effective_cycle        INTEGER,
    superseded_cycle       INTEGER,
    CONSTRAINT chip_type_version_key PRIMARY KEY (id, version)
) STRICT;

CREATE TABLE pool_version (
    id                     TEXT NOT NULL,
    version                INTEGER NOT NULL,
    name                   TEXT NOT NULL,
    weight                 INTEGER NOT NULL CONSTRAINT pool_weight CHECK (weight BETWEEN 0 AND 9007199254740991),
    -- Idle owned chips lent at most per chip type; null is all of them.
    lends_at_most          INTEGER CONSTRAINT pool_lends_at_most CHECK (lends_at_most BETWEEN 0 AND 4294967295),
    written_at             INTEGER NOT NULL,
    effective_cycle        INTEGER,
    superseded_cycle       INTEGER,
    CONSTRAINT pool_version_key PRIMARY KEY (id, version)
) STRICT;

CREATE TABLE owned_supply_version (
    pool                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    version                INTEGER NOT NULL,
    chips                  INTEGER NOT NULL CONSTRAINT owned_supply_chips CHECK (chips BETWEEN 0 AND 4294967295),
    written_at             INTEGER NOT NULL,
    effective_cycle        INTEGER,
    superseded_cycle       INTEGER,
    CONSTRAINT owned_supply_version_key PRIMARY KEY (pool, chip_type, version)
) STRICT;

CREATE TABLE team_version (
    id                     TEXT NOT NULL,
    version                INTEGER NOT NULL,
    pool                   TEXT NOT NULL,
    name                   TEXT NOT NULL,
    income                 INTEGER NOT NULL CONSTRAINT team_income CHECK (income BETWEEN 0 AND 9007199254740991),
    leverage_thousandths   INTEGER NOT NULL CONSTRAINT team_leverage CHECK (leverage_thousandths BETWEEN 0 AND 1000000),
    written_at             INTEGER NOT NULL,
    effective_cycle        INTEGER,
    superseded_cycle       INTEGER,
    CONSTRAINT team_version_key PRIMARY KEY (id, version)
) STRICT;

-- A bid's identity: the id its client made, and a short number that the many rows about it carry.
CREATE TABLE bid (
    number                 INTEGER NOT NULL CONSTRAINT bid_number PRIMARY KEY,
    id                     TEXT NOT NULL CONSTRAINT bid_id UNIQUE,
    team                   TEXT NOT NULL,
    -- Of the request that placed it: the same request again is recognised, another one with the same id refused.
    request_sha256         BLOB NOT NULL,
    placed_at              INTEGER NOT NULL
) STRICT;
CREATE INDEX bid_team ON bid (team, number);

CREATE TABLE bid_version (
    bid                    INTEGER NOT NULL CONSTRAINT bid_version_bid REFERENCES bid (number),
    version                INTEGER NOT NULL,
    name                   TEXT NOT NULL,
    note                   TEXT NOT NULL,
    position               INTEGER NOT NULL CONSTRAINT bid_position CHECK (position >= 0),
    -- JSON list of {"chip_type", "chips", "min_chips"}, in order of preference.
    alternatives           TEXT NOT NULL,
    limit_price            INTEGER CONSTRAINT bid_limit_price CHECK (limit_price BETWEEN 0 AND 9007199254740991),
    not_before             INTEGER,
    not_after              INTEGER,
    work_chip_seconds      INTEGER CONSTRAINT bid_work CHECK (work_chip_seconds >= 1),
    -- live | paused | cancelled | served | expired. The last three end the bid: such a version never holds.
    state                  TEXT NOT NULL CONSTRAINT bid_state_known CHECK (state IN ('live', 'paused', 'cancelled', 'served', 'expired')),
    written_at             INTEGER NOT NULL,
    effective_cycle        INTEGER,
    superseded_cycle       INTEGER,
    CONSTRAINT bid_version_key PRIMARY KEY (bid, version)
) STRICT;

CREATE INDEX bid_version_effective ON bid_version (effective_cycle, bid);
CREATE INDEX bid_version_current ON bid_version (bid) WHERE superseded_cycle IS NULL;
CREATE INDEX bid_version_past ON bid_version (superseded_cycle, effective_cycle) WHERE superseded_cycle IS NOT NULL;

-- What cycles decided, run-length encoded: a row holds from its cycle until the next row of the same key.
CREATE TABLE bid_result (
    bid                    INTEGER NOT NULL,
    cycle                  INTEGER NOT NULL,
    chip_type              TEXT,
    chips                  INTEGER NOT NULL,
    opportunistic_type     TEXT,
    opportunistic_chips    INTEGER NOT NULL,
    reason                 TEXT NOT NULL,
    -- Chip-seconds of work done when the cycle began.
    done_chip_seconds      INTEGER NOT NULL,
    CONSTRAINT bid_result_key PRIMARY KEY (bid, cycle)
) STRICT, WITHOUT ROWID;
CREATE INDEX bid_result_by_cycle ON bid_result (cycle);

CREATE TABLE team_quota (
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    cycle                  INTEGER NOT NULL,
    asked                  INTEGER NOT NULL,
    quota                  INTEGER NOT NULL,
    used                   INTEGER NOT NULL,
    opportunistic          INTEGER NOT NULL,
    CONSTRAINT team_quota_key PRIMARY KEY (team, chip_type, cycle)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_quota_by_cycle ON team_quota (cycle);

CREATE TABLE pool_price (
    pool                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    cycle                  INTEGER NOT NULL,
    price                  INTEGER,
    local_price            INTEGER,
    CONSTRAINT pool_price_key PRIMARY KEY (pool, chip_type, cycle)
) STRICT, WITHOUT ROWID;
CREATE INDEX pool_price_by_cycle ON pool_price (cycle);

-- One row for each cycle and chip type.
CREATE TABLE price (
    cycle                  INTEGER NOT NULL,
    chip_type              TEXT NOT NULL,
    reference_price        INTEGER,
    supply                 INTEGER NOT NULL,
    shared                 INTEGER NOT NULL,
    asked                  INTEGER NOT NULL,
    granted                INTEGER NOT NULL,
    paid                   INTEGER NOT NULL,
    opportunistic          INTEGER NOT NULL,
    CONSTRAINT price_key PRIMARY KEY (cycle, chip_type)
) STRICT, WITHOUT ROWID;

-- What teams were granted and used, in pieces no longer than an accounting step.
CREATE TABLE usage (
    starts_at              INTEGER NOT NULL,
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    granted_chip_seconds   INTEGER NOT NULL,
    used_chip_seconds      INTEGER NOT NULL,
    opportunistic_chip_seconds INTEGER NOT NULL,
    cost                   INTEGER NOT NULL,
    CONSTRAINT usage_key PRIMARY KEY (starts_at, team, chip_type)
) STRICT, WITHOUT ROWID;

-- Money. Accounts: of each pool its issuance (minus all that was ever minted), treasury and revenue; of each team one.
CREATE TABLE ledger_account (
    number                 INTEGER NOT NULL CONSTRAINT ledger_account_number PRIMARY KEY,
    kind                   TEXT NOT NULL CONSTRAINT ledger_account_kind CHECK (kind IN ('issuance', 'treasury', 'revenue', 'team')),
    -- The pool whose currency it holds.
    pool                   TEXT NOT NULL,
    -- The team's id for a team's account, else the pool's.
    owner                  TEXT NOT NULL,
    CONSTRAINT ledger_account_owner UNIQUE (kind, owner)
) STRICT;

CREATE TABLE ledger_transfer (
    number                 INTEGER NOT NULL CONSTRAINT ledger_transfer_number PRIMARY KEY,
    kind                   TEXT NOT NULL CONSTRAINT ledger_transfer_kind CHECK (kind IN ('mint', 'income', 'charge', 'rebase', 'correction', 'lapse')),
    -- The cycle from which its entries count.
    cycle                  INTEGER NOT NULL,
    -- The accounting step that booked it; null for what a person booked.
    step                   INTEGER,
    pool                   TEXT NOT NULL,
    reason                 TEXT NOT NULL,
    unique_key             TEXT NOT NULL CONSTRAINT ledger_transfer_key UNIQUE,
    written_at             INTEGER NOT NULL,
    -- Over the hash of the transfer before it and all that this one says.
    sha256                 BLOB NOT NULL
) STRICT;

CREATE TABLE ledger_entry (
    transfer               INTEGER NOT NULL CONSTRAINT ledger_entry_transfer REFERENCES ledger_transfer (number),
    place                  INTEGER NOT NULL,
    account                INTEGER NOT NULL CONSTRAINT ledger_entry_account REFERENCES ledger_account (number),
    cycle                  INTEGER NOT NULL,
    amount                 INTEGER NOT NULL,
    balance_after          INTEGER NOT NULL,
    -- Of a charge: what was used, and of which chip type.
    chip_type              TEXT,
    chip_seconds           INTEGER,
    -- Of an income or a charge: what is left below one micro-credit, in 1/3600 of it, and enters the next step.
    carry                  INTEGER,
    CONSTRAINT ledger_entry_key PRIMARY KEY (transfer, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_entry_by_account ON ledger_entry (account, cycle, transfer, place);
CREATE INDEX ledger_transfer_cycle ON ledger_transfer (cycle, number);
-- A team's use of a chip type is charged once in an accounting step.
CREATE UNIQUE INDEX ledger_entry_charged_once ON ledger_entry (account, chip_type, cycle) WHERE chip_type IS NOT NULL;

-- Roll-ups: hours from cycles and usage pieces, days (UTC) from hours.
CREATE TABLE usage_hour (
    starts_at              INTEGER NOT NULL,
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    granted_chip_seconds   INTEGER NOT NULL,
    used_chip_seconds      INTEGER NOT NULL,
    opportunistic_chip_seconds INTEGER NOT NULL,
    cost                   INTEGER NOT NULL,
    CONSTRAINT usage_hour_key PRIMARY KEY (starts_at, team, chip_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_day (
    starts_at              INTEGER NOT NULL,
    team                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    granted_chip_seconds   INTEGER NOT NULL,
    used_chip_seconds      INTEGER NOT NULL,
    opportunistic_chip_seconds INTEGER NOT NULL,
    cost                   INTEGER NOT NULL,
    CONSTRAINT usage_day_key PRIMARY KEY (starts_at, team, chip_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE price_hour (
    starts_at              INTEGER NOT NULL,
    chip_type              TEXT NOT NULL,
    -- Last cycle that began in it.
    cycle                  INTEGER NOT NULL,
    -- Seconds covered by a cycle, and those of them with a reference price.
    seconds                INTEGER NOT NULL,
    priced_seconds         INTEGER NOT NULL,
    -- Time-weighted average, lowest and highest reference price; null where there was none.
    reference_price        INTEGER,
    low                    INTEGER,
    high                   INTEGER,
    -- Sums over time.
    supply_chip_seconds    INTEGER NOT NULL,
    asked_chip_seconds     INTEGER NOT NULL,
    paid_chip_seconds      INTEGER NOT NULL,
    opportunistic_chip_seconds INTEGER NOT NULL,
    CONSTRAINT price_hour_key PRIMARY KEY (starts_at, chip_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE price_day (
    starts_at              INTEGER NOT NULL,
    chip_type              TEXT NOT NULL,
    cycle                  INTEGER NOT NULL,
    seconds                INTEGER NOT NULL,
    priced_seconds         INTEGER NOT NULL,
    reference_price        INTEGER,
    low                    INTEGER,
    high                   INTEGER,
    supply_chip_seconds    INTEGER NOT NULL,
    asked_chip_seconds     INTEGER NOT NULL,
    paid_chip_seconds      INTEGER NOT NULL,
    opportunistic_chip_seconds INTEGER NOT NULL,
    CONSTRAINT price_day_key PRIMARY KEY (starts_at, chip_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE pool_price_hour (
    starts_at              INTEGER NOT NULL,
    pool                   TEXT NOT NULL,
    chip_type              TEXT NOT NULL,
    priced_seconds         INTEGER NOT NULL,
    local_price            INTEGER NOT NULL,
    CONSTRAINT pool_price_hour_key PRIMARY KEY (starts_at, pool, chip_type)
) STRICT, WITHOUT ROWID;
