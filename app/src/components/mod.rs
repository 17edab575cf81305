//! Parts that several pages share.

pub(crate) mod bids;
pub(crate) mod chooser;
pub(crate) mod depth;
pub(crate) mod facts;
pub(crate) mod history;
pub(crate) mod icon;
pub(crate) mod page;
pub(crate) mod pools;
pub(crate) mod problem;
pub(crate) mod proof;
pub mod shell;
pub(crate) mod switch;
pub(crate) mod time;
