//! Secrets that nobody can guess, and the hashes by which they are kept.

use rand::Rng;
use rand_chacha::ChaCha12Rng;
use sha2::{Digest, Sha256};

use crate::store::sessions::SecretHash;

/// 256 random bits, from a generator seeded by the operating system.
pub(super) fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut source: ChaCha12Rng = rand::make_rng();
    source.fill_bytes(&mut bytes);
    bytes
}

/// A new secret as text of 64 hexadecimal digits.
pub(super) fn text() -> String {
    hex::encode(random())
}

/// The hash by which a secret is kept. A fast one is enough: nobody can try all 256-bit secrets.
pub(super) fn hash(secret: &str) -> SecretHash {
    Sha256::digest(secret).into()
}
