//! What the pages of bids get from the server: one function reads the page at an address.

use leptos::prelude::*;
use leptos::server::codee::string::JsonSerdeCodec;
use leptos::server::codee::{Decoder, Encoder};
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use crate::data::PageError;

/// A page of bids as the server wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BidsPage {
    /// What stands in the main element; empty where it stands there already.
    pub(crate) html: String,
}

/// How the result of [`read_bids`] goes along with the page that shows it: without the text, which would come twice.
pub(crate) struct Beside;

impl Encoder<Result<BidsPage, PageError>> for Beside {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(page: &Result<BidsPage, PageError>) -> Result<String, serde_json::Error> {
        JsonSerdeCodec::encode(&page.as_ref().map(|_| BidsPage { html: String::new() }))
    }
}

impl Decoder<Result<BidsPage, PageError>> for Beside {
    type Error = serde_json::Error;
    type Encoded = str;

    fn decode(text: &str) -> Result<Result<BidsPage, PageError>, serde_json::Error> {
        JsonSerdeCodec::decode(text)
    }
}

/// The page at an address of bids.
#[server(name = ReadBids, prefix = "/pages", endpoint = "bids", input = GetUrl)]
pub(crate) async fn read_bids(address: String) -> Result<BidsPage, PageError> {
    let posted = super::read::Posted::from_request();
    let shown = super::read::page(&*crate::data::backend()?, &address, posted).await?;
    Ok(BidsPage { html: super::read::html(shown) })
}
