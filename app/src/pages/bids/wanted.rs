//! What the buttons of a queue ask for: read from the same fields by the browser part, which asks before a bid ends, and
//! by the server.

use common::api::BidChange;
use common::ids::BidId;

use crate::fields::Fields;

/// The buttons that change bids, by the names of their fields.
pub(crate) const BUTTONS: [(&str, BidChange); 3] =
    [("pause", BidChange::Pause), ("resume", BidChange::Resume), ("cancel", BidChange::Cancel)];

/// The button that puts bids at the head of the queue, by the name of its field.
pub(crate) const FIRST: &str = "first";

/// The value of a button that means all chosen bids; otherwise it is the id of one.
pub(crate) const CHOSEN: &str = "chosen";

/// The fields that name the bids of which it was asked whether they shall end; others may have been chosen meanwhile.
pub(crate) const ENDS: &str = "end";

/// A change of bids that a button asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// What is done.
    pub(crate) change: BidChange,
    /// To which bids; may be none, when none was chosen.
    pub(crate) bids: Vec<BidId>,
    /// The person was asked and said yes.
    pub(crate) sure: bool,
}

/// What the pressed button asks for; `None` where no such button was pressed.
pub(crate) fn wanted(fields: &Fields) -> Option<Wanted> {
    let chosen = |text: &str| text.parse().ok();
    if fields.get("sure") == "yes" {
        let bids = fields.all(ENDS).filter_map(chosen).collect();
        return Some(Wanted { change: BidChange::Cancel, bids, sure: true });
    }
    let (change, value) = BUTTONS.into_iter().find_map(|(name, change)| {
        let value = fields.get(name);
        (!value.is_empty()).then_some((change, value))
    })?;
    Some(Wanted { change, bids: meant(fields, value), sure: false })
}

/// The bids that are to stand first, in their order; `None` where no such button was pressed.
pub(crate) fn wanted_first(fields: &Fields) -> Option<Vec<BidId>> {
    let value = fields.get(FIRST);
    (!value.is_empty()).then(|| meant(fields, value))
}

/// The bids that a button's value means.
fn meant(fields: &Fields, value: &str) -> Vec<BidId> {
    if value == CHOSEN {
        fields.all("bid").filter_map(|id| id.parse().ok()).collect()
    } else {
        value.parse().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_means_its_bid_or_the_chosen_ones() {
        let wanted = |body: &str| wanted(&Fields::parse(body));
        let ids = |wanted: Option<Wanted>| {
            wanted.map(|wanted| wanted.bids.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(ids(wanted("bid=a&bid=b&pause=chosen")), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(ids(wanted("bid=a&bid=b&resume=c")), Some(vec!["c".to_owned()]));
        assert_eq!(ids(wanted("cancel=chosen")), Some(Vec::new()));
        assert_eq!(wanted("bid=a"), None);
        assert_eq!(ids(wanted("bid=a&end=b&end=c&sure=yes")), Some(vec!["b".to_owned(), "c".to_owned()]));
        assert!(wanted("cancel=a").is_some_and(|wanted| !wanted.sure));
        let first = |body: &str| wanted_first(&Fields::parse(body)).map(|bids| bids.len());
        assert_eq!(
            (first("bid=a&bid=b&first=chosen"), first("bid=a&first=c"), first("bid=a")),
            (Some(2), Some(1), None)
        );
    }
}
