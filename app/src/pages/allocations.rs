//! The Allocations page: who held how many chips over time, granted against used.

use common::api::{AllocationSeries, AllocationsQuery, AllocationsView, GroupBy, Span};
use common::ids::{ChipTypeId, PoolId, TeamId};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use serde::{Deserialize, Serialize};

use crate::chart::{Measure, allocation_chart, layer_color, own_layers};
use crate::components::chooser::{Choosable, Chooser, chooser};
use crate::components::page::page;
use crate::components::problem::empty;
use crate::components::switch::{Choice, csv, switch};
use crate::data::{PageError, read_allocations};
use crate::format;
use crate::live::Live;
use crate::words::{self, address};

const PATH: &str = "/allocations";

/// Rows of the table; the CSV has all.
const MOST_SERIES: u32 = 100;

/// Names and values of the parameters of a query; `None` stands for the default.
fn parameters(query: &AllocationsQuery) -> [(&'static str, Option<&str>); 5] {
    [
        ("by", (query.group_by != GroupBy::default()).then(|| query.group_by.as_str())),
        ("span", (query.span != Span::default()).then(|| query.span.as_str())),
        ("chip", query.chip_type.as_ref().map(ChipTypeId::as_str)),
        ("pool", query.pool.as_ref().map(PoolId::as_str)),
        ("team", query.team.as_ref().map(TeamId::as_str)),
    ]
}

fn href(query: &AllocationsQuery, measure: Measure) -> String {
    let shown = ("show", (measure != Measure::default()).then(|| measure.as_str()));
    let parameters: Vec<_> = parameters(query).into_iter().chain([shown]).collect();
    address(PATH, &parameters)
}

/// What the page shows: the data, and the measure that is stacked.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shown {
    granted: bool,
    view: AllocationsView,
}

/// Chips over time, live.
#[component]
pub fn AllocationsPage() -> impl IntoView {
    let live = Live::from_context();
    let address = use_query_map();
    let state = Memo::new(move |_| {
        address.with(|address| {
            let query = AllocationsQuery {
                span: address.get_str("span").and_then(|text| text.parse().ok()).unwrap_or_default(),
                group_by: address.get_str("by").and_then(|text| text.parse().ok()).unwrap_or_default(),
                chip_type: address.get_str("chip").and_then(|text| text.parse().ok()),
                pool: address.get_str("pool").and_then(|text| text.parse().ok()),
                team: address.get_str("team").and_then(|text| text.parse().ok()),
                most: Some(MOST_SERIES),
            };
            (query, address.get_str("show") == Some(Measure::Granted.as_str()))
        })
    });
    let shown = Resource::new(
        move || (state.get(), live.version()),
        |((query, granted), _)| async move {
            Ok::<_, PageError>(Shown { granted, view: read_allocations(query).await? })
        },
    );
    view! {
        <Title text="Allocations" />
        {page(shown, allocations)}
    }
}

fn allocations(shown: Shown) -> impl IntoView {
    let Shown { granted, view } = shown;
    let measure = if granted { Measure::Granted } else { Measure::Used };
    let body = if view.series.is_empty() || view.steps.is_empty() {
        empty(
            "Nobody held chips in this span.",
            "Choose a longer span or fewer filters. Teams appear here with their first chips.",
        )
        .into_any()
    } else {
        let summary = summary(&view, measure);
        view! {
            <qm-chart class="tall" data=allocation_chart(&view, measure) data-label=summary></qm-chart>
            {legend(&view, measure)}
        }
        .into_any()
    };
    view! {
        {toolbar(&view, measure).into_any()}
        <section class="panel" aria-labelledby="stack-title">
            <header>
                <h2 id="stack-title">
                    {format!("Chips {} by {}", measure.as_str(), words::group(view.query.group_by).to_lowercase())}
                </h2>
                <span class="quiet">
                    {format!(
                        "average of each {}",
                        format::duration(i64::from(view.step_seconds)),
                    )}
                </span>
                <a class="right quiet-link" href="/cycles">"All cycles"</a>
            </header>
            <div class="body">{body}</div>
        </section>
        {totals(&view).into_any()}
    }
}

