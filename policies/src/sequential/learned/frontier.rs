//! The frontier: what each weight of envy costs and saves, beside the rules without learning.

use super::super::{BASELINES, Instance, Rule, RuleFor, Score, instances, misreport_regret, score};
use super::weights::{Figure, Kind, Trained};
use super::{AGENTS, HELD_OUT, HELD_OUT_SEED, Learned, MOST_ENVY_WEIGHT, RESOURCES, SIGMA};
use crate::policy::PolicyError;

/// The weights of envy that the page offers: 0 to 20 by halves.
fn offered() -> impl Iterator<Item = f64> + Clone {
    (0..=(2.0 * MOST_ENVY_WEIGHT) as u32).map(|halves| f64::from(halves) / 2.0)
}

/// The weights of envy in the evaluation's table.
const JUDGED: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 10.0, 20.0];

/// Instances of an evaluation's seed on which lies are tried: each is run 450 times.
const LIED_ON: usize = 5;

/// Half of a 95 % interval of a mean of ten, in standard errors: Student's t with nine degrees of freedom.
const T_OF_TEN: f64 = 2.262;

/// Seeds of the evaluation, none of which training or choice ever saw.
const FRESH: std::ops::Range<u64> = 70_001..70_011;

/// A rule of some kind, and its weight of envy.
struct Judged<'a> {
    kind: Kind,
    title: &'static str,
    envy_weight: Option<f64>,
    rule: Box<RuleFor<'a>>,
}

fn baselines<'a>() -> impl Iterator<Item = Judged<'a>> {
    BASELINES.iter().map(|baseline| Judged {
        kind: Kind::Baseline,
        title: baseline.title,
        envy_weight: None,
        rule: Box::new(baseline.rule),
    })
}

fn learned(trained: &Trained, weights: impl Iterator<Item = f64> + Clone) -> Vec<Judged<'_>> {
    let one = |kind, title, envy_weight, rule: Learned| Judged {
        kind,
        title,
        envy_weight: Some(envy_weight),
        rule: Box::new(move |_| Box::new(rule.clone()) as Box<dyn Rule>),
    };
    let told = weights
        .clone()
        .map(|by| one(Kind::Told, "Learned, told λ", by, Learned::strict(trained.told.clone(), by)));
    let elastic = weights
        .map(|by| one(Kind::Elastic, "Learned, elastic", by, Learned::elastic(trained.elastic.clone(), by)));
    let fixed = trained.fixed.iter().map(|(by, network)| {
        one(Kind::Fixed, "Learned for one λ", *by, Learned::strict(network.clone(), *by))
    });
    told.chain(fixed).chain(elastic).collect()
}

/// The figures of all rules on the held-out instances, as a file of weights has them.
///
/// # Errors
/// As [`Rule::arrive`].
pub fn figures_of(trained: &Trained) -> Result<Vec<Figure>, PolicyError> {
    let held_out = instances(HELD_OUT, AGENTS, RESOURCES, SIGMA, HELD_OUT_SEED);
    let rounded = |value: f64| (value * 1e5).round() / 1e5;
    baselines()
        .chain(learned(trained, offered()))
        .map(|judged| {
            let of = score(&held_out, judged.rule.as_ref())?;
            Ok(Figure {
                kind: judged.kind,
                title: judged.title.to_owned(),
                envy_weight: judged.envy_weight,
                utility: rounded(of.utility),
                envy: rounded(of.envy),
                sharing_loss: rounded(of.sharing_loss),
            })
        })
        .collect()
}

/// Of some figures those of a kind.
pub fn points(figures: &[Figure], kind: Kind) -> impl Iterator<Item = &Figure> {
    figures.iter().filter(move |figure| figure.kind == kind)
}

/// A mean over ten seeds with half of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half of its interval.
    pub half: f64,
}

/// A row of the evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What kind of rule.
    pub kind: Kind,
    /// Its name for people.
    pub title: &'static str,
    /// The weight of envy, where it has one.
    pub envy_weight: Option<f64>,
    /// Which file of weights, from 0 on.
    pub training: Option<usize>,
    /// As [`Score::utility`].
    pub utility: Mean,
    /// Utility over that of dynamic DRF on the same instances, less 1.
    pub gain: Mean,
    /// As [`Score::envy`].
    pub envy: Mean,
    /// Worst envy less that of dynamic DRF on the same instances.
    pub envy_change: Mean,
    /// As [`Score::sharing_loss`].
    pub sharing_loss: Mean,
    /// The most that anybody ever lacked of `1/n`.
    pub most_sharing_loss: f64,
    /// As [`misreport_regret`].
    pub regret: Mean,
}

fn mean(of: &[f64]) -> Mean {
    let count = of.len() as f64;
    let mean = of.iter().sum::<f64>() / count;
    let variance = of.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>() / (count - 1.0);
    Mean { mean, half: T_OF_TEN * (variance / count).sqrt() }
}

/// Judges all rules on ten fresh seeds of 400 instances each. `watch` hears how many rules of how many are done.
///
/// # Errors
/// As [`Rule::arrive`].
pub fn evaluate(trainings: &[Trained], watch: &mut dyn FnMut(usize, usize)) -> Result<Vec<Row>, PolicyError> {
    let fresh: Vec<Vec<Instance>> =
        FRESH.map(|seed| instances(HELD_OUT, AGENTS, RESOURCES, SIGMA, seed)).collect();
    let mut all: Vec<(Option<usize>, Judged<'_>)> = baselines().map(|judged| (None, judged)).collect();
    for (nth, trained) in trainings.iter().enumerate() {
        all.extend(learned(trained, JUDGED.into_iter()).into_iter().map(|judged| (Some(nth), judged)));
    }
    let mut rows = Vec::with_capacity(all.len());
    let mut reference: Vec<Score> = Vec::new();
    for (nth, (training, judged)) in all.iter().enumerate() {
        let rule = judged.rule.as_ref();
        let scores = fresh.iter().map(|all| score(all, rule)).collect::<Result<Vec<_>, _>>()?;
        let regrets = FRESH
            .zip(&fresh)
            .map(|(seed, all)| misreport_regret(&all[..LIED_ON], rule, seed))
            .collect::<Result<Vec<_>, _>>()?;
        if nth == 0 {
            reference.clone_from(&scores);
        }
        let over = |of: &dyn Fn(&Score, &Score) -> f64| -> Mean {
            mean(&scores.iter().zip(&reference).map(|(score, drf)| of(score, drf)).collect::<Vec<_>>())
        };
        rows.push(Row {
            kind: judged.kind,
            title: judged.title,
            envy_weight: judged.envy_weight,
            training: *training,
            utility: over(&|score, _| score.utility),
            gain: over(&|score, drf| score.utility / drf.utility - 1.0),
            envy: over(&|score, _| score.envy),
            envy_change: over(&|score, drf| score.envy - drf.envy),
            sharing_loss: over(&|score, _| score.sharing_loss),
            most_sharing_loss: scores.iter().map(|score| score.most_sharing_loss).fold(0.0, f64::max),
            regret: mean(&regrets),
        });
        watch(nth + 1, all.len());
    }
    Ok(rows)
}
