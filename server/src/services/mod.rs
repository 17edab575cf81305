//! What the product does, one file per noun. The REST API, the pages and the commands call these.

pub mod live;
