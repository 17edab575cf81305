//! What envy costs: the learned allocator at each weight λ beside the rules without learning, with a slider over λ.
//!
//! Everything is written by the server: a dot, a sentence and a row for each λ. The script of every page marks those of the
//! slider's number; without scripts the button does.

use leptos::prelude::*;

use super::plot::{HEIGHT, across, at, horizontal, up, vertical, x_axis, y_axis};
use crate::plain::form::{FormState, panel};

/// The least and the most weight of envy, and the slider's step.
const WEIGHTS: (&str, &str, &str) = ("0", "20", "0.5");

/// A rule's figures on the held-out instances, in shares of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontierPoint {
    /// The rule.
    pub title: String,
    /// The weight of envy, where it has one.
    pub envy_weight: Option<f64>,
    /// Mean over steps of what all hold.
    pub utility: f64,
    /// Worst envy of a course, as a mean.
    pub envy: f64,
    /// The part of an equal part that somebody lacks at worst, as a mean.
    pub sharing_loss: f64,
}

/// What the panel shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Frontier {
    /// The rules without learning, dynamic DRF first.
    pub baselines: Vec<FrontierPoint>,
    /// The network that is told λ, by λ.
    pub told: Vec<FrontierPoint>,
    /// Networks trained for one λ each, by λ.
    pub fixed: Vec<FrontierPoint>,
    /// The network that may give ahead of arrivals, by λ.
    pub elastic: Vec<FrontierPoint>,
    /// The weight that is marked.
    pub envy_weight: f64,
    /// Where the weights and figures come from.
    pub source: String,
}

/// A slider over λ, with its number beside it. Sliders of a page move together.
fn slider(value: &str, id: &'static str, hint: &'static str, fault: Option<&str>) -> AnyView {
    let fault = fault.map(|fault| format!("The weight of envy {fault}."));
    let (least, most, step) = WEIGHTS;
    let of = format!("{id}-hint");
    view! {
        <div class="field">
            <label for=id>
                "Weight of envy λ: " <span data-slider-value>{value.to_owned()}</span>
            </label>
            <input id=id type="range" name="envy_weight" min=least max=most step=step value=value.to_owned() aria-describedby=of.clone() />
            <p class="hint" id=of>{hint}</p>
            {fault.map(|fault| view! { <p class="error" role="alert">{fault}</p> })}
        </div>
    }
    .into_any()
}

/// As [`slider`], in a form that was filled in.
pub(super) fn slider_of(state: &FormState, id: &'static str) -> AnyView {
    let hint = "For the learned policies; see what it costs above";
    slider(state.value("envy_weight"), id, hint, state.fault("envy_weight"))
}

/// The panel.
pub(super) fn frontier(of: &Frontier) -> AnyView {
    let said = of.told.iter().zip(&of.elastic).map(|pair| sentence(of, pair)).collect_view();
    let body = view! {
        <p class="quiet">
            "Teams come one by one and nobody knows who is next. The learned allocator trades what all hold together (utility) for less envy, at the price λ that you choose."
        </p>
        <div class="lab-frontier">
            <div>{picture(of)}</div>
            <div>
                <form class="form narrow" method="get" action="/lab#frontier">
                    {slider(&of.envy_weight.to_string(), "frontier-weight", "0 ignores envy, 20 hates it", None)}
                    <div class="actions">
                        <button class="button" type="submit">
                            "Mark it"
                        </button>
                    </div>
                </form>
                {said}
                <ul class="lab-key">
                    <li><svg class="swatch" viewBox="0 0 18 8" width="18" height="8" aria-hidden="true"><line class="line s1" x1="0" y1="4" x2="18" y2="4" /></svg>"learned, told λ"</li>
                    <li><svg class="swatch" viewBox="0 0 18 8" width="18" height="8" aria-hidden="true"><line class="line s2" x1="0" y1="4" x2="18" y2="4" /></svg>"learned, elastic"</li>
                    <li>"small dots: one network for each λ"</li>
                </ul>
            </div>
        </div>
        <details>
            <summary>"The numbers"</summary>
            {numbers(of)}
        </details>
        <p class="quiet">{of.source.clone()}</p>
    };
    panel("frontier", "What envy costs", body.into_any())
}

