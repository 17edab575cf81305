use super::*;

const HEADER: &str = "timestamp,duration,num_gpus,gpu_time,cluster\n";
const GOOD: &str = "2017-10-09 07:01:55,66.0,2,132.0,11cb48\n";

fn read_text(text: &str) -> Result<(Trace, Report), TraceError> {
    read("t", text.as_bytes(), Incomplete::Refuse, |_| ())
}

/// The reason given for `line` standing on line 3, after a good one.
fn fault_of(line: &str) -> String {
    match read_text(&format!("{HEADER}{GOOD}{line}\n")) {
        Err(TraceError::Lines { shown, total: 1 }) => {
            assert_eq!(shown[0].line, 3, "{line}");
            shown[0].reason.clone()
        }
        other => panic!("{line} gave {other:?}"),
    }
}

#[test]
fn a_job_is_read_in_full() {
    let (trace, report) = read_text(&format!("{HEADER}{GOOD}")).unwrap();
    let job = trace.jobs[0];
    assert_eq!((job.line, job.chips, job.seconds, job.chip_seconds()), (2, 2, 66, 132));
    assert_eq!(job.submitted_at.to_string(), "2017-10-09T07:01:55Z");
    assert_eq!(trace.clusters, ["11cb48"]);
    assert_eq!(report, Report { jobs: 1, ..Report::default() });
}

#[test]
fn each_kind_of_fault_is_named() {
    for (line, words) in [
        ("2017-10-09 07:01:55,-66.0,2,132.0,a", "duration -66.0 is negative"),
        ("2017-10-09 07:01:55,66.0,-2,132.0,a", "num_gpus -2 is negative"),
        ("2017-10-09 07:01:55,66.0,2,-132.0,a", "gpu_time -132.0 is negative"),
        ("2017-10-09 07:01:55,66.0,0,0.0,a", "num_gpus is 0"),
        ("2017-10-09 07:01:55,0,2,0,a", "duration is 0"),
        (",66.0,2,132.0,a", "timestamp is missing"),
        ("2017-10-09 07:01:55,,2,132.0,a", "duration is missing"),
        ("2017-10-09 07:01:55,66.0,,132.0,a", "num_gpus is missing"),
        ("2017-10-09 07:01:55,66.0,2,,a", "gpu_time is missing"),
        ("2017-10-09 07:01:55,66.0,2,132.0,", "cluster is missing"),
        ("2017-10-09 07:01:55,66.0,2", "has 3 columns"),
        ("2017-10-09 07:01:55,66.0,2,132.0,a,b", "has 6 columns"),
        ("2017-13-09 07:01:55,66.0,2,132.0,a", "is not a time"),
        ("2017-02-30 07:01:55,66.0,2,132.0,a", "is not a time"),
        ("2017-10-09T07:01:55Z,66.0,2,132.0,a", "is not a time"),
        ("2017-10-09,66.0,2,132.0,a", "is not a time"),
        ("1970-01-01 00:00:00,66.0,2,132.0,a", "years 2000 and 2099"),
        ("2017-10-09 07:01:55,NaN,2,132.0,a", "not a number of seconds"),
        ("2017-10-09 07:01:55,1e5,2,132.0,a", "not a number of seconds"),
        ("2017-10-09 07:01:55,66.,2,132.0,a", "not a number of seconds"),
        ("2017-10-09 07:01:55,66.0,2.0,132.0,a", "not a whole number"),
        ("2017-10-09 07:01:55,66.0,two,132.0,a", "not a whole number"),
        ("2017-10-09 07:01:55,66.0,70000,4620000.0,a", "absurdly large"),
        ("2017-10-09 07:01:55,99999999.0,1,99999999.0,a", "the most is 31622400"),
        ("2017-10-09 07:01:55,9999999999999999.0,1,1.0,a", "absurdly large"),
        ("2017-10-09 07:01:55,66.0,2,200.0,a", "gpu_time is 200 s but duration × num_gpus is 132 s"),
        ("2017-10-09 07:01:55,66.0,2,132.0,a b", "is not a name"),
        ("2017-10-09 07:01:55,66.0,2,132.0,=cmd()", "is not a name"),
    ] {
        let reason = fault_of(line);
        assert!(reason.contains(words), "{line}: {reason}");
    }
}

