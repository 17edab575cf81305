//! Builds the browser part and checks its size.

fn main() {}
