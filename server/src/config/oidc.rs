//! `[oidc]`: sign-in by the organisation's own identity provider (OpenID Connect).

use super::{Key, Secret};
use crate::error::AppError;
use crate::oidc::{Admission, GroupMap, Registration};

/// The identity provider, what this server is to it, and what its groups are here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OidcConfig {
    /// What the provider is called on the sign-in page.
    pub name: String,
    /// The provider's issuer; empty without single sign-on.
    pub issuer: String,
    /// The id that the provider gave to this server.
    pub client_id: String,
    /// The secret that goes with it.
    pub client_secret: Secret,
    /// A file that holds the secret instead.
    pub client_secret_file: String,
    /// Scopes that are asked for, between spaces.
    pub scopes: String,
    /// The claim that holds a person's name.
    pub name_claim: String,
    /// The claim that holds a person's groups.
    pub groups_claim: String,
    /// What groups are here.
    pub groups: GroupMap,
    /// Everybody whom the provider knows gets an account.
    pub admit_everyone: bool,
}

impl OidcConfig {
    pub(super) fn unset() -> Self {
        Self {
            name: String::new(),
            issuer: String::new(),
            client_id: String::new(),
            client_secret: Secret::default(),
            client_secret_file: String::new(),
            scopes: String::new(),
            name_claim: String::new(),
            groups_claim: String::new(),
            groups: GroupMap::default(),
            admit_everyone: false,
        }
    }

    /// What the settings say together; none without single sign-on. `public_url` is where browsers find this server.
    ///
    /// # Errors
    /// `Config`: some of the settings are missing, contradict each other, or the file of the secret can't be read.
    pub fn registration(&self, public_url: &str) -> Result<Option<Registration>, AppError> {
        if self.issuer.is_empty() {
            let set = [
                ("oidc.client_id", !self.client_id.is_empty()),
                ("oidc.client_secret", !self.client_secret.reveal().is_empty()),
                ("oidc.client_secret_file", !self.client_secret_file.is_empty()),
                ("oidc.groups", !self.groups.is_empty()),
                ("oidc.admit_everyone", self.admit_everyone),
            ];
            return match set.iter().find(|(_, is_set)| *is_set) {
                Some((key, _)) => {
                    Err(half_set(&format!("{key} is set and oidc.issuer is not; set both or none")))
                }
                None => Ok(None),
            };
        }
        if self.client_id.is_empty() {
            return Err(half_set("oidc.issuer is set and oidc.client_id is not; set both or none"));
        }
        if public_url.is_empty() {
            return Err(half_set(
                "oidc.issuer is set and server.public_url is not; the provider sends browsers back there",
            ));
        }
        let public_url = public_url.trim_end_matches('/');
        Ok(Some(Registration {
            name: self.name.clone(),
            issuer: self.issuer.clone(),
            client_id: self.client_id.clone(),
            client_secret: self.secret()?,
            scopes: self.scopes.clone(),
            redirect_url: format!("{public_url}/sign-in/oidc/callback"),
            signed_out_url: format!("{public_url}/sign-in"),
            name_claim: self.name_claim.clone(),
            admission: self.admission()?,
        }))
    }

    fn secret(&self) -> Result<Secret, AppError> {
        match (self.client_secret.reveal(), self.client_secret_file.as_str()) {
            ("", "") => Err(half_set(
                "oidc.issuer is set and the client's secret is not; set oidc.client_secret_file or \
                 oidc.client_secret",
            )),
            (_, "") => Ok(self.client_secret.clone()),
            ("", file) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    half_set(&format!("the file of oidc.client_secret_file, {file}, can't be read: {error}"))
                })?;
                match text.trim() {
                    "" => Err(half_set(&format!("the file of oidc.client_secret_file, {file}, is empty"))),
                    secret => Ok(Secret::new(secret.to_owned())),
                }
            }
            _ => Err(half_set("oidc.client_secret and oidc.client_secret_file are both set; keep one")),
        }
    }

    fn admission(&self) -> Result<Admission, AppError> {
        match (self.groups.is_empty(), self.admit_everyone) {
            (true, false) => Ok(Admission::LinkedOnly),
            (true, true) => Ok(Admission::Everyone),
            (false, false) => {
                Ok(Admission::Mapped { claim: self.groups_claim.clone(), map: self.groups.clone() })
            }
            (false, true) => Err(half_set(
                "oidc.groups and oidc.admit_everyone are both set: the first admits members of mapped groups \
                 only; keep one",
            )),
        }
    }
}

