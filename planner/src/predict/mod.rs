//! Predictors of the data that a job still needs.
