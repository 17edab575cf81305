-- Questions of the kind "what if", and what came out: kept, so that a link shows the same to everybody.

CREATE TABLE what_if (
    number                 INTEGER NOT NULL CONSTRAINT what_if_number PRIMARY KEY,
    id                     TEXT NOT NULL CONSTRAINT what_if_id UNIQUE,
    -- JSON of the question.
    question               TEXT NOT NULL,
    user_id                TEXT NOT NULL,
    user_name              TEXT NOT NULL,
    asked_at               INTEGER NOT NULL
) STRICT;

CREATE TABLE what_if_answer (
    what_if                INTEGER NOT NULL CONSTRAINT what_if_answer_key PRIMARY KEY
                           CONSTRAINT what_if_answer_question REFERENCES what_if (number),
    -- JSON of the comparison; null where it was cancelled or failed.
    comparison             TEXT,
    -- Why there is none.
    note                   TEXT,
    answered_at            INTEGER NOT NULL,
    CONSTRAINT what_if_answer_either CHECK ((comparison IS NULL) <> (note IS NULL))
) STRICT;

CREATE TRIGGER what_if_keeps_values BEFORE UPDATE ON what_if
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of what_if refused'); END;
CREATE TRIGGER what_if_stays BEFORE DELETE ON what_if
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of what_if refused'); END;
CREATE TRIGGER what_if_answer_keeps_values BEFORE UPDATE ON what_if_answer
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of what_if_answer refused'); END;
CREATE TRIGGER what_if_answer_stays BEFORE DELETE ON what_if_answer
BEGIN SELECT RAISE(ABORT, 'history is append-only: delete of what_if_answer refused'); END;
