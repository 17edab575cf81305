-- Sign-in by an identity provider: answers that were used, so that none is used twice, and what tells the provider at
-- the end who is signing out. Who a person is to the provider stands with the account.

CREATE TABLE spent_sign_in (
    -- SHA-256 of the state that the sign-in was begun with.
    mark                   BLOB NOT NULL CONSTRAINT spent_sign_in_key PRIMARY KEY,
    -- From then on the sign-in is too old to be used anyway, and the row may go.
    ends_at                INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE provider_session (
    session_id             TEXT NOT NULL CONSTRAINT provider_session_key PRIMARY KEY
                           CONSTRAINT provider_session_session REFERENCES session (id) ON DELETE CASCADE,
    id_token               TEXT NOT NULL
) STRICT, WITHOUT ROWID;
