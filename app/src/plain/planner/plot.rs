//! The planner's pictures, drawn on the server: the loss with its fan, and the chance of finishing by chips. Each stands
//! beside a table that says the same.

use common::api::{PlanChance, PlanFanPoint, PlanLoss};
use common::measure::{chip_hours, loss, percent};
use common::words::counted;
use leptos::prelude::*;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 40.0;

/// A picture's two axes: from values to places.
struct Axes {
    x: (f64, f64),
    /// Of the logarithms, where the axis is one of logarithms.
    y: (f64, f64),
    logarithmic: bool,
}

impl Axes {
    fn x(&self, value: f64) -> f64 {
        LEFT + (value - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.ln() } else { value };
        let part = (value - self.y.0) / (self.y.1 - self.y.0);
        HEIGHT - BOTTOM - part.clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
    }

    fn at(&self, x: f64, y: f64) -> String {
        format!("{:.1},{:.1}", self.x(x), self.y(y))
    }
}

/// A step of 1, 2 or 5 times a power of ten that divides a length into about five.
fn step(length: f64) -> f64 {
    let rough = (length / 5.0).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= rough * 0.99).unwrap_or(10.0);
    times * power
}

/// Marks from one value to another on whole steps.
fn marks(from: f64, to: f64) -> Vec<f64> {
    let step = step(to - from);
    let mut marks = Vec::new();
    let mut mark = (from / step).ceil() * step;
    while mark <= to && marks.len() < 20 {
        marks.push(mark);
        mark += step;
    }
    marks
}

fn place(place: f64) -> String {
    format!("{place:.1}")
}

fn row(axes: &Axes, value: f64, text: String) -> AnyView {
    let y = axes.y(value);
    view! {
        <line class="grid" x1=place(LEFT) y1=place(y) x2=place(WIDTH - RIGHT) y2=place(y) />
        <text class="mark" x=place(LEFT - 5.0) y=place(y + 4.0)>
            {text}
        </text>
    }
    .into_any()
}

fn column(axes: &Axes, value: f64, text: String) -> AnyView {
    let x = axes.x(value);
    view! {
        <line class="grid" x1=place(x) y1=place(TOP) x2=place(x) y2=place(HEIGHT - BOTTOM) />
        <text class="axis" x=place(x) y=place(HEIGHT - BOTTOM + 16.0)>
            {text}
        </text>
    }
    .into_any()
}

fn axis_names(x: &'static str, y: &'static str) -> AnyView {
    view! {
        <text class="axis" x=place((LEFT + WIDTH - RIGHT) / 2.0) y=place(HEIGHT - 6.0)>
            {x}
        </text>
        <text class="axis" transform=format!("translate(12 {}) rotate(-90)", HEIGHT / 2.0 - 12.0)>
            {y}
        </text>
    }
    .into_any()
}

/// The loss so far and the band of the loss to come, with the target.
pub(super) fn fan(losses: &[PlanLoss], fan: &[PlanFanPoint], target: f64) -> AnyView {
    let Some(last) = losses.last() else { return ().into_any() };
    let end = fan.last().map_or(last.chip_hours, |point| point.chip_hours).max(last.chip_hours);
    let values = losses.iter().map(|one| one.loss).chain(fan.iter().flat_map(|one| [one.p10, one.p90]));
    let values: Vec<f64> = values.chain([target]).filter(|value| *value > 0.0).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let room = ((high / low).ln() * 0.04).max(0.02);
    let axes = Axes { x: (0.0, end), y: (low.ln() - room, high.ln() + room), logarithmic: true };
    let rows = marks(low, high).into_iter().map(|mark| row(&axes, mark, loss(mark))).collect_view();
    let text = |mark: f64| if mark > 0.0 { chip_hours(mark) } else { "0".to_owned() };
    let columns = marks(0.0, end).into_iter().map(|mark| column(&axes, mark, text(mark))).collect_view();
    let seen: Vec<String> = losses.iter().map(|one| axes.at(one.chip_hours, one.loss)).collect();
    let joined = |of: fn(&PlanFanPoint) -> f64| -> Vec<String> {
        let first = std::iter::once(axes.at(last.chip_hours, last.loss));
        first.chain(fan.iter().map(|one| axes.at(one.chip_hours, of(one)))).collect()
    };
    let (below, middle, mut above) = (joined(|one| one.p10), joined(|one| one.p50), joined(|one| one.p90));
    above.reverse();
    let band = format!("{} {}", below.join(" "), above.join(" "));
    let (now, goal) = (axes.x(last.chip_hours), axes.y(target));
    let summary = format!(
        "Loss so far, {} after {} chip-hours, and the foreseen band to {} chip-hours; target {}. The table has the numbers.",
        loss(last.loss),
        chip_hours(last.chip_hours),
        chip_hours(end),
        loss(target)
    );
    view! {
        <svg class="lab-plot plan-plot" viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label=summary>
            {rows} {columns} {axis_names("Chip-hours since the job began", "Loss")}
            <polygon class="band" points=band />
            <polyline class="line s1" points=seen.join(" ") />
            <polyline class="line s1 foreseen" points=middle.join(" ") />
            <line class="goal" x1=place(LEFT) y1=place(goal) x2=place(WIDTH - RIGHT) y2=place(goal) />
            <text class="goal-text" x=place(WIDTH - RIGHT - 4.0) y=place(goal - 5.0)>
                {format!("target {}", loss(target))}
            </text>
            <line class="now" x1=place(now) y1=place(TOP) x2=place(now) y2=place(HEIGHT - BOTTOM) />
            <text class="now-text" x=place(now + 4.0) y=place(TOP + 10.0)>
                "now"
            </text>
        </svg>
        {key()}
    }
    .into_any()
}

