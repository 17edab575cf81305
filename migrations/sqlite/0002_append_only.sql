-- History is never changed: a version may be stamped once, everything else is refused.

CREATE TRIGGER organisation_version_keeps_values BEFORE UPDATE OF version, name, data_note, time_zone, cycle_seconds, accounting_seconds,
    sustain_minutes, rebase_balances, raw_retention_days, written_at ON organisation_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of organisation_version refused'); END;
CREATE TRIGGER organisation_version_stamped_once BEFORE UPDATE OF effective_cycle ON organisation_version WHEN OLD.effective_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of organisation_version refused'); END;
CREATE TRIGGER organisation_version_superseded_once BEFORE UPDATE OF superseded_cycle ON organisation_version WHEN OLD.superseded_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of organisation_version refused'); END;
CREATE TRIGGER organisation_version_stays BEFORE DELETE ON organisation_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of organisation_version refused'); END;

CREATE TRIGGER chip_type_version_keeps_values BEFORE UPDATE OF id, version, name, shared, reserve_price, written_at ON chip_type_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of chip_type_version refused'); END;
CREATE TRIGGER chip_type_version_stamped_once BEFORE UPDATE OF effective_cycle ON chip_type_version WHEN OLD.effective_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of chip_type_version refused'); END;
CREATE TRIGGER chip_type_version_superseded_once BEFORE UPDATE OF superseded_cycle ON chip_type_version WHEN OLD.superseded_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of chip_type_version refused'); END;
CREATE TRIGGER chip_type_version_stays BEFORE DELETE ON chip_type_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of chip_type_version refused'); END;

CREATE TRIGGER pool_version_keeps_values BEFORE UPDATE OF id, version, name, weight, lends_at_most, written_at ON pool_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of pool_version refused'); END;
CREATE TRIGGER pool_version_stamped_once BEFORE UPDATE OF effective_cycle ON pool_version WHEN OLD.effective_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of pool_version refused'); END;
CREATE TRIGGER pool_version_superseded_once BEFORE UPDATE OF superseded_cycle ON pool_version WHEN OLD.superseded_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of pool_version refused'); END;
CREATE TRIGGER pool_version_stays BEFORE DELETE ON pool_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of pool_version refused'); END;

CREATE TRIGGER owned_supply_version_keeps_values BEFORE UPDATE OF pool, chip_type, version, chips, written_at ON owned_supply_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of owned_supply_version refused'); END;
CREATE TRIGGER owned_supply_version_stamped_once BEFORE UPDATE OF effective_cycle ON owned_supply_version WHEN OLD.effective_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of owned_supply_version refused'); END;
CREATE TRIGGER owned_supply_version_superseded_once BEFORE UPDATE OF superseded_cycle ON owned_supply_version WHEN OLD.superseded_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of owned_supply_version refused'); END;
CREATE TRIGGER owned_supply_version_stays BEFORE DELETE ON owned_supply_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of owned_supply_version refused'); END;

CREATE TRIGGER team_version_keeps_values BEFORE UPDATE OF id, version, pool, name, income, leverage_thousandths, written_at ON team_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of team_version refused'); END;
CREATE TRIGGER team_version_stamped_once BEFORE UPDATE OF effective_cycle ON team_version WHEN OLD.effective_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of team_version refused'); END;
CREATE TRIGGER team_version_superseded_once BEFORE UPDATE OF superseded_cycle ON team_version WHEN OLD.superseded_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of team_version refused'); END;
CREATE TRIGGER team_version_stays BEFORE DELETE ON team_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of team_version refused'); END;

CREATE TRIGGER bid_version_keeps_values BEFORE UPDATE OF bid, version, name, note, position, alternatives,
    limit_price, not_before, not_after, work_chip_seconds, state, written_at ON bid_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of bid_version refused'); END;
CREATE TRIGGER bid_version_stamped_once BEFORE UPDATE OF effective_cycle ON bid_version WHEN OLD.effective_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of bid_version refused'); END;
CREATE TRIGGER bid_version_superseded_once BEFORE UPDATE OF superseded_cycle ON bid_version WHEN OLD.superseded_cycle IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of bid_version refused'); END;
CREATE TRIGGER bid_version_stays BEFORE DELETE ON bid_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of bid_version refused'); END;

CREATE TRIGGER cycle_keeps_values BEFORE UPDATE ON cycle
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of cycle refused'); END;
CREATE TRIGGER cycle_stays BEFORE DELETE ON cycle
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of cycle refused'); END;

CREATE TRIGGER bid_keeps_values BEFORE UPDATE ON bid
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of bid refused'); END;
CREATE TRIGGER bid_stays BEFORE DELETE ON bid
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of bid refused'); END;

CREATE TRIGGER ledger_account_keeps_values BEFORE UPDATE ON ledger_account
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of ledger_account refused'); END;
CREATE TRIGGER ledger_account_stays BEFORE DELETE ON ledger_account
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of ledger_account refused'); END;

CREATE TRIGGER ledger_transfer_keeps_values BEFORE UPDATE ON ledger_transfer
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of ledger_transfer refused'); END;
CREATE TRIGGER ledger_transfer_stays BEFORE DELETE ON ledger_transfer
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of ledger_transfer refused'); END;

CREATE TRIGGER ledger_entry_keeps_values BEFORE UPDATE ON ledger_entry
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of ledger_entry refused'); END;
CREATE TRIGGER ledger_entry_stays BEFORE DELETE ON ledger_entry
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of ledger_entry refused'); END;
