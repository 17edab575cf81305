//! The quota marketplace: what the binary is made of.
