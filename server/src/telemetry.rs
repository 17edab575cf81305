//! What is measured: the names of all metrics and the recorder that keeps them. Base units, `_total` on counters.

use std::sync::OnceLock;

use metrics::Unit;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Requests answered, by method, route and status.
pub(crate) const REQUESTS: &str = "http_requests_total";
/// Time to the head of the answer, by method and route.
pub(crate) const REQUEST_SECONDS: &str = "http_request_duration_seconds";
/// Server-event streams open now.
pub(crate) const OPEN_STREAMS: &str = "quota_marketplace_event_streams_open";
/// Events sent to streams, by kind.
pub(crate) const EVENTS: &str = "quota_marketplace_events_sent_total";
/// Streams that came back after missing cycles.
pub(crate) const RESUMED: &str = "quota_marketplace_event_streams_resumed_total";
/// Number of the cycle in force.
pub(crate) const CYCLE: &str = "quota_marketplace_cycle_number";
/// Time since the cycle in force began.
pub(crate) const CYCLE_AGE: &str = "quota_marketplace_cycle_age_seconds";
/// 1 while a cycle is overdue.
pub(crate) const STALE: &str = "quota_marketplace_stale";
/// Time since the oldest use that is not yet charged for.
pub(crate) const UNSETTLED_AGE: &str = "quota_marketplace_unsettled_age_seconds";
/// Time a clearing took, with its transaction; recorded by the loop.
pub(crate) const CYCLE_SECONDS: &str = "quota_marketplace_cycle_duration_seconds";
/// Cycles cleared, by result (`cleared`, `failed`); recorded by the loop.
pub(crate) const CYCLES: &str = "quota_marketplace_cycles_total";

/// Chips of jobs that cuts of supply stopped; recorded by the loop.
pub(crate) const RECLAIMED: &str = "quota_marketplace_reclaimed_chips_total";
/// The same within the last hour: what jobs go through.
pub(crate) const CHURN: &str = "quota_marketplace_reclaimed_chips_last_hour";

/// Rows that did not match in the newest reconciliation.
pub(crate) const RECONCILIATION_OFF: &str = "quota_marketplace_reconciliation_off";

/// The process's recorder. There is one, however many servers a test starts.
pub(crate) fn recorder() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let recorder = builder().build_recorder();
            let handle = recorder.handle();
            match metrics::set_global_recorder(recorder) {
                Ok(()) => describe(),
                Err(error) => tracing::warn!("metrics go to another recorder: {error}"),
            }
            handle
        })
        .clone()
}

fn builder() -> PrometheusBuilder {
    const SECONDS: [f64; 14] =
        [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
    let durations = Matcher::Suffix("_seconds".to_owned());
    // Only an empty list of buckets is refused.
    PrometheusBuilder::new().set_buckets_for_metric(durations, &SECONDS).unwrap_or_default()
}

fn describe() {
    metrics::describe_counter!(REQUESTS, Unit::Count, "Requests answered");
    metrics::describe_histogram!(REQUEST_SECONDS, Unit::Seconds, "Time to the head of the answer");
    metrics::describe_gauge!(OPEN_STREAMS, Unit::Count, "Server-event streams open now");
    metrics::describe_counter!(EVENTS, Unit::Count, "Server events sent");
    metrics::describe_counter!(RESUMED, Unit::Count, "Streams that came back after missing cycles");
    metrics::describe_gauge!(CYCLE, Unit::Count, "Number of the cycle in force");
    metrics::describe_gauge!(CYCLE_AGE, Unit::Seconds, "Time since the cycle in force began");
    metrics::describe_gauge!(STALE, Unit::Count, "1 while a cycle is overdue");
    metrics::describe_gauge!(UNSETTLED_AGE, Unit::Seconds, "Time since the oldest use not yet charged for");
    metrics::describe_histogram!(CYCLE_SECONDS, Unit::Seconds, "Time a cycle's transaction took");
    metrics::describe_counter!(CYCLES, Unit::Count, "Cycles, by result");
    metrics::describe_counter!(RECLAIMED, Unit::Count, "Chips of jobs that cuts of supply stopped");
    metrics::describe_gauge!(
        RECONCILIATION_OFF,
        Unit::Count,
        "Rows that did not match in the newest reconciliation"
    );
    metrics::describe_gauge!(CHURN, Unit::Count, "Chips of jobs that cuts stopped within an hour");
}
