-- History is never changed: a version may be stamped once, everything else is refused.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'history is append-only: % of % refused', lower(TG_OP), TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER organisation_version_keeps_values BEFORE UPDATE OF version, name, data_note, time_zone, cycle_seconds, accounting_seconds,
    sustain_minutes, rebase_balances, raw_retention_days, written_at ON organisation_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER organisation_version_stamped_once BEFORE UPDATE OF effective_cycle ON organisation_version
    FOR EACH ROW WHEN (OLD.effective_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER organisation_version_superseded_once BEFORE UPDATE OF superseded_cycle ON organisation_version
    FOR EACH ROW WHEN (OLD.superseded_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER organisation_version_stays BEFORE DELETE OR TRUNCATE ON organisation_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER chip_type_version_keeps_values BEFORE UPDATE OF id, version, name, shared, reserve_price, written_at ON chip_type_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER chip_type_version_stamped_once BEFORE UPDATE OF effective_cycle ON chip_type_version
    FOR EACH ROW WHEN (OLD.effective_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER chip_type_version_superseded_once BEFORE UPDATE OF superseded_cycle ON chip_type_version
    FOR EACH ROW WHEN (OLD.superseded_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER chip_type_version_stays BEFORE DELETE OR TRUNCATE ON chip_type_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER pool_version_keeps_values BEFORE UPDATE OF id, version, name, weight, lends_at_most, written_at ON pool_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER pool_version_stamped_once BEFORE UPDATE OF effective_cycle ON pool_version
    FOR EACH ROW WHEN (OLD.effective_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER pool_version_superseded_once BEFORE UPDATE OF superseded_cycle ON pool_version
    FOR EACH ROW WHEN (OLD.superseded_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER pool_version_stays BEFORE DELETE OR TRUNCATE ON pool_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER owned_supply_version_keeps_values BEFORE UPDATE OF pool, chip_type, version, chips, written_at ON owned_supply_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER owned_supply_version_stamped_once BEFORE UPDATE OF effective_cycle ON owned_supply_version
    FOR EACH ROW WHEN (OLD.effective_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER owned_supply_version_superseded_once BEFORE UPDATE OF superseded_cycle ON owned_supply_version
    FOR EACH ROW WHEN (OLD.superseded_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER owned_supply_version_stays BEFORE DELETE OR TRUNCATE ON owned_supply_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER team_version_keeps_values BEFORE UPDATE OF id, version, pool, name, income, leverage_thousandths, written_at ON team_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER team_version_stamped_once BEFORE UPDATE OF effective_cycle ON team_version
    FOR EACH ROW WHEN (OLD.effective_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER team_version_superseded_once BEFORE UPDATE OF superseded_cycle ON team_version
    FOR EACH ROW WHEN (OLD.superseded_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER team_version_stays BEFORE DELETE OR TRUNCATE ON team_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER bid_version_keeps_values BEFORE UPDATE OF bid, version, name, note, position, alternatives,
    limit_price, not_before, not_after, work_chip_seconds, state, written_at ON bid_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER bid_version_stamped_once BEFORE UPDATE OF effective_cycle ON bid_version
    FOR EACH ROW WHEN (OLD.effective_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER bid_version_superseded_once BEFORE UPDATE OF superseded_cycle ON bid_version
    FOR EACH ROW WHEN (OLD.superseded_cycle IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER bid_version_stays BEFORE DELETE OR TRUNCATE ON bid_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER cycle_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON cycle
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER bid_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON bid
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER ledger_account_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_account
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER ledger_transfer_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transfer
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER ledger_entry_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
