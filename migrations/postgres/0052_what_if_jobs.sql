-- A what-if over a day is a job like other long work: a server that starts again goes on with it.

ALTER TABLE job DROP CONSTRAINT job_kind;
ALTER TABLE job ADD CONSTRAINT job_kind CHECK (kind IN ('export', 'reconciliation', 'what_if'));
