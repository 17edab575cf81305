-- Questions of the kind "what if", and what came out: kept, so that a link shows the same to everybody.

CREATE TABLE what_if (
    number                 BIGINT NOT NULL CONSTRAINT what_if_number PRIMARY KEY,
    id                     TEXT NOT NULL CONSTRAINT what_if_id UNIQUE,
    -- JSON of the question.
    question               TEXT NOT NULL,
    user_id                TEXT NOT NULL,
    user_name              TEXT NOT NULL,
    asked_at               BIGINT NOT NULL
);

CREATE TABLE what_if_answer (
    what_if                BIGINT NOT NULL CONSTRAINT what_if_answer_key PRIMARY KEY
                           CONSTRAINT what_if_answer_question REFERENCES what_if (number),
    -- JSON of the comparison; null where it was cancelled or failed.
    comparison             TEXT,
    -- Why there is none.
    note                   TEXT,
    answered_at            BIGINT NOT NULL,
    CONSTRAINT what_if_answer_either CHECK ((comparison IS NULL) <> (note IS NULL))
);

CREATE TRIGGER what_if_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON what_if
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER what_if_answer_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON what_if_answer
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