/// The attributes of what belongs to a weight: its number, and whether it is the chosen one.
fn mark(point: &FrontierPoint, chosen: f64) -> (String, bool) {
    let weight = point.envy_weight.unwrap_or_default();
    (weight.to_string(), (weight - chosen).abs() < 1e-9)
}

/// What a weight gives and costs, in words; only the chosen one's is shown.
fn sentence(of: &Frontier, (told, elastic): (&FrontierPoint, &FrontierPoint)) -> AnyView {
    let (weight, chosen) = mark(told, of.envy_weight);
    let drf = of.baselines.first().map_or((1.0, 0.0), |drf| (drf.utility, drf.envy));
    let words = |point: &FrontierPoint| {
        format!(
            "utility {:.3}, {:+.1} % of dynamic DRF’s; worst envy {:.3}, dynamic DRF’s is {:.3}",
            point.utility,
            100.0 * (point.utility / drf.0 - 1.0),
            point.envy,
            drf.1
        )
    };
    let (strict, ahead) = (format!("Strict, λ = {weight}: "), format!("Elastic, λ = {weight}: "));
    let lacks = format!("; at worst somebody lacks {:.1} % of an equal part.", 100.0 * elastic.sharing_loss);
    view! {
        <div data-slider-at=weight hidden=!chosen>
            <p>
                <strong>{strict}</strong>
                {words(told)}
                "; nobody ever has less than an equal part."
            </p>
            <p>
                <strong>{ahead}</strong>
                {words(elastic)}
                {lacks}
            </p>
        </div>
    }
    .into_any()
}

/// The picture's ends: envy across, utility up. What lies outside is named below it.
struct Ends {
    envy: (f64, f64),
    utility: (f64, f64),
}

impl Ends {
    fn of(points: &Frontier) -> Self {
        let most = |of: fn(&FrontierPoint) -> f64| {
            points.told.iter().chain(&points.fixed).map(of).fold(0.0, f64::max)
        };
        let up_to = |value: f64, step: f64| (value / step).ceil() * step;
        Self {
            envy: (0.0, up_to(most(|point| point.envy), 0.02)),
            utility: (0.74, up_to(most(|point| point.utility), 0.02)),
        }
    }

    fn place(&self, point: &FrontierPoint) -> Option<(f64, f64)> {
        let part = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low);
        let (x, y) = (part(point.envy, self.envy), part(point.utility, self.utility));
        ((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y)).then(|| (across(x), up(y)))
    }

    fn line(&self, points: &[FrontierPoint], class: &'static str) -> AnyView {
        let places = points.iter().filter_map(|point| self.place(point));
        let text: Vec<String> = places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        view! { <polyline class=class points=text.join(" ") /> }.into_any()
    }
}

fn words(point: &FrontierPoint) -> String {
    let weight = point.envy_weight.map_or_else(String::new, |by| format!(", λ = {by}"));
    format!("{}{weight}: utility {:.4}, worst envy {:.4}", point.title, point.utility, point.envy)
}

