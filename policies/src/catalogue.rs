//! The policies by name: what each is, in two sentences, where it comes from, and how to make it.

use crate::drf::Drf;
use crate::fair_online::FairTeams;
use crate::first_come::{FirstCome, Order};
use crate::karma::Karma;
use crate::market_policy::MarketPolicy;
use crate::max_min::MaxMin;
use crate::optimum::HighestValue;
use crate::policy::Policy;
use crate::proportional::Proportional;
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
    make: fn(&Makings) -> Box<dyn Policy>,
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

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).field("needs", &self.needs).finish_non_exhaustive()
    }
}

impl Entry {
    /// A fresh policy.
    #[must_use]
    pub fn make(&self, makings: &Makings) -> Box<dyn Policy> {
        (self.make)(makings)
    }
}

/// L of the fair allocator on teams: outcomes may differ by half the value asked for per unit of distance.
const FAIR_L: f64 = 0.5;
/// Weight of its max-min regulariser.
const FAIR_SUBSIDY: f64 = 0.1;

const KARMA_SOURCE: &str =
    "Karma, OSDI 2023 [paper]. Several chip types: credits of each are kept apart [recon].";
const SEQUENTIAL_SOURCE: &str = "Baseline of Trading Utility for Dynamic Fairness (arXiv 2606.10472): setting [paper], this form [recon].";

