-- People: accounts, what they are to the organisation, and how they are recognised. Rows change; what an admin changes
-- is told by the audit log. Secrets are kept as hashes only.

CREATE TABLE user_account (
    id                     TEXT NOT NULL CONSTRAINT user_account_key PRIMARY KEY,
    -- Name or e-mail to sign in with, in lower case; null for those who come from a provider only.
    login                  TEXT CONSTRAINT user_account_login UNIQUE,
    name                   TEXT NOT NULL,
    -- argon2id, as a PHC string; null without a password.
    password_hash          TEXT,
    -- Who the person is to an OpenID provider.
    issuer                 TEXT,
    subject                TEXT,
    made_at                INTEGER NOT NULL,
    disabled_at            INTEGER,
    CONSTRAINT user_account_subject UNIQUE (issuer, subject),
    CONSTRAINT user_account_provider CHECK ((issuer IS NULL) = (subject IS NULL))
) STRICT;

CREATE TABLE user_role (
    user_id                TEXT NOT NULL CONSTRAINT user_role_user REFERENCES user_account (id),
    role                   TEXT NOT NULL CONSTRAINT user_role_known CHECK (role IN ('admin', 'finance', 'auditor')),
    CONSTRAINT user_role_key PRIMARY KEY (user_id, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE team_member (
    user_id                TEXT NOT NULL CONSTRAINT team_member_user REFERENCES user_account (id),
    team                   TEXT NOT NULL,
    leads                  INTEGER NOT NULL CONSTRAINT team_member_leads CHECK (leads IN (0, 1)),
    CONSTRAINT team_member_key PRIMARY KEY (user_id, team)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_member_by_team ON team_member (team, user_id);

CREATE TABLE pool_admin (
    user_id                TEXT NOT NULL CONSTRAINT pool_admin_user REFERENCES user_account (id),
    pool                   TEXT NOT NULL,
    CONSTRAINT pool_admin_key PRIMARY KEY (user_id, pool)
) STRICT, WITHOUT ROWID;

-- A sign-in on one device.
CREATE TABLE session (
    id                     TEXT NOT NULL CONSTRAINT session_key PRIMARY KEY,
    user_id                TEXT NOT NULL CONSTRAINT session_of_user REFERENCES user_account (id),
    made_at                INTEGER NOT NULL,
    last_used_at           INTEGER NOT NULL,
    ends_at                INTEGER NOT NULL,
    ended_at               INTEGER,
    user_agent             TEXT NOT NULL,
    address                TEXT NOT NULL
) STRICT;
CREATE INDEX session_by_user ON session (user_id);
CREATE INDEX session_by_end ON session (ended_at) WHERE ended_at IS NOT NULL;

-- Each token of a session is used once and replaced. One that comes again after that was stolen: the session ends.
CREATE TABLE refresh_token (
    sha256                 BLOB NOT NULL CONSTRAINT refresh_token_key PRIMARY KEY,
    session_id             TEXT NOT NULL CONSTRAINT refresh_token_session REFERENCES session (id),
    made_at                INTEGER NOT NULL,
    replaced_at            INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_token_by_session ON refresh_token (session_id);

-- A link that lets whoever has it choose a password, once.
CREATE TABLE one_time_link (
    sha256                 BLOB NOT NULL CONSTRAINT one_time_link_key PRIMARY KEY,
    -- Whose password; null makes a new account, an admin's.
    user_id                TEXT CONSTRAINT one_time_link_user REFERENCES user_account (id),
    made_at                INTEGER NOT NULL,
    ends_at                INTEGER NOT NULL,
    used_at                INTEGER
) STRICT, WITHOUT ROWID;

-- A token for programs.
CREATE TABLE api_token (
    id                     TEXT NOT NULL CONSTRAINT api_token_key PRIMARY KEY,
    user_id                TEXT NOT NULL CONSTRAINT api_token_user REFERENCES user_account (id),
    name                   TEXT NOT NULL,
    sha256                 BLOB NOT NULL CONSTRAINT api_token_sha256 UNIQUE,
    -- Names of scopes with a space between.
    scopes                 TEXT NOT NULL,
    made_at                INTEGER NOT NULL,
    ends_at                INTEGER NOT NULL,
    last_used_at           INTEGER,
    revoked_at             INTEGER
) STRICT;
CREATE INDEX api_token_by_user ON api_token (user_id);

-- What the server made for itself at its first start, such as the key that signs access cookies.
CREATE TABLE server_secret (
    name                   TEXT NOT NULL CONSTRAINT server_secret_key PRIMARY KEY,
    value                  BLOB NOT NULL
) STRICT;
