//! What one team asks for, while its queue is walked: the makings of its demand curves.

use crate::curve::NO_LIMIT;

/// A bid with a limit. One number, so that sorting is fast: by chip type, then from the highest limit down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ask(u128);

impl Ask {
    fn new(chip_type: u32, limit: u64, chips: u32) -> Self {
        Self(u128::from(chip_type) << 96 | u128::from(!limit) << 32 | u128::from(chips))
    }

    pub(crate) const fn chip_type(self) -> u32 {
        (self.0 >> 96) as u32
    }

    pub(crate) const fn limit(self) -> u64 {
        !((self.0 >> 32) as u64)
    }

    pub(crate) const fn chips(self) -> u64 {
        (self.0 & u32::MAX as u128) as u64
    }
}

/// One team's asks. Kept from team to team for its space.
#[derive(Debug)]
pub(crate) struct Asks {
    /// Chip types asked for.
    pub(crate) chip_types: Vec<u32>,
    /// All chips asked for, by chip type.
    pub(crate) chips: Vec<u64>,
    /// Those of bids without a limit, by chip type.
    pub(crate) unlimited: Vec<u64>,
    /// Bids with a limit.
    pub(crate) limited: Vec<Ask>,
}

impl Asks {
    pub(crate) fn new(chip_types: usize) -> Self {
        let zeros = vec![0; chip_types];
        Self { chip_types: Vec::new(), chips: zeros.clone(), unlimited: zeros, limited: Vec::new() }
    }

    pub(crate) fn add(&mut self, chip_type: u32, limit: u64, chips: u32) {
        let place = chip_type as usize;
        if self.chips[place] == 0 {
            self.chip_types.push(chip_type);
        }
        self.chips[place] += u64::from(chips);
        if limit == NO_LIMIT {
            self.unlimited[place] += u64::from(chips);
        } else {
            self.limited.push(Ask::new(chip_type, limit, chips));
        }
    }
}
