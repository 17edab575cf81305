//! One course through an instance, with the derivatives of its loss by the network's parameters.
//!
//! \[paper\]: losses of each step for sharing incentive, envy and dynamic Pareto optimality, trained through the roll-out.
//! \[recon\]: their exact form. A step's utility is `Σ x`; its loss of sharing incentive the mean of what each lacks of
//! `1/n`; its loss of envy-freeness by how much it raises the worst envy so far, so that the sum over steps is the figure
//! that the course is judged by. The loss of dynamic Pareto optimality is 0 by construction, for every step uses `k/n` of
//! a resource. Derivatives are by hand: a course is 55 small evaluations, and nothing general takes them in microseconds.

use super::super::Instance;
use super::decoder::{Growth, first_share, grow, softplus, softplus_slope};
use super::features::{Course, INPUTS, View};
use super::network::{HEAD, Hidden, Network};

/// What a network is trained and asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Aim {
    /// `λ_EF`: the utility that one unit of worst envy is worth.
    pub envy_weight: f64,
    /// `λ_SI`, where resources may be given ahead of those to come; none keeps for them what is theirs (strict).
    pub sharing_weight: Option<f64>,
}

/// A step of a course: what the network saw and said, and what came of it.
pub(super) struct Step {
    view: View,
    hidden: Vec<Hidden>,
    scores: Vec<f64>,
    weights: Vec<f64>,
    /// What the elastic head saw and said.
    ahead: Option<([f64; HEAD], f64)>,
    /// The newcomer's first share, and the resource that kept it from more.
    first: (f64, Option<usize>),
    growth: Growth,
    /// What each holds at the end of the step.
    pub held: Vec<f64>,
}

/// Lets one more agent arrive. `before` is what those before it hold.
pub(super) fn take(network: &Network, course: &Course<'_>, before: &[f64], elastic: bool) -> Step {
    let mut held = before.to_vec();
    let demands = &course.demands[..=before.len()];
    let used = super::super::used(demands, before);
    let newcomer = before.len();
    let first = first_share(&demands[newcomer], &used, course.caps[newcomer], course.agents, elastic);
    held.push(first.0);
    let view = course.view(&held);
    let said: Vec<(f64, Hidden)> = view.inputs.iter().map(|inputs| network.score(inputs)).collect();
    let scores: Vec<f64> = said.iter().map(|(score, _)| *score).collect();
    let weights: Vec<f64> = scores.iter().map(|score| softplus(*score)).collect();
    let part = held.len() as f64 / course.agents;
    let ahead = elastic.then(|| {
        let mean = view.used.iter().sum::<f64>() / view.used.len() as f64;
        let sees = [1.0, part, course.conscience, mean - part, view.used[view.fullest] - part];
        (sees, network.ahead(&sees))
    });
    let budget = ahead.map_or(part, |(_, g)| part + g * (1.0 - part));
    let growth = grow(&mut held, &weights, demands, &course.caps[..demands.len()], budget);
    let hidden = said.into_iter().map(|(_, hidden)| hidden).collect();
    Step { view, hidden, scores, weights, ahead, first, growth, held }
}

/// The worst envy of a course: how much, at which step, who and whom.
type Worst = Option<(f64, usize, usize, usize)>;

fn worst_envy(course: &Course<'_>, steps: &[Step]) -> Worst {
    let mut worst: Worst = None;
    for (nth, step) in steps.iter().enumerate() {
        for i in 0..step.held.len() {
            for j in (0..step.held.len()).filter(|j| *j != i) {
                let envy = course.envy(&step.held, i, j);
                if envy > worst.map_or(0.0, |(most, ..)| most) {
                    worst = Some((envy, nth, i, j));
                }
            }
        }
    }
    worst
}