/// All policies.
pub const POLICIES: &[Entry] = &[
    Entry {
        name: "static",
        title: "Static shares",
        explanation: "Every team has a fixed part of the chips, by weight. What it does not use stays idle.",
        source: "The usual practice; nothing to cite.",
        needs: Needs::Rounds,
        make: |_| Box::new(StaticShare),
    },
    Entry {
        name: "proportional",
        title: "Proportional",
        explanation: "Every team gets the same part of what it asks for. Who asks for more gets more, so asking for too \
                      much pays.",
        source: "Folklore; nothing to cite.",
        needs: Needs::Rounds,
        make: |_| Box::new(Proportional::default()),
    },
    Entry {
        name: "max-min",
        title: "Max-min",
        explanation: "Chips go to whoever has least by weight, until the demand is met or nothing is left. Each round \
                      stands alone: who gave way yesterday is owed nothing today.",
        source: "Bertsekas and Gallager, Data Networks, 1987; weighted, in whole chips.",
        needs: Needs::Rounds,
        make: |_| Box::new(MaxMin::default()),
    },
    Entry {
        name: "drf",
        title: "DRF",
        explanation: "Max-min on each team's largest share of any chip type. With one chip type it is max-min.",
        source: "Dominant Resource Fairness, NSDI 2011 [paper]; what bundles leave over goes out by max-min [recon].",
        needs: Needs::Rounds,
        make: |_| Box::new(Drf::default()),
    },
    Entry {
        name: "karma",
        title: "Karma, α = 0.5",
        explanation: "Half of a fair share is guaranteed; the rest is lent for credits, to whoever has most of them. So \
                      over time everybody gets about as many chips as they gave away.",
        source: KARMA_SOURCE,
        needs: Needs::Rounds,
        make: |makings| Box::new(Karma::new(500, makings.karma_credits)),
    },
    Entry {
        name: "karma-0",
        title: "Karma, α = 0",
        explanation: "Karma with nothing guaranteed: all chips are lent for credits. It evens out totals most, and a \
                      team's share of a round least.",
        source: KARMA_SOURCE,
        needs: Needs::Rounds,
        make: |makings| Box::new(Karma::new(0, makings.karma_credits)),
    },
    Entry {
        name: "karma-1",
        title: "Karma, α = 1",
        explanation: "Karma with the whole fair share guaranteed: only what donors leave idle is lent for credits. No \
                      team is ever worse off than in a static share.",
        source: KARMA_SOURCE,
        needs: Needs::Rounds,
        make: |makings| Box::new(Karma::new(1_000, makings.karma_credits)),
    },
    Entry {
        name: "fifo",
        title: "First come, first served",
        explanation: "Jobs start in order of submission, on all their chips, and run to their end. A job may overtake \
                      the first in the queue if that does not delay it (EASY backfill).",
        source: "Lifka, The ANL/IBM SP Scheduling System, JSSPP 1995.",
        needs: Needs::Jobs,
        make: |_| Box::new(FirstCome::new(Order::Submission)),
    },
    Entry {
        name: "priority",
        title: "Priority",
        explanation: "As first come, first served, but the waiting job whose chip-hour is worth most comes first. What \
                      runs is not interrupted.",
        source: "Usual practice, with EASY backfill (Lifka, JSSPP 1995).",
        needs: Needs::Jobs,
        make: |_| Box::new(FirstCome::new(Order::Value)),
    },
    Entry {
        name: "market",
        title: "Market",
        explanation: "The pricing engine of this product: a team bids for all it can use, up to what it is worth and \
                      within its income and savings. One price clears each chip type.",
        source: "Quota Marketplace, OSDI 2026 [paper], engine as in production; the bidders' model [recon].",
        needs: Needs::Rounds,
        make: |makings| Box::new(MarketPolicy::new(makings.income_per_chip_hour, false)),
    },
    Entry {
        name: "market-foresight",
        title: "Market with foresight",
        explanation: "The same engine, but each team knows all rounds and spends its whole income where value over \
                      price is best. It shows what the market can do if teams plan well.",
        source: "Quota Marketplace, OSDI 2026 [paper]; spending by proportional response [recon].",
        needs: Needs::Future,
        make: |makings| Box::new(MarketPolicy::new(makings.income_per_chip_hour, true)),
    },
    Entry {
        name: "fair-online",
        title: "Fair online allocator",
        explanation: "Each round a program gives out the most value such that like teams get alike parts of what they ask \
                      for. Chips of a round can't be kept, so its prices only subsidise what would stay idle.",
        source: "Fair Online Resource Allocation (arXiv 2606.18679): method [paper], program and steps [recon].",
        needs: Needs::Rounds,
        make: |_| Box::new(FairTeams::new(FAIR_L, FAIR_SUBSIDY)),
    },
    Entry {
        name: "dynamic-drf",
        title: "Dynamic DRF",
        explanation: "Teams come one after another within a round, and each arrival lifts everybody to a common level \
                      within the part of those who are there. Nothing is taken back.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: |_| Box::new(OneByOne::new(Box::new(DynamicDrf))),
    },
    Entry {
        name: "cautious-lp",
        title: "Cautious LP",
        explanation: "Teams come one after another; each time a program gives as much as it can without envy and such \
                      that nobody to come can be wronged. Caution costs chips that stay idle.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: |_| Box::new(OneByOne::new(Box::new(CautiousLp))),
    },
    Entry {
        name: "greedy",
        title: "Greedy",
        explanation: "Teams come one after another; each time as much as possible is given within the part of those who \
                      are there, to whomever. It shows what ignoring envy gains.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: |_| Box::new(OneByOne::new(Box::new(Greedy))),
    },
    Entry {
        name: "hindsight-drf",
        title: "Hindsight DRF",
        explanation: "DRF by somebody who knows the whole round before the first team comes. No rule for teams that come \
                      one by one can share more evenly.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: |_| Box::new(OneByOne::hindsight()),
    },
    Entry {
        name: "equal-split",
        title: "Equal split",
        explanation: "Each team that asks gets the same part of the chip type it needs most, and nothing more. What that \
                      leaves stays idle.",
        source: SEQUENTIAL_SOURCE,
        needs: Needs::Rounds,
        make: |_| Box::new(OneByOne::new(Box::new(EqualSplit))),
    },
    Entry {
        name: "highest-value",
        title: "Highest value",
        explanation: "Chips go to whoever values them most, whatever becomes of the others. It is the most welfare that \
                      a round allows, and not meant to be fair.",
        source: "Greedy, which is the linear program's optimum here.",
        needs: Needs::Rounds,
        make: |_| Box::new(HighestValue),
    },
];

/// A policy by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    POLICIES.iter().find(|entry| entry.name == name)
}
