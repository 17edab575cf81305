//! A form that the script of the pages sends (`assets/bids.js`). The WebAssembly never does, so it knows nothing of it.

use common::problem::FieldProblem;
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use serde::{Deserialize, Serialize};

use crate::data::PageError;

/// What became of a form that a script sent. The script of the pages reads it: `assets/bids.js`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sent {
    /// It is done; the address to go on at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
    /// What was done, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<String>,
    /// It is not done: the page with what was typed, and what is wrong or asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) html: Option<String>,
    /// Only a preview was asked for: its panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) preview: Option<String>,
    /// Faults of the fields beside a preview.
    pub(crate) errors: Vec<FieldProblem>,
}

/// Does what a form says that a script sends: what a post without scripts would do.
#[server(name = SendBids, prefix = "/pages", endpoint = "send-bids", input = Json)]
pub(crate) async fn send_bids(address: String, body: String) -> Result<Sent, PageError> {
    Ok(super::read::sent(&*crate::data::backend()?, &address, &body).await?)
}
