//! What the pages of bids get from the server: one function reads the page at an address.

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use crate::data::PageError;

/// A page of bids as the server wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BidsPage {
    /// What stands in the main element.
    pub(crate) html: String,
}

/// The page at an address of bids.
#[server(name = ReadBids, prefix = "/pages", endpoint = "bids", input = GetUrl)]
pub(crate) async fn read_bids(address: String) -> Result<BidsPage, PageError> {
    let posted = super::read::Posted::from_request();
    let shown = super::read::page(&*crate::data::backend()?, &address, posted).await?;
    Ok(BidsPage { html: super::read::html(shown) })
}
