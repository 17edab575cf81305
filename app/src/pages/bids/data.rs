//! What the pages of bids get from the server: one function to read the page at an address, and one to send its form.

use common::problem::FieldProblem;
use leptos::prelude::*;
use leptos::server_fn::codec::{GetUrl, Json};
use serde::{Deserialize, Serialize};

use crate::data::PageError;

/// A page of bids as the server wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BidsPage {
    /// What stands in the main element.
    pub(crate) html: String,
}

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

/// The page at an address of bids.
#[server(name = ReadBids, prefix = "/pages", endpoint = "bids", input = GetUrl)]
pub(crate) async fn read_bids(address: String) -> Result<BidsPage, PageError> {
    let posted = super::read::Posted::from_request();
    let shown = super::read::page(&*crate::data::backend()?, &address, posted).await?;
    Ok(BidsPage { html: super::read::html(shown) })
}

/// Does what a form says that a script sends: what a post without scripts would do.
#[server(name = SendBids, prefix = "/pages", endpoint = "send-bids", input = Json)]
pub(crate) async fn send_bids(address: String, body: String) -> Result<Sent, PageError> {
    Ok(super::read::sent(&*crate::data::backend()?, &address, &body).await?)
}
