//! Predictors of the data that is left, from LARA's line to the flow.

pub mod kalman;
pub mod least_squares;
