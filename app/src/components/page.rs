//! How a page waits for its data: one resource, awaited in one place, the old content staying until the new is there.

use leptos::prelude::*;

use super::problem::problem;
use crate::data::PageError;

/// Shows `view` of the data, or the problem that took its place.
pub(crate) fn page<T, V, Ser>(data: Resource<Result<T, PageError>, Ser>, view: fn(T) -> V) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
    V: IntoView + 'static,
    Ser: Send + Sync + 'static,
{
    let loading = || view! { <p class="loading" role="status">"Loading…"</p> };
    view! {
        <Transition fallback=loading>
            {move || Suspend::new(async move {
                match data.await {
                    Ok(data) => view(data).into_any(),
                    Err(error) => problem(error).into_any(),
                }
            })}
        </Transition>
    }
}
