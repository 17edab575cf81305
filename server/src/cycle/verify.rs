//! Proves the history.