/// Grouping, span, measure and filters.
fn toolbar(view: &AllocationsView, measure: Measure) -> impl IntoView + use<> {
    let query = &view.query;
    let groups = GroupBy::ALL
        .into_iter()
        .map(|group_by| Choice {
            text: words::group(group_by).to_owned(),
            href: href(&AllocationsQuery { group_by, ..query.clone() }, measure),
            chosen: group_by == query.group_by,
        })
        .collect();
    let spans = Span::ALL
        .into_iter()
        .map(|span| Choice {
            text: words::span(span).to_owned(),
            href: href(&AllocationsQuery { span, ..query.clone() }, measure),
            chosen: span == query.span,
        })
        .collect();
    let measures = Measure::ALL
        .into_iter()
        .map(|one| Choice { text: one.as_str().to_owned(), href: href(query, one), chosen: one == measure })
        .collect();
    view! {
        <div class="toolbar">
            {switch("Group by", groups)}
            {switch("Span", spans)}
            {switch("Show chips", measures)}
            {filters(view, measure)}
        </div>
    }
}

fn filters(view: &AllocationsView, measure: Measure) -> impl IntoView + use<> {
    let query = &view.query;
    let keep = |without: &str| {
        parameters(query)
            .into_iter()
            .chain([("show", (measure != Measure::default()).then(|| measure.as_str()))])
            .filter(|(name, _)| *name != without)
            .filter_map(|(name, value)| value.map(|value| (name, value.to_owned())))
            .collect()
    };
    let chip_types =
        view.chip_types.iter().map(|id| Choosable { value: id.to_string(), text: id.to_string() }).collect();
    let pools = view
        .pools
        .iter()
        .map(|pool| Choosable { value: pool.id.to_string(), text: pool.name.clone() })
        .collect();
    let teams = view
        .teams
        .iter()
        .map(|team| Choosable { value: team.id.to_string(), text: team.name.clone() })
        .collect();
    let filter = |label, name, none, values, chosen| {
        chooser(Chooser { label, name, none, values, chosen, path: PATH.to_owned(), keep: keep(name) })
    };
    let no_team = if view.teams.is_empty() { "All teams (choose a pool first)" } else { "All teams" };
    view! {
        {filter("Chip type", "chip", "All chip types", chip_types, query.chip_type.as_ref().map(ToString::to_string))}
        {filter("Pool", "pool", "All pools", pools, query.pool.as_ref().map(ToString::to_string))}
        {filter("Team", "team", no_team, teams, query.team.as_ref().map(ToString::to_string))}
    }
}

/// The colours of the layers.
fn legend(view: &AllocationsView, measure: Measure) -> impl IntoView + use<> {
    let (own, all) = (own_layers(view.series.len()), number_of_series(view));
    let layers = view.series[..own]
        .iter()
        .enumerate()
        .map(|(index, series)| (layer_color(index), series.name.clone()))
        .chain((own < view.series.len()).then(|| (layer_color(own), format!("{} others", all - own))))
        .map(|(color, name)| view! { <li class=format!("key-{color}")>{name}</li> })
        .collect_view();
    let other = match measure {
        Measure::Used => "granted, all",
        Measure::Granted => "used, all",
    };
    view! {
        <ul class="legend">
            {layers}
            <li class="key-mine">{other}</li>
            <li class="key-supply">"supply"</li>
        </ul>
    }
}

/// The chart in one sentence, for those who do not see it.
fn summary(view: &AllocationsView, measure: Measure) -> String {
    let most = view.series.first().map_or_else(String::new, |first| {
        format!("; most by {}: {} chip-hours", first.name, format::milli(total(first, measure)))
    });
    format!(
        "Chips {} by {} over {}, {} series{most}",
        measure.as_str(),
        words::group(view.query.group_by).to_lowercase(),
        words::last_span(view.query.span),
        number_of_series(view)
    )
}