fn half_set(message: &str) -> AppError {
    AppError::config(format!("single sign-on can't be used: {message}"))
}

/// An address with TLS, or one of this machine, as a test has.
fn is_issuer(text: &str) -> bool {
    let Ok(address) = text.parse::<axum::http::Uri>() else { return false };
    let is_safe = crate::oidc::is_safe_address(text);
    is_safe && address.query().is_none() && !text.contains('#')
}

/// A text without control characters, kept where it is not empty.
fn filled(target: &mut String, text: &str) -> Result<(), ()> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(());
    }
    text.clone_into(target);
    Ok(())
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "oidc.issuer",
        default: "",
        allowed: "an https:// address without ? or #, exactly as the provider states it; empty: no single sign-on",
        meaning: "Identity provider by which people sign in (OpenID Connect, authorisation code with PKCE). Register \
                  this server there as a confidential web client with the redirect address \
                  PUBLIC_URL/sign-in/oidc/callback and, for signing out, PUBLIC_URL/sign-in, where PUBLIC_URL is \
                  server.public_url.",
        set: |config, text| {
            if !text.is_empty() && !is_issuer(text) {
                return Err(());
            }
            text.clone_into(&mut config.oidc.issuer);
            Ok(())
        },
    },
    Key {
        name: "oidc.name",
        default: "single sign-on",
        allowed: "a text",
        meaning: "What the provider is called on the sign-in page: \"Sign in with …\".",
        set: |config, text| filled(&mut config.oidc.name, text),
    },
    Key {
        name: "oidc.client_id",
        default: "",
        allowed: "a text",
        meaning: "The id that the provider gave to this server.",
        set: |config, text| {
            text.trim().clone_into(&mut config.oidc.client_id);
            Ok(())
        },
    },
    Key {
        name: "oidc.client_secret_file",
        default: "",
        allowed: "a file's path",
        meaning: "A file that holds the client's secret, readable by this server alone.",
        set: |config, text| {
            text.clone_into(&mut config.oidc.client_secret_file);
            Ok(())
        },
    },
    Key {
        name: "oidc.client_secret",
        default: "",
        allowed: "a text",
        meaning: "The client's secret itself, where it comes by the environment. It is never logged.",
        set: |config, text| {
            config.oidc.client_secret = Secret::new(text.to_owned());
            Ok(())
        },
    },
    Key {
        name: "oidc.scopes",
        default: "openid profile",
        allowed: "scopes between spaces, openid among them",
        meaning: "What is asked of the provider. Many give groups only for a scope of their own, such as groups.",
        set: |config, text| {
            if !text.split_whitespace().any(|scope| scope == "openid") {
                return Err(());
            }
            config.oidc.scopes = text.split_whitespace().collect::<Vec<_>>().join(" ");
            Ok(())
        },
    },
    Key {
        name: "oidc.name_claim",
        default: "name",
        allowed: "a claim's name, or a path of names between points",
        meaning: "The claim that holds a person's name, taken over at each sign-in.",
        set: |config, text| filled(&mut config.oidc.name_claim, text),
    },
    Key {
        name: "oidc.groups_claim",
        default: "groups",
        allowed: "a claim's name, or a path of names between points, such as realm_access.roles",
        meaning: "The claim that holds a person's groups: a list of texts, or one text. It is read from the id token, \
                  or else from the provider's userinfo.",
        set: |config, text| filled(&mut config.oidc.groups_claim, text),
    },
    Key {
        name: "oidc.groups",
        default: "",
        allowed: "rules in lines or between semicolons, each GROUP -> role:ROLE (admin, finance or auditor), \
                  GROUP -> team:TEAM, GROUP -> lead:TEAM or GROUP -> pool:POOL",
        meaning: "What groups of the provider are here. With rules, a person's roles, teams and pools are set from \
                  the groups at each sign-in, what is given here by hand is replaced, and whoever has no mapped \
                  group may not sign in by the provider. Example: quota-admins -> role:admin; ml-vision -> \
                  team:vision; ml-vision-leads -> lead:vision",
        set: |config, text| text.parse().map(|map| config.oidc.groups = map),
    },
    Key {
        name: "oidc.admit_everyone",
        default: "false",
        allowed: "true or false",
        meaning: "Without rules for groups: whether everybody whom the provider knows gets an account, at first \
                  without any role or team. If false, those may sign in by the provider who have an account here \
                  and have linked it. Never set it with a provider that is open to the world.",
        set: |config, text| text.parse().map(|admit| config.oidc.admit_everyone = admit).map_err(|_| ()),
    },
];

