//! The learned rule: what is shipped does what its papers say, on instances that training never saw.

use policies::catalogue::{Makings, find};
use policies::round::Round;
use policies::sequential::learned::{
    AGENTS, Figure, HELD_OUT, HELD_OUT_SEED, Kind, Learned, Lesson, Provenance, RESOURCES, SHIPPED, SIGMA,
    Trained, WeightsError, points, train, train_all,
};
use policies::sequential::{DynamicDrf, Instance, Rule, Score, instances, misreport_regret, roll_out, score};

fn shipped(nth: usize) -> (Trained, Provenance) {
    Trained::from_bytes(SHIPPED[nth]).unwrap()
}

fn judged(all: &[Instance], rule: &Learned) -> Score {
    score(all, &|_| Box::new(rule.clone())).unwrap()
}

#[test]
fn what_is_shipped_has_the_scores_that_it_documents() {
    let held_out = instances(HELD_OUT, AGENTS, RESOURCES, SIGMA, HELD_OUT_SEED);
    for (nth, _) in SHIPPED.iter().enumerate() {
        let (trained, provenance) = shipped(nth);
        assert_eq!(provenance.seed, nth as u64 + 1);
        assert_eq!(provenance.command, format!("quota-marketplace lab train allocator --seed {}", nth + 1));
        assert!(
            !provenance.commit.contains("dirty") && provenance.commit.len() >= 12,
            "{}",
            provenance.commit
        );
        let documents = |kind, by: f64, rule: &Learned| {
            let of = |figure: &&Figure| figure.envy_weight == Some(by);
            let figure = points(&provenance.figures, kind).find(of).unwrap();
            let score = judged(&held_out, rule);
            for (found, said) in [
                (score.utility, figure.utility),
                (score.envy, figure.envy),
                (score.sharing_loss, figure.sharing_loss),
            ] {
                assert!((found - said).abs() < 2e-5, "{score:?} {figure:?}");
            }
            score
        };
        for by in [0.0, 3.0, 20.0] {
            let strict = documents(Kind::Told, by, &Learned::strict(trained.told.clone(), by));
            assert_eq!(strict.most_sharing_loss, 0.0, "strict is strict");
            assert!(strict.pareto_loss < 1e-12, "{strict:?}");
            documents(Kind::Elastic, by, &Learned::elastic(trained.elastic.clone(), by));
        }
        for (by, network) in &trained.fixed {
            let fixed = documents(Kind::Fixed, *by, &Learned::strict(network.clone(), *by));
            assert_eq!(fixed.most_sharing_loss, 0.0);
        }
    }
}

#[test]
fn more_than_dynamic_drf_gives_at_no_more_envy_on_every_training_seed() {
    let all = instances(HELD_OUT, AGENTS, RESOURCES, SIGMA, 81_001);
    let drf = score(&all, &|_| Box::new(DynamicDrf)).unwrap();
    for (nth, _) in SHIPPED.iter().enumerate() {
        let learned = judged(&all, &Learned::strict(shipped(nth).0.told, 4.0));
        assert!(learned.utility >= 1.04 * drf.utility, "{learned:?} {drf:?}");
        assert!(learned.envy <= drf.envy, "{learned:?} {drf:?}");
    }
    let (trained, _) = shipped(0);
    let scores: Vec<Score> =
        [0.0, 1.0, 4.0, 10.0].map(|by| judged(&all, &Learned::strict(trained.told.clone(), by))).to_vec();
    for pair in scores.windows(2) {
        assert!(pair[1].utility < pair[0].utility && pair[1].envy < pair[0].envy, "a frontier: {scores:?}");
    }
    let ahead = judged(&all, &Learned::elastic(trained.elastic, 1.0));
    assert!(ahead.utility > scores[1].utility && ahead.sharing_loss > 0.0, "{ahead:?}");
}

#[test]
fn lying_gains_nothing_from_dynamic_drf_and_something_from_the_network() {
    let few = instances(2, AGENTS, RESOURCES, SIGMA, 9);
    let honest = misreport_regret(&few, &|_| Box::new(DynamicDrf), 1).unwrap();
    assert!(honest < 1e-6, "{honest}");
    let rule = Learned::strict(shipped(0).0.told, 4.0);
    let gain = misreport_regret(&few, &|_| Box::new(rule.clone()), 1).unwrap();
    assert!(gain > 0.0 && gain < 0.1, "{gain}");
}