/// How many series there are, those that are joined counted each.
fn number_of_series(view: &AllocationsView) -> usize {
    view.series.len() + (view.joined as usize).saturating_sub(1)
}

const fn total(series: &AllocationSeries, measure: Measure) -> u64 {
    match measure {
        Measure::Used => series.used_milli_chip_hours,
        Measure::Granted => series.granted_milli_chip_hours,
    }
}

/// Totals per series: the table behind the chart.
fn totals(view: &AllocationsView) -> impl IntoView + use<> {
    let rows =
        view.series.iter().enumerate().map(|(index, series)| total_row(view, index, series)).collect_view();
    let what = words::group(view.query.group_by);
    let csv_query: Vec<_> =
        [("group_by", Some(view.query.group_by.as_str())), ("span", Some(view.query.span.as_str()))]
            .into_iter()
            .chain([
                ("chip_type", view.query.chip_type.as_ref().map(ChipTypeId::as_str)),
                ("pool", view.query.pool.as_ref().map(PoolId::as_str)),
                ("team", view.query.team.as_ref().map(TeamId::as_str)),
                ("format", Some("csv")),
            ])
            .collect();
    let csv_href = address("/api/v1/allocations", &csv_query);
    view! {
        <section class="panel" aria-labelledby="totals-title">
            <header>
                <h2 id="totals-title">"Totals over "{words::last_span(view.query.span)}</h2>
                <div class="right">{csv(csv_href, "Allocations")}</div>
            </header>
            <table class="cards" role="table" data-sortable aria-labelledby="totals-title">
                <thead role="rowgroup">
                    <tr role="row">
                        <th scope="col" role="columnheader">{what}</th>
                        <th scope="col" role="columnheader" class="num">"Now"<small>"chips"</small></th>
                        <th scope="col" role="columnheader" class="num">"Granted"<small>"chip-hours"</small></th>
                        <th scope="col" role="columnheader" class="num">"Used"<small>"chip-hours"</small></th>
                        <th scope="col" role="columnheader" class="num">"Used of granted"</th>
                        <th scope="col" role="columnheader" class="num">"Cost"<small>"local credits"</small></th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </section>
    }
}

fn total_row(view: &AllocationsView, index: usize, series: &AllocationSeries) -> impl IntoView + use<> {
    let layer = layer_color(index.min(own_layers(view.series.len())));
    let share = format::percent(
        common::chips::Chips(series.used_milli_chip_hours),
        common::chips::Chips(series.granted_milli_chip_hours),
    );
    let cost = series.cost.map_or_else(|| "several currencies".to_owned(), format::amount);
    view! {
        <tr role="row">
            <th scope="row" role="rowheader">
                <span class=format!("swatch key-{layer}")></span>
                {series.name.clone()}
            </th>
            <td role="cell" class="num" data-label="Now" data-unit="chips">{format::chips(series.now)}</td>
            <td role="cell" class="num" data-label="Granted" data-unit="chip-hours">
                {format::milli(series.granted_milli_chip_hours)}
            </td>
            <td role="cell" class="num" data-label="Used" data-unit="chip-hours">
                {format::milli(series.used_milli_chip_hours)}
            </td>
            <td role="cell" class="num" data-label="Used of granted">{share}</td>
            <td role="cell" class="num" data-label="Cost" data-unit="local credits">{cost}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_holds_what_differs_from_the_default() {
        let query = AllocationsQuery::default();
        assert_eq!(href(&query, Measure::Used), "/allocations");
        let query = AllocationsQuery {
            span: Span::Week,
            group_by: GroupBy::Team,
            pool: Some(PoolId::new("vision").unwrap()),
            ..query
        };
        assert_eq!(href(&query, Measure::Granted), "/allocations?by=team&span=7d&pool=vision&show=granted");
    }
}
