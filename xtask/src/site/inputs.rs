//! Fingerprints: whether anything the site is made of has changed, and the name of the finished folder.

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Everything below the root that decides what the site looks like.
const INPUTS: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    ".cargo/config.toml",
    "app",
    "assets",
    "common",
    "frontend",
    "style",
    "xtask/src/site",
];

/// Folders that tools fill and that are no input of ours.
const IGNORED: &[&str] = &["node_modules", "target", "tests"];

/// A digest of all inputs and of the chosen profile.
pub(super) fn fingerprint(root: &Path, profile: &str) -> Result<String> {
    let mut files = Vec::new();
    for input in INPUTS {
        collect(&root.join(input), &mut files)?;
    }
    Ok(format!("{profile} {}", digest(root, files)?))
}

/// The name of a finished folder: the first 16 hexadecimal digits of the digest of its files.
pub(super) fn folder_hash(folder: &Path) -> Result<String> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    let mut name = digest(folder, files)?;
    name.truncate(16);
    Ok(name)
}

/// All files at or below `path`, sorted within each folder.
pub(super) fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
    } else if path.is_dir() {
        let mut entries = fs::read_dir(path)
            .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
            .with_context(|| format!("cannot list {}", path.display()))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            if !IGNORED.iter().any(|ignored| entry.file_name() == *ignored) {
                collect(&entry.path(), files)?;
            }
        }
    }
    Ok(())
}

/// Names, lengths and contents go in: moving a byte from one file to the next changes the digest.
fn digest(root: &Path, files: Vec<PathBuf>) -> Result<String> {
    let mut hasher = Sha256::new();
    for file in files {
        let contents = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy();
        hasher.update(format!("{name}\0{}\0", contents.len()));
        hasher.update(contents);
    }
    Ok(hex::encode(hasher.finalize()))
}