/// Adds the derivatives of an instance's loss, times `weight`, to `gradient`; answers the loss. The instance has no caps,
/// and every demand is above 0, so each step grows in one stretch.
pub(super) fn learn(
    network: &Network,
    instance: &Instance,
    aim: Aim,
    weight: f64,
    gradient: &mut [f64],
) -> f64 {
    let agents = instance.demands.len();
    let n = agents as f64;
    let course = Course::new(agents, &instance.demands, &instance.caps, aim.envy_weight);
    let mut steps: Vec<Step> = Vec::with_capacity(agents);
    for _ in 0..agents {
        let before = steps.last().map_or(&[][..], |step| &step.held);
        steps.push(take(network, &course, before, aim.sharing_weight.is_some()));
    }
    let worst = worst_envy(&course, &steps);
    let sharing = aim.sharing_weight.unwrap_or(0.0) / n;
    let mut loss = worst.map_or(0.0, |(envy, ..)| aim.envy_weight * envy);
    // What the loss changes by with what each holds after the step in hand.
    let mut back = vec![0.0; agents];
    for (nth, step) in steps.iter().enumerate().rev() {
        for (slope, x) in back.iter_mut().zip(&step.held) {
            *slope -= weight / n;
            loss -= x / n;
            if *x < 1.0 / n {
                *slope -= weight * sharing;
                loss += sharing * (1.0 / n - x);
            }
        }
        if let Some((_, at, i, j)) = worst
            && at == nth
        {
            back[j] += weight * aim.envy_weight * course.rate(i, j);
            back[i] -= weight * aim.envy_weight;
        }
        step_back(network, &course, step, &mut back[..=nth], gradient);
    }
    loss
}

/// Leads derivatives from what is held after a step back to what was held before it, and adds those of the parameters.
fn step_back(network: &Network, course: &Course<'_>, step: &Step, back: &mut [f64], gradient: &mut [f64]) {
    let Growth { alpha, ended_by } = step.growth;
    let mut by_weight: Vec<f64> = back.iter().map(|slope| slope * alpha).collect();
    if let Some(at) = ended_by {
        let speed: f64 =
            step.weights.iter().zip(course.demands).map(|(weight, demand)| weight * demand[at]).sum();
        let by_alpha: f64 = back.iter().zip(&step.weights).map(|(slope, weight)| slope * weight).sum();
        for ((by, slope), demand) in by_weight.iter_mut().zip(back.iter_mut()).zip(course.demands) {
            *by -= by_alpha * alpha / speed * demand[at];
            *slope -= by_alpha * demand[at] / speed;
        }
        if let Some((sees, said)) = step.ahead {
            let by = by_alpha / speed * (1.0 - sees[1]);
            let by = network.ahead_back(&sees, said, by, gradient);
            let resources = step.view.used.len();
            (0..resources).for_each(|at| course.use_back(at, by[3] / resources as f64, back));
            course.use_back(step.view.fullest, by[4], back);
        }
    }
    for (i, by) in by_weight.iter().enumerate() {
        let by = by * softplus_slope(step.scores[i]);
        let inputs: [f64; INPUTS] = network.score_back(&step.view.inputs[i], &step.hidden[i], by, gradient);
        course.view_back(&step.view, i, &inputs, back);
    }
    // A newcomer who was stopped has what the others left.
    if let (_, Some(at)) = step.first
        && let Some((own, others)) = back.split_last_mut()
        && step.first.0 > 0.0
    {
        let need = course.demands[others.len()][at];
        for (slope, demand) in others.iter_mut().zip(course.demands) {
            *slope -= *own * demand[at] / need;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::instances;
    use super::*;

    #[test]
    fn the_derivatives_are_those_of_the_loss() {
        for (seed, sharing_weight) in [(1, None), (2, Some(2.0)), (3, Some(0.1))] {
            let aim = Aim { envy_weight: 3.0, sharing_weight };
            let network = Network::random(seed);
            for instance in instances(6, 6, 3, 1.2, seed) {
                let mut gradient = vec![0.0; network.parameters().len()];
                learn(&network, &instance, aim, 1.0, &mut gradient);
                let loss = |at: usize, by: f64| {
                    let mut moved = network.clone();
                    moved.parameters_mut()[at] += by;
                    learn(&moved, &instance, aim, 1.0, &mut vec![0.0; gradient.len()])
                };
                for (at, slope) in gradient.iter().enumerate() {
                    let measured = (loss(at, 1e-6) - loss(at, -1e-6)) / 2e-6;
                    assert!(
                        (slope - measured).abs() < 1e-5 * (1.0 + measured.abs()),
                        "{at}: {slope} {measured}"
                    );
                }
            }
        }
    }
}
