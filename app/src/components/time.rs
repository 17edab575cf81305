//! Instants. The server writes UTC; a script in the page turns it into the viewer's zone after the page has loaded.

use common::instant::Instant;
use leptos::prelude::*;

use crate::format;

/// Date and time to the second.
pub(crate) fn date_time(at: Instant) -> impl IntoView + use<> {
    view! { <time datetime=at.to_string() data-show="date-time">{format::utc(at)}</time> }
}

/// Time of day to the second.
pub(crate) fn time_of_day(at: Instant) -> impl IntoView + use<> {
    view! { <time datetime=at.to_string() data-show="time">{format::utc_time(at)}</time> }
}
