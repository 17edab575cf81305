//! Compresses the site once, at build time and as hard as possible, so that the server never has to.

use super::inputs;
use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files below this size gain nothing from compression: they fit one network packet anyway.
const SMALLEST_BYTES: usize = 256;

/// Formats that are compressed already.
const INCOMPRESSIBLE: &[&str] = &["png", "woff2", "webp", "avif"];

/// What one file weighs.
struct Size {
    name: String,
    plain: u64,
    brotli: u64,
}

/// What the whole site weighs.
pub(super) struct Sizes(Vec<Size>);

impl Sizes {
    /// Bytes of one file after brotli; `None` when there is no such file.
    pub(super) fn brotli_bytes(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|size| size.name == name).map(|size| size.brotli)
    }

    /// Prints one line per file.
    pub(super) fn print(&self) {
        for size in &self.0 {
            println!("  {:<32} {:>9} bytes, brotli {:>8}", size.name, size.plain, size.brotli);
        }
    }
}

/// Writes a `.br` and a `.gz` beside every file that shrinks.
pub(super) fn folder(folder: &Path) -> Result<Sizes> {
    let mut files = Vec::new();
    inputs::collect(folder, &mut files)?;
    let mut sizes = Vec::new();
    for file in files {
        let plain = fs::read(&file)?;
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        let compressible =
            file.extension().is_none_or(|ext| !INCOMPRESSIBLE.iter().any(|known| ext == *known));
        let mut brotli_len = plain.len();
        if compressible && plain.len() >= SMALLEST_BYTES {
            let smaller = brotli(&plain)?;
            brotli_len = smaller.len();
            fs::write(with_suffix(&file, ".br"), smaller)?;
            fs::write(with_suffix(&file, ".gz"), gzip(&plain)?)?;
        }
        sizes.push(Size { name, plain: plain.len() as u64, brotli: brotli_len as u64 });
    }
    Ok(Sizes(sizes))
}

fn brotli(plain: &[u8]) -> Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut &plain[..], &mut out, &params).context("brotli failed")?;
    Ok(out)
}

fn gzip(plain: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain)?;
    encoder.finish().context("gzip failed")
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
