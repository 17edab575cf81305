//! What can go wrong while somebody signs in by the provider, and what is said about it: words for the person, and for
//! the log the cause that is not theirs to read.

use crate::error::{AppError, ErrorKind};

/// A sign-in by the provider that did not come to its end. The texts inside are causes, for the log alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The provider can't be reached, or answers with an error of its own.
    ProviderDown(String),
    /// What the provider says of itself can't be used, or it does not accept this server.
    Misconfigured(String),
    /// The person said no at the provider, or the provider did.
    Denied(String),
    /// The provider reported another error.
    Refused(String),
    /// The browser brought no sign-in that was begun here lately.
    NotBegun,
    /// It took longer than a sign-in may.
    TooLate,
    /// The answer belongs to another sign-in than the one begun in this browser.
    WrongState,
    /// The answer has been used.
    UsedBefore,
    /// The answer comes from another issuer.
    WrongIssuer(String),
    /// The id token is for another client.
    WrongAudience(String),
    /// The id token belongs to another sign-in.
    WrongNonce,
    /// The id token is from the past or the future by more than clocks may differ.
    WrongTime(String),
    /// The id token is not signed as it must be.
    WrongSignature(String),
    /// The id token or userinfo lacks what must be in it, or is malformed.
    Malformed(String),
    /// The provider did not say the person's groups.
    NoGroups(String),
    /// None of the person's groups means anything here.
    NoMappedGroup,
    /// The person has no account here, and none is made.
    NoAccount,
    /// The account here is closed.
    Disabled,
    /// An account was being linked, and its owner is not signed in any more.
    NotOwner,
    /// The person at the provider is linked to another account.
    LinkedElsewhere,
}

impl Fault {
    /// The kind, the words, and the cause of the fault. `provider` is what the provider is called here.
    fn row(self, provider: &str) -> (ErrorKind, String, Option<String>) {
        use ErrorKind::{Conflict, Forbidden, MalformedInput, Unavailable};
        let log = "the server's log says why";
        match self {
            Self::ProviderDown(cause) => (
                Unavailable,
                format!("{provider} does not answer as it should; try again in a few minutes"),
                Some(cause),
            ),
            Self::Misconfigured(cause) => (
                Unavailable,
                format!("{provider} and this server do not agree on how to sign in; tell an admin: {log}"),
                Some(cause),
            ),
            Self::Denied(cause) => {
                (Forbidden, format!("the sign-in was cancelled or refused at {provider}"), Some(cause))
            }
            Self::Refused(cause) => {
                (Unavailable, format!("{provider} could not sign you in; begin again, or tell an admin: {log}"), Some(cause))
            }
            Self::NotBegun => (
                MalformedInput,
                "this sign-in was not begun in this browser, or longer than 10 minutes ago; begin again".to_owned(),
                None,
            ),
            Self::TooLate => {
                (MalformedInput, "this sign-in took longer than 10 minutes; begin again".to_owned(), None)
            }
            Self::WrongState => (
                MalformedInput,
                "this answer belongs to another sign-in, perhaps one begun in another tab; begin again".to_owned(),
                None,
            ),
            Self::UsedBefore => {
                (MalformedInput, "this sign-in was used already; begin again".to_owned(), None)
            }
            Self::WrongIssuer(cause) => (
                MalformedInput,
                format!("the answer does not come from {provider}, as this server knows it; tell an admin: {log}"),
                Some(cause),
            ),
            Self::WrongAudience(cause) => (
                MalformedInput,
                format!("{provider} answered for another application; tell an admin: {log}"),
                Some(cause),
            ),
            Self::WrongNonce => (
                MalformedInput,
                format!("the answer of {provider} belongs to another sign-in; begin again"),
                None,
            ),
            Self::WrongTime(cause) => (
                MalformedInput,
                format!("the clocks of {provider} and of this server differ too much; tell an admin: {log}"),
                Some(cause),
            ),
            Self::WrongSignature(cause) => (
                MalformedInput,
                format!("the answer of {provider} is not signed as it must be; tell an admin: {log}"),
                Some(cause),
            ),
            Self::Malformed(cause) => (
                MalformedInput,
                format!("the answer of {provider} can't be read; tell an admin: {log}"),
                Some(cause),
            ),
            Self::NoGroups(cause) => (
                Forbidden,
                format!("{provider} did not say which groups you are in, and this market needs them; tell an admin: {log}"),
                Some(cause),
            ),
            Self::NoMappedGroup => (
                Forbidden,
                "none of your groups has a role or a team in this market; ask an admin for one, then sign in again"
                    .to_owned(),
                None,
            ),
            Self::NoAccount => (
                Forbidden,
                format!(
                    "there is no account for you yet; ask an admin for one, sign in with its password and link \
                     {provider} on your account page"
                ),
                None,
            ),
            Self::Disabled => {
                (Forbidden, "your account is closed; ask an admin to open it again".to_owned(), None)
            }
            Self::NotOwner => (
                Forbidden,
                "an account is linked by its owner, who is not signed in any more; sign in and begin again".to_owned(),
                None,
            ),
            Self::LinkedElsewhere => (
                Conflict,
                format!("this person at {provider} is linked to another account already; sign in with {provider} to use that one"),
                None,
            ),
        }
    }

    /// The fault as whoever asked sees it; the cause stays in the private context.
    #[must_use]
    pub fn into_error(self, provider: &str) -> AppError {
        let (kind, words, cause) = self.row(provider);
        let error = AppError::new(kind, words);
        match cause {
            Some(cause) => error.with_context(cause),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_stay_out_of_the_words() {
        let cause = || "token=secret".to_owned();
        for fault in [
            Fault::ProviderDown(cause()),
            Fault::Misconfigured(cause()),
            Fault::Denied(cause()),
            Fault::Refused(cause()),
            Fault::WrongIssuer(cause()),
            Fault::WrongAudience(cause()),
            Fault::WrongTime(cause()),
            Fault::WrongSignature(cause()),
            Fault::Malformed(cause()),
            Fault::NoGroups(cause()),
        ] {
            let error = fault.into_error("Example ID");
            assert!(!error.message().contains("secret"), "{error}");
            assert_eq!(error.private_context(), "token=secret");
        }
    }
}
