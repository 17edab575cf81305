//! What-ifs: the market cleared again with other supply, weights, incomes or teams, now or over a past day.

use serde::{Deserialize, Serialize};

use super::Comparison;
use crate::chips::Chips;
use crate::ids::{ChipTypeId, PoolId, TeamId};
use crate::instant::Instant;
use crate::money::{MicroCredits, Price};

/// One thing that is other than it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "change", rename_all = "snake_case", deny_unknown_fields)]
pub enum WhatIfChange {
    /// More or fewer chips of a type in one hand than there are in each cycle; never fewer than none.
    Chips {
        /// The chip type.
        chip_type: ChipTypeId,
        /// The pool that owns them; absent for shared chips.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pool: Option<PoolId>,
        /// How many more; below zero for fewer.
        by: i64,
    },
    /// Another reserve price of a chip type.
    Reserve {
        /// The chip type.
        chip_type: ChipTypeId,
        /// Global credits per chip-hour.
        reserve_price: Price,
    },
    /// Another weight of a pool.
    Weight {
        /// The pool.
        pool: PoolId,
        /// Global credits per hour.
        weight: MicroCredits,
    },
    /// Another income of a team.
    Income {
        /// The team.
        team: TeamId,
        /// Local credits per hour.
        income: MicroCredits,
    },
    /// A team and its bids are gone.
    WithoutTeam {
        /// The team.
        team: TeamId,
    },
    /// A team more, with one bid and no balance.
    NewTeam {
        /// Its pool.
        pool: PoolId,
        /// Local credits per hour.
        income: MicroCredits,
        /// The chip type that it bids for.
        chip_type: ChipTypeId,
        /// Chips that it bids for; it takes fewer as well.
        chips: Chips,
        /// Most it pays in local credits per chip-hour; absent is no limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<Price>,
    },
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WhatIfQuestion {
    /// What it is called; 1 to 200 characters.
    pub title: String,
    /// What is other than it is, 1 to 20 changes, which apply in their order.
    pub changes: Vec<WhatIfChange>,
    /// A past day of the organisation's zone, such as `2026-11-29`, all of whose cycles are cleared again; absent: the
    /// cycle in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
}

/// How far a what-if is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum WhatIfState {
    /// It is being computed.
    Running {
        /// Cycles done.
        done: u64,
        /// Cycles to do.
        total: u64,
    },
    /// It is there.
    Done {
        /// The market without and with the changes.
        comparison: Comparison,
    },
    /// There is no answer.
    Ended {
        /// Why: it was cancelled, it failed, or the server ended.
        note: String,
    },
}

/// A what-if.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WhatIfView {
    /// Its id: what a link names.
    pub id: String,
    /// What was asked.
    pub question: WhatIfQuestion,
    /// Who asked.
    pub by: String,
    /// When.
    pub asked_at: Instant,
    /// How far it is, and what came out.
    pub progress: WhatIfState,
}
