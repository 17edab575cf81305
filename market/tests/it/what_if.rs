//! What-ifs are the same clearing on an edited snapshot.

use common::chips::Chips;
use common::money::{MicroCredits, Price};
use market::{Edit, run_auction, what_if};

use crate::support::{contest, price};

#[test]
fn what_if_answers_are_clearings_of_the_edited_snapshot() {
    let snapshot = contest();
    let (h100, a, b) =
        (snapshot.chip_types[0].id.clone(), snapshot.pools[0].id.clone(), snapshot.teams[1].id.clone());
    let reference = |edits: &[Edit]| {
        let said = what_if(&snapshot, edits).unwrap();
        assert_eq!(said.before, run_auction(&snapshot).unwrap());
        assert_eq!(said.after, run_auction(&snapshot.edited(edits).unwrap()).unwrap());
        said.after.chip_types[0].reference_price
    };
    assert_eq!(reference(&[]), Some(price("3.20")));
    assert_eq!(reference(&[Edit::Shared { chip_type: h100.clone(), chips: Chips(17) }]), Some(Price(0)));
    assert_eq!(
        reference(&[Edit::Owned { pool: a.clone(), chip_type: h100.clone(), chips: Chips(9) }]),
        Some(Price(0))
    );
    let floor = Edit::Reserve { chip_type: h100.clone(), price: price("4.00") };
    assert_eq!(reference(&[floor]), Some(price("4.00")));
    assert_eq!(reference(&[Edit::Weight { pool: a.clone(), weight: MicroCredits::ZERO }]), Some(Price(0)));
    assert_eq!(what_if(&snapshot, &[Edit::WithoutTeam(b.clone())]).unwrap().after.teams.len(), 1);

    let error = what_if(&snapshot, &[Edit::WithoutTeam(b.clone()), Edit::WithoutTeam(b)]).unwrap_err();
    assert_eq!(error.to_string(), "edits[1].team is \"b\", but no team of the snapshot has this id");
}
