//! The policies by name: what each is, in two sentences, where it comes from, and how to make it.

use crate::drf::Drf;
use crate::fair_online::FairTeams;
use crate::first_come::{FirstCome, Order};
use crate::karma::Karma;
use crate::market_policy::MarketPolicy;
use crate::max_min::MaxMin;
use crate::optimum::HighestValue;
use crate::policy::{Policy, PolicyError};
use crate::proportional::Proportional;
use crate::round::{Allocation, Round};
use crate::sequential::learned::{ENVY_WEIGHT, Learned, MOST_ENVY_WEIGHT, Trained, shipped};
use crate::sequential::{CautiousLp, DynamicDrf, EqualSplit, Greedy, OneByOne};
use crate::static_share::StaticShare;

/// What a policy needs to know of a trace beside its rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Makings {
    /// Credits with which each user of Karma starts.
    pub karma_credits: u64,
    /// Income of all teams together in the market, in credits per chip and hour of supply: the mean value of a chip-hour.
    pub income_per_chip_hour: f64,
}

/// A policy that can be chosen.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name on the command line and in results.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, in two sentences.
    pub explanation: &'static str,
    /// Where it comes from; what is ours is marked \[recon\].
    pub source: &'static str,
    /// What it must have: whole jobs, or all rounds beforehand.
    pub needs: Needs,
    make: Make,
}

/// What a policy must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Rounds, one after another.
    Rounds,
    /// The jobs behind the demand.
    Jobs,
    /// All rounds before the first: demand that does not wait.
    Future,
}

/// How a policy is made.
#[derive(Clone, Copy)]
enum Make {
    Plain(fn(&Makings) -> Box<dyn Policy>),
    /// With a weight of envy λ, which its name may choose.
    Weighed(fn(f64) -> Box<dyn Policy>),
}

/// A policy by its name: `karma`, or `learned@2.5` with a weight of envy.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The policy.
    pub entry: &'static Entry,
    /// The weight of envy, where the policy has one.
    pub envy_weight: Option<f64>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).field("needs", &self.needs).finish_non_exhaustive()
    }
}

impl Entry {
    /// Whether its name may choose a weight of envy.
    #[must_use]
    pub fn has_envy_weight(&self) -> bool {
        matches!(self.make, Make::Weighed(_))
    }
}