fn picture(of: &Frontier) -> AnyView {
    let ends = Ends::of(of);
    let marks = |(low, high): (f64, f64)| {
        (0..=4).map(move |nth| (f64::from(nth) / 4.0, low + f64::from(nth) / 4.0 * (high - low)))
    };
    let rows =
        marks(ends.utility).map(|(part, value)| horizontal(part, format!("{value:.2}"))).collect_view();
    let columns = marks(ends.envy).map(|(part, value)| vertical(part, &format!("{value:.3}"))).collect_view();
    let dot = |point: &FrontierPoint, class: &'static str, radius: &'static str| {
        let (x, y) = ends.place(point)?;
        let (weight, chosen) = mark(point, of.envy_weight);
        let weighed = (class == "chosen").then_some(weight);
        Some(view! {
            <circle class=class cx=at(x) cy=at(y) r=radius data-slider-at=weighed.clone() hidden=weighed.is_some() && !chosen>
                <title>{words(point)}</title>
            </circle>
        })
    };
    let fixed = of.fixed.iter().filter_map(|point| dot(point, "small", "3")).collect_view();
    let chosen =
        of.told.iter().chain(&of.elastic).filter_map(|point| dot(point, "chosen", "7")).collect_view();
    let named = of
        .baselines
        .iter()
        .filter_map(|point| {
            let (x, y) = ends.place(point)?;
            let circle = dot(point, "dot", "5")?;
            let after = at(x + 9.0);
            Some(view! { <g>{circle} <text x=after y=at(y + 4.0)>{point.title.clone()}</text></g> })
        })
        .collect_view();
    let outside: Vec<String> =
        of.baselines.iter().filter(|point| ends.place(point).is_none()).map(words).collect();
    view! {
        <svg class="lab-plot frontier" viewBox=format!("0 0 640 {HEIGHT}") role="img" aria-label="Utility against worst envy by λ, beside the rules without learning; the numbers are below.">
            {rows} {columns} {x_axis("Worst envy, in shares of a resource")} {y_axis("Utility")}
            {ends.line(&of.told, "line s1")} {ends.line(&of.elastic, "line s2")} {fixed} {named} {chosen}
        </svg>
        <p class="quiet">{format!("Up and to the left is better. Outside the picture: {}.", outside.join("; "))}</p>
    }
    .into_any()
}

fn numbers(of: &Frontier) -> AnyView {
    let drf = of.baselines.first().map_or(1.0, |drf| drf.utility);
    let rows = of
        .baselines
        .iter()
        .chain(&of.told)
        .chain(&of.fixed)
        .chain(&of.elastic)
        .map(|point| {
            view! {
                <tr>
                    <th scope="row">{point.title.clone()}</th>
                    <td class="num">{point.envy_weight.map_or_else(|| "–".to_owned(), |by| by.to_string())}</td>
                    <td class="num">{format!("{:.4}", point.utility)}</td>
                    <td class="num">{format!("{:+.1} %", 100.0 * (point.utility / drf - 1.0))}</td>
                    <td class="num">{format!("{:.4}", point.envy)}</td>
                    <td class="num">{format!("{:.1} %", 100.0 * point.sharing_loss)}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The numbers">
            <table data-sortable="frontier">
                <thead>
                    <tr>
                        <th scope="col">"Rule"</th>
                        <th scope="col" class="num">"λ"</th>
                        <th scope="col" class="num">"Utility"</th>
                        <th scope="col" class="num">"Over dynamic DRF"</th>
                        <th scope="col" class="num">"Worst envy"</th>
                        <th scope="col" class="num">"Lacks of an equal part"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_weight_is_marked_and_what_lies_outside_is_named() {
        let point = |title: &str, envy_weight, utility, envy| FrontierPoint {
            title: title.to_owned(),
            envy_weight,
            utility,
            envy,
            sharing_loss: 0.0,
        };
        let by = |utility: f64| {
            vec![point("L", Some(0.0), utility, 0.08), point("L", Some(4.0), utility - 0.04, 0.04)]
        };
        let of = Frontier {
            baselines: vec![point("Dynamic DRF", None, 0.8, 0.04), point("Greedy", None, 0.99, 0.4)],
            told: by(0.88),
            fixed: by(0.87),
            elastic: by(0.89),
            envy_weight: 4.0,
            source: "made up".to_owned(),
        };
        let html = Owner::new_root(None).with(|| frontier(&of).to_html());
        assert!(html.contains("Outside the picture: Greedy: utility 0.9900, worst envy 0.4000"), "{html}");
        assert!(html.contains("utility 0.840, +5.0 % of dynamic DRF"), "{html}");
        assert_eq!(html.matches("data-slider-at=\"4\"").count(), 3, "a sentence and two dots: {html}");
        assert!(html.contains("value=\"4\"") && !html.contains("NaN"), "{html}");
    }
}
