//! Logs as people have them, good and bad.

use super::*;

const NOTHING: Context<'static> = Context { per_step: None, known: &[] };

fn refusal(log: &str) -> String {
    read(log, &[], NOTHING).unwrap_err()
}

#[test]
fn every_form_of_a_log_says_the_same() {
    let want = vec![
        PlanLoss { step: 10, chip_hours: 0.5, loss: 4.0 },
        PlanLoss { step: 20, chip_hours: 1.0, loss: 3.0 },
        PlanLoss { step: 30, chip_hours: 1.5, loss: 2.5 },
    ];
    for log in [
        "step,loss,chip_hours\n10,4,0.5\n20,3.0,1\n30,2.5,1.5\n",
        "Chip-Hours;Step;Train loss;lr\r\n0.5;10;4;1e-3\r\n1;20;3;1e-3\r\n1.5;30;2.5;1e-3\r\n",
        "10 4 0.5\n20 3 1\n\n30 2.5 1.5",
        "{\"step\":10,\"loss\":4,\"chip_hours\":0.5}\n{\"loss\":3,\"step\":20,\"chip_hours\":1,\"lr\":0.1}\n{\"step\":30,\"loss\":2.5,\"chip_hours\":1.5}",
        "[{\"step\":10,\"loss\":4,\"gpu_hours\":0.5},{\"step\":20,\"loss\":3,\"gpu_hours\":1},{\"step\":30,\"loss\":2.5,\"gpu_hours\":1.5}]",
        "\u{feff}step\tloss\tchip_seconds\n10\t4\t1800\n20\t3\t3600\n30\t2.5\t5400",
    ] {
        assert_eq!(read(log, &[], NOTHING).as_deref(), Ok(want.as_slice()), "{log}");
    }
    let per_step = Context { per_step: Some(0.05), known: &[] };
    let board = "Wall time,Step,Value\n1764507600.1,10,4\n1764507700.2,20,3\n1764507800.3,30,2.5\n";
    assert_eq!(read(board, &[], per_step).as_deref(), Ok(want.as_slice()));
    let listed: Vec<ReportedLoss> = want
        .iter()
        .map(|one| ReportedLoss { step: one.step, chip_hours: Some(one.chip_hours), loss: one.loss })
        .collect();
    assert_eq!(read("", &listed, NOTHING).as_deref(), Ok(want.as_slice()));
    assert!(read(board, &listed, NOTHING).unwrap_err().contains("send one of them"));
}

#[test]
fn what_is_no_log_is_refused_in_words_with_its_lines() {
    let head = "step,loss,chip_hours\n";
    for (log, words) in [
        (" \n", "is empty; choose a file"),
        ("hello", "line 1: there is no column step in \"hello\""),
        ("step,chip_hours\n1,1", "line 1: there is no column loss"),
        ("step,loss,value,chip_hours\n1,1,1,1", "line 1: there is more than one column loss"),
        (head, "has a header and nothing under it"),
        (&format!("{head}10,4,1"), "has one point"),
        (&format!("{head}10,4,1\n20,3,2"), "has too few points"),
        (&format!("{head}10,4,1\n20,NaN,2\n30,3,3"), "line 3: the loss is NaN; leave out"),
        (&format!("{head}10,4,1\n20,inf,2\n30,3,3"), "line 3: the loss is inf"),
        (&format!("{head}10,4,1\n20,-1,2\n30,3,3"), "line 3: the loss is -1; only a loss above 0"),
        (&format!("{head}10,4,1\n20,abc,2\n30,3,3"), "line 3: the loss \"abc\" is no number"),
        (
            "step;loss;chip_hours\n10;4,5;1",
            "line 2: the loss \"4,5\" is no number; write decimals with a point",
        ),
        (&format!("{head}10,4,1\n10,3,2\n30,3,3"), "line 3: step 10 is there twice"),
        (&format!("{head}20,4,1\n10,3,2\n30,3,3"), "line 3: step 10 comes after step 20; sort"),
        (&format!("{head}10.5,4,1"), "line 2: the step is 10.5; steps are whole"),
        (&format!("{head}10,4,1\n20,3,1\n30,3,3"), "line 3: the chip-hours are 1 and were 1 the step before"),
        (&format!("{head}10,4,-1"), "line 2: the chip-hours are -1"),
        (&format!("{head}10,4"), "line 2: has 2 columns and not 3"),
        ("step,loss\n10,4\n20,3\n30,2", "line 2: no chip-hours; add a column chip_hours"),
        ("1,2,3,4\n", "line 1: has 4 columns and no header"),
        ("{\"step\":1,\"loss\":NaN}", "line 1: has NaN or Infinity"),
        ("{\"step\":1,\"loss\":2\n", "line 1: is no JSON"),
        ("{\"loss\":2,\"chip_hours\":1}\n", "line 1: has no step"),
        (
            &format!("{head}10,4,1\n20,3,2\n30,2.9,3\n40,2.8,7200\n50,2.7,7201"),
            "line 5: a step takes 7197 times as many chip-hours as the median step; are hours and seconds mixed up?",
        ),
        (&format!("{head}10,4,1\n20,5000,2\n30,3,3"), "line 3: the loss is 5000, over 1,000 times"),
    ] {
        assert!(refusal(log).contains(words), "{log:?}: {:?} has not {words:?}", refusal(log));
    }
    let many: String = (1..=9).map(|line| format!("{line},x,1\n")).collect();
    let said = refusal(&format!("{head}{many}"));
    assert!(said.contains("line 6") && said.ends_with("and 4 more at fault"), "{said}");
    let long: String = (1..=MOST_LOSSES + 1).map(|step| format!("{step},1,{step}\n")).collect();
    assert!(refusal(&format!("{head}{long}")).contains("the most is 20000"));
}

#[test]
fn a_report_goes_on_from_what_is_known() {
    let known: Vec<PlanLoss> =
        (1..=4).map(|nth| PlanLoss { step: nth * 10, chip_hours: nth as f64, loss: 5.0 }).collect();
    let context = Context { per_step: Some(0.1), known: &known };
    let read = |log: &str| read(log, &[], context);
    assert_eq!(
        read("step,loss\n40,5\n50,4").unwrap(),
        [PlanLoss { step: 50, chip_hours: 5.0, loss: 4.0 }],
        "what is known already is left out"
    );
    assert_eq!(read("step,loss\n30,5\n40,5").unwrap(), []);
    assert!(read("step,loss\n40,4").unwrap_err().contains("line 2: step 40 is there twice"));
    assert!(read("step,loss\n35,4").unwrap_err().contains("step 35 comes after step 40"));
    assert!(
        read("step,loss,chip_hours\n50,4,18000").unwrap_err().contains("are hours and seconds mixed up?")
    );
    assert_eq!(
        read("step,loss\n0,9\n50,4").unwrap().len(),
        1,
        "a step before anything was used says nothing"
    );
}
