//! One byte form for equal contents, and its SHA-256: what is stored, compared and proved.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::outcome::Outcome;
use crate::snapshot::{Lending, Snapshot};

/// SHA-256 of some bytes, as 64 lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        for nibble in [byte >> 4, byte & 15] {
            hex.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
        }
        hex
    })
}

/// JSON without spaces; fields in the order of their declaration.
fn json(value: &impl Serialize) -> String {
    // Only maps with keys that are not text, or a failing `Serialize`, make this fail; the wire types have neither.
    serde_json::to_string(value).unwrap_or_else(|error| unreachable!("wire types always serialise: {error}"))
}

impl Snapshot {
    /// The same content in its canonical order: chip types, pools and teams by id, what pools own and paid by chip
    /// type, bids by team, position and id. Alternatives keep their order, which is a preference. A pool's zero of
    /// a chip type is dropped, and "lend at most 0" is "lend none", as either clears like the other.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let mut snapshot = self.clone();
        snapshot.chip_types.sort_by(|a, b| a.id.cmp(&b.id));
        snapshot.pools.sort_by(|a, b| a.id.cmp(&b.id));
        for pool in &mut snapshot.pools {
            pool.owned.retain(|owned| owned.chips.0 > 0);
            pool.owned.sort_by(|a, b| a.chip_type.cmp(&b.chip_type));
            pool.last_prices.sort_by(|a, b| a.chip_type.cmp(&b.chip_type));
            if matches!(pool.lending, Lending::AtMost(chips) if chips.0 == 0) {
                pool.lending = Lending::None;
            }
        }
        snapshot.teams.sort_by(|a, b| a.id.cmp(&b.id));
        snapshot.bids.sort_by(|a, b| (&a.team, a.position, &a.id).cmp(&(&b.team, b.position, &b.id)));
        snapshot
    }

    /// The canonical form as JSON: byte-identical for snapshots of equal content, whatever their order.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        json(&self.canonical())
    }

    /// SHA-256 of [`Self::canonical_json`], hexadecimal.
    #[must_use]
    pub fn sha256_hex(&self) -> String {
        sha256_hex(self.canonical_json().as_bytes())
    }
}

impl Outcome {
    /// The outcome as JSON. The engine makes its lists in canonical order, so equal outcomes are equal bytes.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        json(self)
    }

    /// SHA-256 of [`Self::canonical_json`], hexadecimal.
    #[must_use]
    pub fn sha256_hex(&self) -> String {
        sha256_hex(self.canonical_json().as_bytes())
    }
}