/// What the lines and the band of the fan are.
fn key() -> AnyView {
    view! {
        <ul class="lab-key">
            <li>
                <svg class="swatch" viewBox="0 0 18 8" width="18" height="8" aria-hidden="true">
                    <line class="line s1" x1="0" y1="4" x2="18" y2="4" />
                </svg>
                "reported"
            </li>
            <li>
                <svg class="swatch" viewBox="0 0 18 8" width="18" height="8" aria-hidden="true">
                    <line class="line s1 foreseen" x1="0" y1="4" x2="18" y2="4" />
                </svg>
                "foreseen, half of the curves below"
            </li>
            <li>
                <svg class="swatch plan-plot" viewBox="0 0 18 8" width="18" height="8" aria-hidden="true">
                    <rect class="band" x="0" y="0" width="18" height="8" />
                </svg>
                "eight in ten curves"
            </li>
        </ul>
    }
    .into_any()
}

/// The chance of finishing by the deadline, by chips.
pub(super) fn chances(chances: &[PlanChance]) -> AnyView {
    let Some(last) = chances.last() else { return ().into_any() };
    let end = last.chips.0 as f64;
    let axes = Axes { x: (0.0, end), y: (0.0, 1.0), logarithmic: false };
    let rows =
        [0.0, 0.25, 0.5, 0.75, 1.0].into_iter().map(|mark| row(&axes, mark, percent(mark))).collect_view();
    let columns = marks(0.0, end)
        .into_iter()
        .filter(|mark| mark.fract() == 0.0)
        .map(|mark| column(&axes, mark, format!("{mark:.0}")))
        .collect_view();
    let points: Vec<String> =
        chances.iter().map(|one| axes.at(one.chips.0 as f64, one.probability)).collect();
    let dots = chances
        .iter()
        .map(|one| {
            let said = format!("{}: {}", counted(one.chips.0, "chip"), percent(one.probability));
            view! {
                <g>
                    <title>{said}</title>
                    <circle
                        class="dot"
                        cx=place(axes.x(one.chips.0 as f64))
                        cy=place(axes.y(one.probability))
                        r="5"
                    />
                </g>
            }
        })
        .collect_view();
    let wanted = axes.y(0.8);
    let summary = format!(
        "Chance of finishing by the deadline: {} with {} chips. The table has the numbers.",
        percent(last.probability),
        last.chips
    );
    view! {
        <svg class="lab-plot plan-plot" viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label=summary>
            {rows} {columns} {axis_names("Chips, all the time until the deadline", "Chance")}
            <line class="goal" x1=place(LEFT) y1=place(wanted) x2=place(WIDTH - RIGHT) y2=place(wanted) />
            <polyline class="line s1" points=points.join(" ") /> {dots}
        </svg>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use common::chips::Chips;

    use super::*;

    fn html(view: impl FnOnce() -> AnyView) -> String {
        Owner::new_root(None).with(|| view().to_html())
    }

    #[test]
    fn a_fan_lies_within_its_picture() {
        let losses: Vec<PlanLoss> = (1..=5)
            .map(|nth| PlanLoss { step: nth, chip_hours: nth as f64, loss: 5.0 / nth as f64 })
            .collect();
        let point = |nth: f64| PlanFanPoint { chip_hours: nth, p10: 0.5, p50: 0.8, p90: 1.0 };
        let drawn = html(|| fan(&losses, &[point(6.0), point(10.0)], 0.4));
        assert!(drawn.contains("<polygon") && drawn.contains("target 0.4000"), "{drawn}");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert!(drawn.contains("1.000 after 5.0 chip-hours"), "{drawn}");
        assert!(!html(|| fan(&[], &[], 1.0)).contains("<svg"), "nothing was reported yet");
    }

    #[test]
    fn marks_stand_on_whole_steps() {
        assert_eq!(marks(0.0, 100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert!((marks(1.9, 5.1).len() as i32 - 4).abs() <= 3);
        let chance = |chips, probability| PlanChance { chips: Chips(chips), chip_hours: 1.0, probability };
        let drawn = html(|| chances(&[chance(1, 0.1), chance(8, 0.9)]));
        assert_eq!(drawn.matches("<circle").count(), 2);
        assert!(drawn.contains("90 % with 8 chips"), "{drawn}");
    }
}
