//! What a page of bids shows, and what became of a form on it.

use common::api::{BidChipType, BidDetail, BidFilter, BidsView, TeamFunds, TeamName};
use common::ids::BidId;
use common::instant::Instant;
use common::problem::FieldProblem;

use crate::fields::Fields;

/// What a page of bids shows.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    /// A team's bids.
    List(Box<List>),
    /// One bid.
    Opened(Box<Opened>),
    /// A new bid.
    Form(Box<Form>),
}

/// A team's queue, or its bids that are over.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// Teams to choose from: the viewer's own, and the one that is shown.
    pub(crate) teams: Vec<TeamName>,
    /// Which bids are shown.
    pub(crate) show: BidFilter,
    /// Where the page before ended; absent on the first page.
    pub(crate) cursor: Option<String>,
    /// The bids.
    pub(crate) view: BidsView,
    /// What a form without scripts came to.
    pub(crate) reply: Option<Reply>,
}

/// One bid.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    /// The bid.
    pub(crate) detail: BidDetail,
    /// Where the history of the page before ended.
    pub(crate) cursor: Option<String>,
    /// The form that changes it, where it is open.
    pub(crate) form: Option<Form>,
    /// What a form without scripts came to.
    pub(crate) reply: Option<Reply>,
}

/// The form of a new bid, or of a change.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// The address it is sent to.
    pub(crate) action: String,
    /// The team whose bid it is.
    pub(crate) team: TeamName,
    /// The viewer may place and change bids of the team.
    pub(crate) may_bid: bool,
    /// The bid it changes; absent: it places a new one.
    pub(crate) changes: Option<BidId>,
    /// The team's money now.
    pub(crate) funds: TeamFunds,
    /// Chip types to choose from.
    pub(crate) chip_types: Vec<BidChipType>,
    /// When the next cycle begins.
    pub(crate) next_at: Instant,
    /// What its fields hold.
    pub(crate) fields: Fields,
    /// What a form without scripts came to.
    pub(crate) reply: Option<Reply>,
}

/// What became of a form that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// It is done.
    Done(Done),
    /// Nothing was changed.
    Refused(Refused),
    /// Nothing was asked but what a bid would do.
    Looked(Look),
    /// These bids would end; whether that is meant must be said first.
    Asked(Vec<BidId>),
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// The address to go on at.
    pub(crate) to: String,
    /// What was done, in a sentence.
    pub(crate) said: String,
}

/// Why nothing was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The HTTP status.
    pub(crate) status: u16,
    /// In a few words.
    pub(crate) title: String,
    /// What to do.
    pub(crate) detail: String,
    /// The fields at fault, by their names in the form.
    pub(crate) errors: Vec<FieldProblem>,
    /// Somebody changed the bid since the form was opened.
    pub(crate) conflict: Option<Conflict>,
}

/// A bid that is other than when its form was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Its newest version.
    pub(crate) version: u64,
    /// What the form would hold if it were opened now, encoded.
    pub(crate) original: String,
    /// What is other.
    pub(crate) changes: Vec<Changed>,
}

/// A term of a bid that is other than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    /// What it is called.
    pub(crate) label: String,
    /// What it was.
    pub(crate) before: String,
    /// What it is.
    pub(crate) now: String,
}

/// What a bid would do, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// The cycle it is computed on.
    pub(crate) cycle: u64,
    /// Its figures; none while the form can't be read.
    pub(crate) lines: Vec<Line>,
    /// Fields at fault that are filled in already.
    pub(crate) errors: Vec<FieldProblem>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// What it is.
    pub(crate) label: String,
    /// With its unit.
    pub(crate) value: String,
    /// More about it; may be empty.
    pub(crate) note: String,
}
