//! The lab's pictures, drawn on the server: welfare against fairness, and the use of chips over time. Each stands beside a
//! table that says the same.

use leptos::prelude::*;

/// A point of the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its number, which the table beside it explains.
    pub number: usize,
    /// What it stands for.
    pub title: String,
    /// Least over most chip-hours per weight.
    pub fairness: f64,
    /// Part of the most welfare.
    pub welfare: f64,
}

/// A line over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it stands for.
    pub title: String,
    /// Its values, at equal distances.
    pub values: Vec<f64>,
}

const WIDTH: f64 = 640.0;
pub(super) const HEIGHT: f64 = 340.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 40.0;

/// Part of the way along an axis as a place in the picture.
pub(super) fn across(part: f64) -> f64 {
    LEFT + part * (WIDTH - LEFT - RIGHT)
}

/// A place as an attribute.
pub(super) fn at(place: f64) -> String {
    format!("{place:.1}")
}

/// The same for the other axis.
pub(super) fn up(part: f64) -> f64 {
    HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)
}

/// The ends of an axis around values between 0 and 1, on tenths.
fn ends(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let least = values.clone().fold(1.0, f64::min);
    let most = values.fold(0.0, f64::max);
    let (low, high) = ((least * 10.0).floor() / 10.0, (most * 10.0).ceil() / 10.0);
    if high - low < 0.1 { ((high - 0.1).max(0.0), (high - 0.1).max(0.0) + 0.1) } else { (low, high) }
}

/// Five marks from one end of an axis to the other.
fn marks((low, high): (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    (0..=4).map(move |nth| {
        let part = f64::from(nth) / 4.0;
        (part, low + part * (high - low))
    })
}

/// Welfare against fairness: up and to the right is better.
pub(super) fn plot(points: &[Point]) -> AnyView {
    let x = ends(points.iter().map(|point| point.fairness));
    let y = ends(points.iter().map(|point| point.welfare));
    let place = |point: &Point| {
        (across((point.fairness - x.0) / (x.1 - x.0)), up((point.welfare - y.0) / (y.1 - y.0)))
    };
    let rows = marks(y).map(|(part, value)| horizontal(part, format!("{value:.2}"))).collect_view();
    let columns = marks(x).map(|(part, value)| vertical(part, &format!("{value:.2}"))).collect_view();
    let dots = points
        .iter()
        .map(|point| {
            let (x, y) = place(point);
            let said =
                format!("{}: fairness {:.4}, welfare {:.4}", point.title, point.fairness, point.welfare);
            view! {
                <g>
                    <title>{said}</title>
                    <circle class="dot" cx=format!("{x:.1}") cy=format!("{y:.1}") r="9" />
                    <text class="number" x=format!("{x:.1}") y=format!("{:.1}", y + 3.5)>
                        {point.number}
                    </text>
                </g>
            }
        })
        .collect_view();
    let summary =
        format!("Welfare against fairness of {} policies; the table has the numbers.", points.len());
    view! {
        <svg class="lab-plot" viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label=summary>
            {rows} {columns}
            {x_axis("Fairness: least over most chip-hours per weight")} {y_axis("Welfare")}
            {dots}
        </svg>
    }
    .into_any()
}

/// Lines over time, the highest value at the top.
pub(super) fn lines(lines: &[Line], unit: &'static str, digits: usize) -> AnyView {
    let most = lines.iter().flat_map(|line| &line.values).copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let drawn = lines
        .iter()
        .enumerate()
        .map(|(nth, line)| {
            let last = line.values.len().saturating_sub(1).max(1) as f64;
            let points: Vec<String> = line
                .values
                .iter()
                .enumerate()
                .map(|(nth, value)| format!("{:.1},{:.1}", across(nth as f64 / last), up(value / most)))
                .collect();
            view! {
                <polyline class=format!("line s{}", nth % 8 + 1) points=points.join(" ")>
                    <title>{line.title.clone()}</title>
                </polyline>
            }
        })
        .collect_view();
    let rows =
        marks((0.0, most)).map(|(part, value)| horizontal(part, format!("{value:.digits$}"))).collect_view();
    let key = lines
        .iter()
        .enumerate()
        .map(|(nth, line)| {
            view! {
                <li>
                    <svg class="swatch" viewBox="0 0 18 8" width="18" height="8" aria-hidden="true">
                        <line class=format!("line s{}", nth % 8 + 1) x1="0" y1="4" x2="18" y2="4" />
                    </svg>
                    {line.title.clone()}
                </li>
            }
        })
        .collect_view();
    let summary = format!("{unit} over time, {} lines; the table below has the numbers.", lines.len());
    view! {
        <svg class="lab-plot" viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label=summary>
            {rows} {drawn}
            {x_axis("From the first round to the last")} {y_axis(unit)}
        </svg>
        <ul class="lab-key">{key}</ul>
    }
    .into_any()
}

/// A line across the picture, with its value at the left.
pub(super) fn horizontal(part: f64, text: String) -> AnyView {
    let y = up(part);
    view! {
        <line class="grid" x1=at(LEFT) y1=at(y) x2=at(WIDTH - RIGHT) y2=at(y) />
        <text class="mark" x=at(LEFT - 5.0) y=at(y + 4.0)>{text}</text>
    }
    .into_any()
}

/// A line up the picture, with its value below.
pub(super) fn vertical(part: f64, text: &str) -> AnyView {
    let x = across(part);
    view! {
        <line class="grid" x1=at(x) y1=at(TOP) x2=at(x) y2=at(HEIGHT - BOTTOM) />
        <text class="axis" x=at(x) y=at(HEIGHT - BOTTOM + 16.0)>{text.to_owned()}</text>
    }
    .into_any()
}

/// What goes from left to right.
pub(super) fn x_axis(text: &'static str) -> AnyView {
    view! { <text class="axis" x=at(across(0.5)) y=at(HEIGHT - 4.0)>{text}</text> }.into_any()
}

/// What goes upwards.
pub(super) fn y_axis(text: &'static str) -> AnyView {
    view! { <text class="axis" transform=format!("translate(10 {}) rotate(-90)", up(0.5))>{text}</text> }
        .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_and_line_is_drawn_within_the_picture() {
        let point =
            |number, fairness, welfare| Point { number, title: format!("P{number}"), fairness, welfare };
        let html = Owner::new_root(None)
            .with(|| plot(&[point(1, 0.66, 0.9), point(2, 0.66, 0.9), point(3, 0.0, 1.0)]).to_html());
        assert_eq!(html.matches("<circle").count(), 3);
        assert!(html.contains("P3: fairness 0.0000, welfare 1.0000"), "{html}");
        let line = Line { title: "a".to_owned(), values: vec![0.0, 2.0, 1.0] };
        let html = Owner::new_root(None).with(|| lines(&[line], "Chips", 1).to_html());
        assert!(html.contains("points=\"46.0,300.0 335.0,14.0 624.0,157.0\""), "{html}");
        assert!(!html.contains("NaN"), "{html}");
    }
}
