//! Money as finance looks at it: spend by days and months, closed months with their statements, bookings and decisions.

pub(crate) mod bookings;
pub(crate) mod close;
pub(crate) mod rates;
pub(crate) mod spend;
pub(crate) mod statements;