#[test]
fn the_header_must_be_the_five_columns() {
    for (header, words) in [
        ("", "unknown column \"\""),
        ("timestamp,duration,num_gpus,gpu_time", "column \"cluster\" is missing"),
        ("timestamp,duration,num_gpus,gpu_time,cluster,user", "unknown column \"user\""),
        ("timestamp,duration,num_gpus,gpu_time,cluster,cluster", "stands twice"),
    ] {
        let error = read_text(&format!("{header}\n{GOOD}")).unwrap_err().to_string();
        assert!(error.starts_with("line 1: ") && error.contains(words), "{header}: {error}");
    }
    let swapped = "cluster,num_gpus,duration,gpu_time,timestamp\na,2,66,132,2017-10-09 07:01:55";
    assert_eq!(read_text(swapped).unwrap().0.jobs[0].chips, 2);
}

#[test]
fn nothing_is_taken_when_one_line_is_wrong_and_all_faults_are_counted() {
    let mut text = format!("{HEADER}{GOOD}");
    for _ in 0..25 {
        text.push_str("2017-10-09 07:01:55,66.0,0,0.0,a\n");
    }
    let error = read_text(&text).unwrap_err();
    let words = error.to_string();
    assert!(
        matches!(error, TraceError::Lines { ref shown, total: 25 } if shown.len() == FAULTS_SHOWN),
        "{words}"
    );
    assert!(words.contains("line 3: ") && words.contains("and 15 more lines at fault"), "{words}");
    assert!(words.ends_with("nothing was imported"));
}

#[test]
fn an_incomplete_line_is_left_out_only_on_request_and_named() {
    let text = format!("{HEADER}{GOOD}2017-10-09 07:02:00,50.0,1,,\n");
    assert!(read_text(&text).unwrap_err().to_string().contains("--skip-incomplete"));
    let (trace, report) = read("t", text.as_bytes(), Incomplete::Skip, |_| ()).unwrap();
    assert_eq!((trace.jobs.len(), report.jobs), (1, 1));
    assert_eq!(report.skipped, [Fault { line: 3, reason: "cluster is missing".into() }]);
    // Skipping covers lines that lack something, never lines that are wrong.
    let wrong = format!("{text}2017-10-09 07:02:00,-50.0,1,,\n");
    assert!(read("t", wrong.as_bytes(), Incomplete::Skip, |_| ()).is_err());
}

#[test]
fn empty_lines_repeats_and_disorder_are_reported() {
    let early = "2017-10-08 07:01:55,66.0,2,132.0,zz\n";
    let text = format!("\u{feff}{HEADER}{GOOD}\r\n{early}{GOOD}\n");
    let (trace, report) = read_text(&text).unwrap();
    assert_eq!(report.empty_lines, [3, 6]);
    assert_eq!((report.repeated, report.out_of_order), (1, 1));
    assert_eq!(trace.jobs.iter().map(|job| job.line).collect::<Vec<_>>(), [4, 2, 5]);
    assert_eq!(trace.clusters, ["11cb48", "zz"]);
}

#[test]
fn a_file_without_jobs_or_with_other_bytes_is_refused() {
    assert_eq!(read_text(HEADER), Err(TraceError::Empty));
    let error = read("t", b"\xff\xfe", Incomplete::Refuse, |_| ()).unwrap_err();
    assert_eq!(error.to_string(), "line 1: is not UTF-8 text");
    let mut bytes = format!("{HEADER}{GOOD}").into_bytes();
    bytes.extend(b"2017-10-09 07:01:55,66.0,2,132.0,\xff\n");
    let error = read("t", &bytes, Incomplete::Refuse, |_| ()).unwrap_err();
    assert!(error.to_string().starts_with("line 3: is not UTF-8 text"));
}
