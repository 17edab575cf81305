-- A cap on balances, in hours of a team's income; null is none. What exceeds it at an accounting step lapses.

ALTER TABLE organisation_version ADD COLUMN balance_cap_hours INTEGER
    CONSTRAINT organisation_balance_cap_hours CHECK (balance_cap_hours BETWEEN 1 AND 100000);

DROP TRIGGER organisation_version_keeps_values;
CREATE TRIGGER organisation_version_keeps_values BEFORE UPDATE OF version, name, data_note, time_zone, cycle_seconds, accounting_seconds,
    sustain_minutes, rebase_balances, raw_retention_days, balance_cap_hours, written_at ON organisation_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of organisation_version refused'); END;

-- The result of a paused bid used to say that it was outside its window.
UPDATE bid_result SET reason = 'paused' WHERE reason = 'not_in_window' AND EXISTS (SELECT 1 FROM bid_version v
    WHERE v.bid = bid_result.bid AND v.state = 'paused' AND v.effective_cycle <= bid_result.cycle
    AND (v.superseded_cycle IS NULL OR v.superseded_cycle > bid_result.cycle));