impl Choice {
    /// The name that finds it again; equal choices have equal names.
    #[must_use]
    pub fn name(&self) -> String {
        match self.envy_weight {
            Some(by) => format!("{}@{by}", self.entry.name),
            None => self.entry.name.to_owned(),
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn title(&self) -> String {
        match self.envy_weight {
            Some(by) => format!("{}, λ = {by}", self.entry.title),
            None => self.entry.title.to_owned(),
        }
    }

    /// A fresh policy.
    #[must_use]
    pub fn make(&self, makings: &Makings) -> Box<dyn Policy> {
        match self.entry.make {
            Make::Plain(make) => make(makings),
            Make::Weighed(make) => make(self.envy_weight.unwrap_or(ENVY_WEIGHT)),
        }
    }
}

/// L of the fair allocator on teams: outcomes may differ by half the value asked for per unit of distance.
const FAIR_L: f64 = 0.5;
/// Weight of its max-min regulariser.
const FAIR_SUBSIDY: f64 = 0.1;

const KARMA_SOURCE: &str =
    "Karma, OSDI 2023 [paper]. Several chip types: credits of each are kept apart [recon].";
const SEQUENTIAL_SOURCE: &str = "Baseline of Trading Utility for Dynamic Fairness (arXiv 2606.10472): setting [paper], this form [recon].";

const LEARNED_SOURCE: &str = "Trading Utility for Dynamic Fairness (arXiv 2606.10472): aims and setting [paper]; network, decoder and training [recon].";

/// All policies.
pub const POLICIES: &[Entry] = &[
    Entry {
        name: "static",
        title: "Static shares",
        explanation: "Every team has a fixed part of the chips, by weight. What it does not use stays idle.",
        source: "The usual practice; nothing to cite.",
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(StaticShare)),
    },
    Entry {
        name: "proportional",
        title: "Proportional",
        explanation: "Every team gets the same part of what it asks for. Who asks for more gets more, so asking for too \
                      much pays.",
        source: "Folklore; nothing to cite.",
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(Proportional::default())),
    },
    Entry {
        name: "max-min",
        title: "Max-min",
        explanation: "Chips go to whoever has least by weight, until the demand is met or nothing is left. Each round \
                      stands alone: who gave way yesterday is owed nothing today.",
        source: "Bertsekas and Gallager, Data Networks, 1987; weighted, in whole chips.",
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(MaxMin::default())),
    },
    Entry {
        name: "drf",
        title: "DRF",
        explanation: "Max-min on each team's largest share of any chip type. With one chip type it is max-min.",
        source: "Dominant Resource Fairness, NSDI 2011 [paper]; what bundles leave over goes out by max-min [recon].",
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(Drf::default())),
    },
    Entry {
        name: "karma",
        title: "Karma, α = 0.5",
        explanation: "Half of a fair share is guaranteed; the rest is lent for credits, to whoever has most of them. So \
                      over time everybody gets about as many chips as they gave away.",
        source: KARMA_SOURCE,
        needs: Needs::Rounds,
        make: Make::Plain(|makings| Box::new(Karma::new(500, makings.karma_credits))),
    },
    Entry {
        name: "karma-0",
        title: "Karma, α = 0",
        explanation: "Karma with nothing guaranteed: all chips are lent for credits. It evens out totals most, and a \
                      team's share of a round least.",
        source: KARMA_SOURCE,
        needs: Needs::Rounds,
        make: Make::Plain(|makings| Box::new(Karma::new(0, makings.karma_credits))),
    },
    Entry {
        name: "karma-1",
        title: "Karma, α = 1",
        explanation: "Karma with the whole fair share guaranteed: only what donors leave idle is lent for credits. No \
                      team is ever worse off than in a static share.",
        source: KARMA_SOURCE,
        needs: Needs::Rounds,
        make: Make::Plain(|makings| Box::new(Karma::new(1_000, makings.karma_credits))),
    },
    Entry {
        name: "fifo",
        title: "First come, first served",
        explanation: "Jobs start in order of submission, on all their chips, and run to their end. A job may overtake \
                      the first in the queue if that does not delay it (EASY backfill).",
        source: "Lifka, The ANL/IBM SP Scheduling System, JSSPP 1995.",
        needs: Needs::Jobs,
        make: Make::Plain(|_| Box::new(FirstCome::new(Order::Submission))),
    },
    Entry {
        name: "priority",
        title: "Priority",
        explanation: "As first come, first served, but the waiting job whose chip-hour is worth most comes first. What \
                      runs is not interrupted.",
        source: "Usual practice, with EASY backfill (Lifka, JSSPP 1995).",
        needs: Needs::Jobs,
        make: Make::Plain(|_| Box::new(FirstCome::new(Order::Value))),
    },
    Entry {
        name: "market",
        title: "Market",
        explanation: "The pricing engine of this product: a team bids for all it can use, up to what it is worth and \
                      within its income and savings. One price clears each chip type.",
        source: "Quota Marketplace, OSDI 2026 [paper], engine as in production; the bidders' model [recon].",
        needs: Needs::Rounds,
        make: Make::Plain(|makings| Box::new(MarketPolicy::new(makings.income_per_chip_hour, false))),
    },
    Entry {
        name: "market-foresight",
        title: "Market with foresight",
        explanation: "The same engine, but each team knows all rounds and spends its whole income where value over \
                      price is best. It shows what the market can do if teams plan well.",
        source: "Quota Marketplace, OSDI 2026 [paper]; spending by proportional response [recon].",
        needs: Needs::Future,
        make: Make::Plain(|makings| Box::new(MarketPolicy::new(makings.income_per_chip_hour, true))),
    },
    Entry {
        name: "fair-online",
        title: "Fair online allocator",
        explanation: "Each round a program gives out the most value such that like teams get alike parts of what they ask \
                      for. Chips of a round can't be kept, so its prices only subsidise what would stay idle.",
        source: "Fair Online Resource Allocation (arXiv 2606.18679): method [paper], program and steps [recon].",
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(FairTeams::new(FAIR_L, FAIR_SUBSIDY))),
    },
    Entry {
        name: "dynamic-drf",
        title: "Dynamic DRF",
        explanation: "Teams come one after another within a round, and each arrival lifts everybody to a common level \
                      within the part of those who are there. Nothing is taken back.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(OneByOne::new(Box::new(DynamicDrf)))),
    },
    Entry {
        name: "cautious-lp",
        title: "Cautious LP",
        explanation: "Teams come one after another; each time a program gives as much as it can without envy and such \
                      that nobody to come can be wronged. Caution costs chips that stay idle.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(OneByOne::new(Box::new(CautiousLp)))),
    },
    Entry {
        name: "greedy",
        title: "Greedy",
        explanation: "Teams come one after another; each time as much as possible is given within the part of those who \
                      are there, to whomever. It shows what ignoring envy gains.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(OneByOne::new(Box::new(Greedy)))),
    },
    Entry {
        name: "learned",
        title: "Learned fair allocator",
        explanation: "Teams come one after another; a small network decides who grows how fast, for a weight λ that says \
                      what envy costs. Nobody who asks ever has less than an equal part.",
        source: LEARNED_SOURCE,
        needs: Needs::Rounds,
        make: Make::Weighed(learned),
    },
    Entry {
        name: "learned-elastic",
        title: "Learned, elastic",
        explanation: "The same, but it may give chips ahead of the teams to come. That uses more early, and a late team \
                      may find less than an equal part.",
        source: LEARNED_SOURCE,
        needs: Needs::Rounds,
        make: Make::Weighed(learned_elastic),
    },
    Entry {
        name: "hindsight-drf",
        title: "Hindsight DRF",
        explanation: "DRF by somebody who knows the whole round before the first team comes. No rule for teams that come \
                      one by one can share more evenly.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(OneByOne::hindsight())),
    },
    Entry {
        name: "equal-split",
        title: "Equal split",
        explanation: "Each team that asks gets the same part of the chip type it needs most, and nothing more. What that \
                      leaves stays idle.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(OneByOne::new(Box::new(EqualSplit)))),
    },
    Entry {
        name: "highest-value",
        title: "Highest value",
        explanation: "Chips go to whoever values them most, whatever becomes of the others. It is the most welfare that \
                      a round allows, and not meant to be fair.",
        source: "Greedy, which is the linear program's optimum here.",
        needs: Needs::Rounds,
        make: Make::Plain(|_| Box::new(HighestValue)),
    },
];

