//! The fair allocator on rounds of chips: teams are agents, chip types are facilities.

use super::duals::{Duals, Update};
use super::program::{Batch, Member, fractions};
use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};
use crate::water;

/// Largest number of teams: each pair is a row of the program.
const MOST_TEAMS: usize = 60;

/// Each round is a batch. \[recon\] A team's outcome is the share of the value it asked for that it gets; teams are near each
/// other that value chips alike and ask for alike parts of the supply, and near outcomes are enforced within the round.
/// Chips of a round can't be kept for the next, so capacity binds within the round's own program, and prices only go below
/// zero: a bounded subsidy for what would stay idle.
#[derive(Debug)]
pub struct FairTeams {
    lipschitz: f64,
    subsidy: f64,
    duals: Option<Duals>,
    round: usize,
}

impl FairTeams {
    /// With Lipschitz constant `lipschitz` (smaller is stricter) and regulariser weight `subsidy`.
    #[must_use]
    pub fn new(lipschitz: f64, subsidy: f64) -> Self {
        Self { lipschitz, subsidy, duals: None, round: 0 }
    }

    /// The batch of a round; a team that asks for nothing is not in it.
    #[must_use]
    pub fn batch(&self, round: &Round) -> (Batch, Vec<usize>) {
        let teams: Vec<usize> = (0..round.agents.len())
            .filter(|team| round.agents[*team].demand.iter().any(|chips| *chips > 0))
            .collect();
        let member = |team: &usize| {
            let agent = &round.agents[*team];
            let uses: Vec<f64> = agent.demand.iter().map(|chips| *chips as f64).collect();
            let rewards: Vec<f64> =
                uses.iter().enumerate().map(|(at, chips)| chips * agent.value_of(at)).collect();
            let all: f64 = rewards.iter().sum();
            let asked: f64 = uses.iter().sum();
            let supply: f64 = round.supply.iter().sum::<u64>() as f64;
            let features = vec![asked / supply.max(1.0), all / asked.max(1.0) / agent.weight];
            Member { features, rewards, uses, scale: all.max(f64::MIN_POSITIVE) }
        };
        let members = teams.iter().map(member).collect();
        let left = round.supply.iter().map(|chips| *chips as f64).collect();
        (Batch { members, left, lipschitz: self.lipschitz, exclusive: false }, teams)
    }

    /// The prices now, in credits per chip-hour; none before the first round.
    #[must_use]
    pub fn prices(&self) -> Option<&[f64]> {
        self.duals.as_ref().map(|duals| duals.prices.as_slice())
    }
}

impl Policy for FairTeams {
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        let (batch, teams) = self.batch(round);
        if teams.len() > MOST_TEAMS {
            let reason = format!("{} teams ask at once; its program takes up to {MOST_TEAMS}", teams.len());
            return Err(PolicyError::DoesNotApply { policy: "fair-online", reason });
        }
        let (subsidy, types) = (self.subsidy, round.supply.len());
        // Rates are 1: prices are per chip, and use is counted against the round's own supply.
        let duals =
            self.duals.get_or_insert_with(|| Duals::new(Update::Additive, 0.1, vec![1.0; types], subsidy));
        let parts = fractions(&batch, &duals.prices)?;
        let mut used = vec![0.0; types];
        let mut shares = vec![vec![0.0; types]; round.agents.len()];
        for ((team, member), parts) in teams.iter().zip(&batch.members).zip(&parts) {
            for (at, part) in parts.iter().enumerate() {
                shares[*team][at] = member.uses[at] * part;
                used[at] += shares[*team][at];
            }
        }
        let ratio = |(used, supply): (&f64, &u64)| if *supply > 0 { used / *supply as f64 } else { 1.0 };
        duals.learn(&used.iter().zip(&round.supply).map(ratio).collect::<Vec<f64>>());
        let first = self.round;
        self.round += 1;
        Ok(round.by_type(|at| {
            let column: Vec<f64> = shares.iter().map(|row| row[at]).collect();
            let whole = (column.iter().sum::<f64>() + 1e-6) as u64;
            water::round_down(whole.min(round.supply[at]), &column, &round.demand_for(at), first)
        }))
    }
}
