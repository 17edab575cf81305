-- A share of a pool's allowance that was reached: once for each period, allowance and share, as for teams.

CREATE TABLE pool_allowance_alert (
    pool                   TEXT NOT NULL,
    period_starts_at       BIGINT NOT NULL,
    amount                 BIGINT NOT NULL,
    percent                BIGINT NOT NULL CONSTRAINT pool_allowance_alert_percent CHECK (percent IN (50, 75, 90, 100)),
    spent                  BIGINT NOT NULL,
    cycle                  BIGINT NOT NULL,
    fired_at               BIGINT NOT NULL,
    CONSTRAINT pool_allowance_alert_key PRIMARY KEY (pool, period_starts_at, amount, percent)
);

CREATE TRIGGER pool_allowance_alert_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON pool_allowance_alert
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