#[test]
fn the_same_seed_trains_the_same_networks() {
    let lesson = Lesson { envy_weight: None, sharing_weight: Some(10.0), steps: 5, seed: 3 };
    let once = train(&lesson, &mut || true).unwrap();
    assert_eq!(once, train(&lesson, &mut || true).unwrap());
    assert_ne!(once, train(&Lesson { seed: 4, ..lesson }, &mut || true).unwrap());
    assert_eq!(train(&lesson, &mut || false), None, "who watches can end it");
    assert!(train_all(1, 2, &|done, all| done < all / 1_000).is_none());
}

#[test]
fn a_file_of_weights_is_read_as_it_was_written_and_refused_when_it_is_not_one() {
    let (trained, provenance) = shipped(0);
    let bytes = trained.to_bytes(&provenance).unwrap();
    assert_eq!(bytes, SHIPPED[0], "the same networks give the same file");
    let refused = |bytes: &[u8]| Trained::from_bytes(bytes).unwrap_err();
    assert!(matches!(refused(&bytes[..bytes.len() - 1]), WeightsError::Unreadable(_)));
    assert!(matches!(refused(b""), WeightsError::Unreadable(_)));
    let newer = Provenance { format: 2, ..provenance.clone() };
    let said = refused(&trained.to_bytes(&newer).unwrap()).to_string();
    assert_eq!(
        said,
        "the file has form 2, and this version reads form 1; train again with `lab train allocator`"
    );
    let more = Provenance { fixed: vec![0.0, 3.5], ..provenance.clone() };
    let said = refused(&trained.to_bytes(&more).unwrap()).to_string();
    assert_eq!(said, "the network \"fixed-3.5\" is missing");
    let mut broken = bytes;
    let end = broken.len();
    broken[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(refused(&broken).to_string().contains("has a number that is not finite"));
}

/// One round for three teams and two chip types, of which not everybody needs both.
const ROUND: &str =
    r#"{"supply": [12, 8], "agents": [{"demand": [6, 0]}, {"demand": [9, 4]}, {"demand": [2, 8]}]}"#;

#[test]
fn on_rounds_of_chips_nothing_is_wasted_and_caps_hold() {
    let round: Round = serde_json::from_str(ROUND).unwrap();
    let makings = Makings { karma_credits: 1, income_per_chip_hour: 1.0 };
    for name in ["learned@0", "learned", "learned@20", "learned-elastic@1"] {
        let given = find(name).unwrap().make(&makings).allocate(&round).unwrap().chips;
        for (agent, chips) in round.agents.iter().zip(&given) {
            assert!(chips.iter().zip(&agent.demand).all(|(got, asked)| got <= asked), "{name} {given:?}");
        }
        let sum = |at: usize| given.iter().map(|chips| chips[at]).sum::<u64>();
        assert!(sum(0) <= 12 && sum(1) <= 8, "{name} {given:?}");
        assert!(sum(0) >= 11 || sum(1) >= 7, "{name} leaves chips that somebody wants: {given:?}");
    }
    // The first team's cap is a third of what it may have; the others share what it leaves.
    let instance = Instance {
        demands: vec![vec![1.0, 0.5], vec![0.5, 1.0], vec![1.0, 1.0]],
        caps: vec![0.1, f64::INFINITY, f64::INFINITY],
    };
    let rule = Learned::strict(shipped(0).0.told, 4.0);
    let steps = roll_out(&instance, &rule as &dyn Rule).unwrap();
    assert!(steps.iter().all(|held| held[0] == 0.1), "{steps:?}");
    let last = &steps[2];
    let fullest =
        (0..2).map(|at| instance.demands.iter().zip(last).map(|(need, x)| need[at] * x).sum::<f64>());
    assert!((fullest.fold(0.0, f64::max) - 1.0).abs() < 1e-9, "{last:?}");
}
