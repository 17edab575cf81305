//! From fractions to whole assignments by chance, so that everybody gets what it was promised on average.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Below this a fraction is 0, and as near to 1 it is 1.
const NEAR: f64 = 1e-9;

/// An open edge: agent, facility.
type Edge = (usize, usize);

/// Rounds fractions (by agent, then facility) to assignments. Each becomes one with its own probability; the sum of each
/// agent and of each facility becomes its sum rounded down or up, so no agent is assigned twice and capacity in whole
/// units is kept (Gandhi, Khuller, Parthasarathy, Srinivasan, *Dependent Rounding and its Applications to Approximation
/// Algorithms*, JACM 2006).
pub fn round_dependently(random: &mut ChaCha8Rng, fractions: &[Vec<f64>]) -> Vec<Vec<bool>> {
    let mut parts = fractions.to_vec();
    while let Some(walk) = alternating_walk(&parts) {
        // Mass moves along the walk: edges in even places gain what those in odd places lose, or the other way round.
        let (mut up, mut down) = (1.0_f64, 1.0_f64);
        for (place, (agent, facility)) in walk.iter().enumerate() {
            let part = parts[*agent][*facility];
            let (gain, lose) = (1.0 - part, part);
            let (to_rise, to_fall) = if place % 2 == 0 { (gain, lose) } else { (lose, gain) };
            up = up.min(to_rise);
            down = down.min(to_fall);
        }
        let shift = if random.random::<f64>() * (up + down) < down { up } else { -down };
        for (place, (agent, facility)) in walk.iter().enumerate() {
            parts[*agent][*facility] += if place % 2 == 0 { shift } else { -shift };
        }
    }
    parts.iter().map(|row| row.iter().map(|part| *part > 0.5).collect()).collect()
}

fn is_open(part: f64) -> bool {
    part > NEAR && part < 1.0 - NEAR
}

/// A cycle of open edges, or a path of them that can't be made longer; none where all is whole.
fn alternating_walk(parts: &[Vec<f64>]) -> Option<Vec<Edge>> {
    let facilities = parts.first().map_or(0, Vec::len);
    // Vertices: agents, then facilities.
    let ends = |edge: Edge| (edge.0, parts.len() + edge.1);
    let edges_at = |vertex: usize| -> Vec<Edge> {
        let all: Vec<Edge> = if vertex < parts.len() {
            (0..facilities).map(|facility| (vertex, facility)).collect()
        } else {
            (0..parts.len()).map(|agent| (agent, vertex - parts.len())).collect()
        };
        all.into_iter().filter(|edge| is_open(parts[edge.0][edge.1])).collect()
    };
    let degrees: Vec<usize> = (0..parts.len() + facilities).map(|vertex| edges_at(vertex).len()).collect();
    let start = degrees
        .iter()
        .position(|degree| *degree == 1)
        .or_else(|| degrees.iter().position(|degree| *degree > 1))?;
    let (mut vertex, mut visited, mut walk) = (start, vec![start], Vec::<Edge>::new());
    loop {
        let Some(edge) = edges_at(vertex).into_iter().find(|edge| walk.last() != Some(edge)) else {
            return Some(walk);
        };
        walk.push(edge);
        let (agent, facility) = ends(edge);
        vertex = if vertex == agent { facility } else { agent };
        if let Some(place) = visited.iter().position(|seen| *seen == vertex) {
            return Some(walk.split_off(place));
        }
        visited.push(vertex);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn each_keeps_its_mean_and_the_sums_are_kept() {
        let fractions = [
            vec![0.3, 0.7, 0.0],
            vec![0.9, 0.0, 0.1],
            vec![0.25, 0.25, 0.5],
            vec![0.55, 0.05, 0.2],
            vec![0.0, 1.0, 0.0],
        ];
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut hits = vec![vec![0_u32; 3]; 5];
        const TRIES: u32 = 20_000;
        for _ in 0..TRIES {
            let rounded = round_dependently(&mut random, &fractions);
            for (row, counts) in rounded.iter().zip(&mut hits) {
                assert!(row.iter().filter(|hit| **hit).count() <= 1, "nobody is assigned twice: {row:?}");
                counts.iter_mut().zip(row).for_each(|(count, hit)| *count += u32::from(*hit));
            }
            for facility in 0..3 {
                let sum: f64 = fractions.iter().map(|row| row[facility]).sum();
                let got = rounded.iter().filter(|row| row[facility]).count();
                assert!(got as f64 >= sum.floor() && got as f64 <= (sum - 1e-9).ceil(), "{got} of {sum}");
            }
        }
        for (counts, row) in hits.iter().zip(&fractions) {
            for (count, fraction) in counts.iter().zip(row) {
                let mean = f64::from(*count) / f64::from(TRIES);
                assert!((mean - fraction).abs() < 0.016, "{mean} instead of {fraction}");
            }
        }
    }
}