#[cfg(test)]
mod tests {
    use super::super::{Config, Sources};
    use super::*;

    const PUBLIC: &str = "https://quota.example/";

    fn config(settings: &[(&'static str, &str)]) -> OidcConfig {
        let flags =
            settings.iter().map(|(key, value)| ("--set", (*key).to_owned(), (*value).to_owned())).collect();
        Config::load(&Sources { flags, ..Sources::default() }).expect("settings").oidc
    }

    const COMPLETE: [(&str, &str); 3] =
        [("oidc.issuer", "https://id.example"), ("oidc.client_id", "quota"), ("oidc.client_secret", "hush")];

    #[test]
    fn without_an_issuer_there_is_no_single_sign_on() {
        assert_eq!(config(&[]).registration("").expect("nothing is wrong"), None);
    }

    #[test]
    fn half_of_the_settings_is_refused_by_name() {
        for (settings, public_url, names) in [
            (&COMPLETE[..1], PUBLIC, "oidc.client_id"),
            (&COMPLETE[..2], PUBLIC, "oidc.client_secret_file"),
            (&COMPLETE[1..], PUBLIC, "oidc.issuer"),
            (&COMPLETE[..], "", "server.public_url"),
            (&[("oidc.groups", "a -> role:admin")], PUBLIC, "oidc.groups is set"),
            (&[("oidc.admit_everyone", "true")], PUBLIC, "oidc.admit_everyone is set"),
        ] {
            let error = config(settings).registration(public_url).expect_err(names);
            assert!(error.message().contains(names), "{error}");
            assert_eq!(error.exit_code(), 78);
        }
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        for more in [
            vec![("oidc.client_secret_file", "/nowhere")],
            vec![("oidc.groups", "a -> role:admin"), ("oidc.admit_everyone", "true")],
        ] {
            let settings = [&COMPLETE[..], &more].concat();
            let error = config(&settings).registration(PUBLIC).expect_err("a contradiction");
            assert!(error.message().contains("keep one"), "{error}");
        }
    }

    #[test]
    fn the_secret_is_read_from_its_file_and_never_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        let settings =
            [COMPLETE[0], COMPLETE[1], ("oidc.client_secret_file", path.to_str().expect("a path"))];
        let error = config(&settings).registration(PUBLIC).expect_err("no file");
        assert!(error.message().contains("can't be read"), "{error}");
        std::fs::write(&path, "hush\n").expect("a file");
        let registration = config(&settings).registration(PUBLIC).expect("settings").expect("single sign-on");
        assert_eq!(registration.client_secret.reveal(), "hush");
        assert!(!format!("{registration:?}").contains("hush"));
        assert_eq!(registration.redirect_url, "https://quota.example/sign-in/oidc/callback");
        assert_eq!(registration.admission, Admission::LinkedOnly);
    }

    #[test]
    fn an_issuer_is_reached_by_tls_or_on_this_machine() {
        for (issuer, is_allowed) in [
            ("https://id.example/realms/a", true),
            ("http://localhost:7950", true),
            ("http://127.0.0.1:7950", true),
            ("http://[::1]:7950", true),
            ("http://id.example", false),
            ("http://localhost.example", false),
            ("https://id.example?x=1", false),
            ("https://id.example#x", false),
            ("id.example", false),
            ("file:///etc/passwd", false),
        ] {
            let flags = vec![("--set", "oidc.issuer".to_owned(), issuer.to_owned())];
            let loaded = Config::load(&Sources { flags, ..Sources::default() });
            assert_eq!(loaded.is_ok(), is_allowed, "{issuer}");
        }
    }
}
