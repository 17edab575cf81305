//! Sharing out nodes, tick by tick, among jobs that want to reach a loss before a deadline.
