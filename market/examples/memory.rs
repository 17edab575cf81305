//! Peak memory of building and clearing a million bids, per bid:
//! `cargo run --release -p market --example memory -- 20` for 20 chip types.
//!
//! Reads the high-water mark of the process, so it runs on Linux. The rows are made one by one and handed to the
//! builder; ids count, as they live in the market.

use std::error::Error;

use common::money::Price;

#[path = "../benches/workload/mod.rs"]
mod workload;
use workload::{CREDIT, Size, build};

fn main() -> Result<(), Box<dyn Error>> {
    let bids = 1_000_000;
    let chip_types = std::env::args().nth(1).map_or(Ok(20), |count| count.parse())?;
    let size = Size::of(bids, chip_types);
    let prices = vec![vec![Price(5 * CREDIT); chip_types as usize]; size.pools as usize];
    let before = peak_kilobytes()?;
    let (market, ..) = build(size, &prices)?;
    let built = peak_kilobytes()?;
    let clearing = market.clear();
    let per_bid = |peak: u64| (peak - before) * 1_024 / u64::from(bids);
    let (built, cleared) = (per_bid(built), per_bid(peak_kilobytes()?));
    println!(
        "{bids} bids, {chip_types} chip types: peak {built} bytes a bid while building, {cleared} with clearing"
    );
    drop((market, clearing));
    Ok(())
}

/// The most memory the process has had resident so far.
fn peak_kilobytes() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM line")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
