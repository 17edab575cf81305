-- What a plan says now, replaced with each report and each change. Its versions keep a few figures of what was said: a job
-- that reports every minute would fill the database with forecasts that nobody looks at. Versions from before keep theirs.

CREATE TABLE plan_forecast (
    plan                   BIGINT NOT NULL CONSTRAINT plan_forecast_key PRIMARY KEY
                           CONSTRAINT plan_forecast_plan REFERENCES plan (number),
    -- JSON of the whole forecast.
    forecast               TEXT NOT NULL
);

INSERT INTO plan_forecast (plan, forecast)
    SELECT v.plan, v.forecast FROM plan_version v
    WHERE v.version = (SELECT MAX(m.version) FROM plan_version m WHERE m.plan = v.plan);