/// Every policy once, with the usual weight of envy where it has one.
pub fn all() -> impl Iterator<Item = Choice> {
    POLICIES.iter().map(|entry| Choice { entry, envy_weight: entry.has_envy_weight().then_some(ENVY_WEIGHT) })
}

/// A policy by its name. A weight of envy may follow an `@`: 0 to 20; without it is the usual one.
#[must_use]
pub fn find(name: &str) -> Option<Choice> {
    let (name, envy_weight) = match name.split_once('@') {
        Some((name, number)) => (name, Some(number.parse::<f64>().ok()?)),
        None => (name, None),
    };
    let known = all().find(|choice| choice.entry.name == name)?;
    match envy_weight {
        None => Some(known),
        Some(by) if known.entry.has_envy_weight() && (0.0..=MOST_ENVY_WEIGHT).contains(&by) => {
            // -0 is 0.
            Some(Choice { envy_weight: Some(by + 0.0), ..known })
        }
        Some(_) => None,
    }
}

fn learned(envy_weight: f64) -> Box<dyn Policy> {
    from_shipped("learned", |trained| Learned::strict(trained.told.clone(), envy_weight))
}

fn learned_elastic(envy_weight: f64) -> Box<dyn Policy> {
    from_shipped("learned-elastic", |trained| Learned::elastic(trained.elastic.clone(), envy_weight))
}

/// A learned rule as a policy; one that says why it refuses where the program was built with other weights.
fn from_shipped(name: &'static str, rule: impl Fn(&Trained) -> Learned) -> Box<dyn Policy> {
    match shipped() {
        Ok((trained, _)) => Box::new(OneByOne::new(Box::new(rule(trained)))),
        Err(error) => Box::new(Refusing { policy: name, reason: error.to_string() }),
    }
}

/// A policy that can't be made.
struct Refusing {
    policy: &'static str,
    reason: String,
}

impl Policy for Refusing {
    fn allocate(&mut self, _round: &Round) -> Result<Allocation, PolicyError> {
        Err(PolicyError::DoesNotApply { policy: self.policy, reason: self.reason.clone() })
    }
}
