//! The money of a replay: balances, incomes and charges, by the same arithmetic as the ledger's.

use common::money::MicroCredits;
use market::accounting::{Meter, OutOfRange};

use crate::trace::organisation::Organisation;

/// Balances and what is not booked yet.
#[derive(Debug)]
pub struct Books {
    teams: Vec<TeamBook>,
}

#[derive(Debug)]
struct TeamBook {
    income: u64,
    balance: MicroCredits,
    earned: Meter,
    /// Per chip type.
    owed: Vec<Meter>,
    all_income: MicroCredits,
    all_charges: MicroCredits,
}

impl Books {
    /// Every team starts with nothing.
    #[must_use]
    pub fn new(organisation: &Organisation) -> Self {
        let types = organisation.chip_types.len();
        let book = |income: MicroCredits| TeamBook {
            income: income.0.unsigned_abs(),
            balance: MicroCredits::ZERO,
            earned: Meter::default(),
            owed: vec![Meter::default(); types],
            all_income: MicroCredits::ZERO,
            all_charges: MicroCredits::ZERO,
        };
        Self { teams: organisation.teams.iter().map(|team| book(team.income)).collect() }
    }

    /// A team used chips of a type at a local price.
    pub fn charge(&mut self, team: usize, chip_type: usize, local_price: u64, chip_seconds: u64) {
        self.teams[team].owed[chip_type].run(local_price, chip_seconds);
    }

    /// An accounting step: credits the income of `seconds` and books what is owed.
    ///
    /// # Errors
    /// A balance leaves its range, after thousands of years of income.
    pub fn step(&mut self, seconds: u64) -> Result<(), OutOfRange> {
        for team in &mut self.teams {
            team.earned.run(team.income, seconds);
            let income = team.earned.book()?;
            let mut charges = MicroCredits::ZERO;
            for owed in &mut team.owed {
                charges = charges.checked_add(owed.book()?).ok_or(OutOfRange)?;
            }
            team.all_income = team.all_income.checked_add(income).ok_or(OutOfRange)?;
            team.all_charges = team.all_charges.checked_add(charges).ok_or(OutOfRange)?;
            team.balance = team.balance.checked_add(income).ok_or(OutOfRange)?;
            team.balance = team.balance.checked_sub(charges).ok_or(OutOfRange)?;
        }
        Ok(())
    }

    /// A team's balance in local credits.
    #[must_use]
    pub fn balance(&self, team: usize) -> MicroCredits {
        self.teams[team].balance
    }

    /// All income booked to a team.
    #[must_use]
    pub fn income(&self, team: usize) -> MicroCredits {
        self.teams[team].all_income
    }

    /// All charges booked to a team.
    #[must_use]
    pub fn charges(&self, team: usize) -> MicroCredits {
        self.teams[team].all_charges
    }
}
