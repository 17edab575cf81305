-- A share of a pool's allowance that was reached: once for each period, allowance and share, as for teams.

CREATE TABLE pool_allowance_alert (
    pool                   TEXT NOT NULL,
    period_starts_at       INTEGER NOT NULL,
    amount                 INTEGER NOT NULL,
    percent                INTEGER NOT NULL CONSTRAINT pool_allowance_alert_percent CHECK (percent IN (50, 75, 90, 100)),
    spent                  INTEGER NOT NULL,
    cycle                  INTEGER NOT NULL,
    fired_at               INTEGER NOT NULL,
    CONSTRAINT pool_allowance_alert_key PRIMARY KEY (pool, period_starts_at, amount, percent)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER pool_allowance_alert_keeps_values BEFORE UPDATE ON pool_allowance_alert
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of pool_allowance_alert refused'); END;
CREATE TRIGGER pool_allowance_alert_stays BEFORE DELETE ON pool_allowance_alert
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of pool_allowance_alert refused'); END;
