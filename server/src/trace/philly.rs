//! The Philly trace inside the binary; source and licence stand in `data/README.md`.

use super::Trace;
use super::parse::{self, Incomplete, Report};

/// Its name: `--trace philly`.
pub const NAME: &str = "philly";

/// How the data must be credited wherever it is shown (CC-BY-4.0).
pub const ATTRIBUTION: &str = "Demand: Philly trace, Microsoft (Jeon et al., USENIX ATC 2019), CC-BY-4.0";

static COMPRESSED: &[u8] = include_bytes!("../../../data/philly/philly.csv.zst");

/// The trace, through the same reader that checks a file.
///
/// # Panics
/// If the file built into the program is damaged, which a test rules out.
#[must_use]
pub fn load() -> (Trace, Report) {
    let csv = zstd::decode_all(COMPRESSED).expect("the built-in trace is whole");
    parse::read(NAME, &csv, Incomplete::Refuse, |_| ()).expect("the built-in trace has no fault")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn is_the_published_file_and_complete() {
        let csv = zstd::decode_all(COMPRESSED).unwrap();
        assert_eq!(
            hex::encode(Sha256::digest(&csv)),
            "ebffb3dd1589bdf4e7bcd74496201c5ded1d557d498ee14f560463f37ec353da"
        );
        let (trace, report) = load();
        assert_eq!((report.jobs, trace.clusters.len()), (82_247, 15));
        assert_eq!(report.empty_lines, [82_249]);
        assert_eq!(report.repeated, 65);
        assert_eq!(report.skipped, []);
        assert_eq!(trace.begins_at().to_string(), "2017-09-04T10:30:41Z");
        assert_eq!(trace.ends_at().to_string(), "2017-12-22T08:02:12Z");
        let chip_hours: u64 = trace.jobs.iter().map(crate::trace::Job::chip_seconds).sum::<u64>() / 3_600;
        assert_eq!(chip_hours, 978_078);
    }
}
