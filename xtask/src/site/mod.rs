//! Builds the browser part: `frontend` to WebAssembly, wasm-bindgen as a library, style sheets, uPlot from
//! npm and the files of `assets/`, all pre-compressed, into the folder that the server embeds.
//!
//! What comes out, below `target/site` whatever `CARGO_TARGET_DIR` says (the server embeds that path):
//!
//! ```text
//! pkg-dir                 one line without its end: pkg/<hash>
//! pkg/<hash>/...          quota-marketplace.{js,wasm}, main.css, uPlot.{js,css}, the files of assets/
//! ```
//!
//! The hash covers the whole folder, so references between its files stay relative and plain, and the
//! server may tell browsers to keep everything below `/pkg/` for good. Each file has a `.br` and a `.gz` twin.

mod bundle;
mod compress;
mod inputs;
mod wasm;

use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Name of the JavaScript and wasm files; the pages load them by it.
const OUTPUT_NAME: &str = "quota-marketplace";

/// Largest WebAssembly file we send, in bytes after brotli.
const WASM_BUDGET_BYTES: u64 = 300_000;

/// Options of `cargo xtask site`.
#[derive(Args)]
pub(crate) struct SiteArgs {
    /// Optimise for size (minutes). This is the default and what is shipped.
    #[arg(long, conflicts_with = "dev")]
    release: bool,
    /// Compile quickly instead of small; the size budget is not checked.
    #[arg(long)]
    dev: bool,
    /// Build even when nothing has changed.
    #[arg(long)]
    force: bool,
    /// Which compiler makes the WebAssembly; `auto` takes the first that works, in this order.
    #[arg(long, value_enum, default_value_t = wasm::Toolchain::Auto, env = "QUOTA_WASM_TOOLCHAIN")]
    toolchain: wasm::Toolchain,
}

impl SiteArgs {
    /// The cargo profile for the browser part.
    fn profile(&self) -> &'static str {
        if self.dev && !self.release { "wasm-dev" } else { "wasm" }
    }
}

/// Builds the site, or says that the last one is still right.
pub(crate) fn run(args: &SiteArgs) -> Result<()> {
    let root = crate::workspace_root();
    let site = root.join("target/site");
    let stamp = root.join("target/site.inputs");
    let inputs = inputs::fingerprint(&root, args.profile())?;
    if !args.force && site.join("pkg-dir").is_file() && fs::read_to_string(&stamp).is_ok_and(|s| s == inputs)
    {
        println!("site: unchanged");
        return Ok(());
    }

    let staging = root.join("target/site.new");
    remove_folder(&staging)?;
    fs::create_dir_all(&staging).with_context(|| format!("cannot create {}", staging.display()))?;

    step("WebAssembly", || {
        let module = wasm::build(&root, args.profile(), args.toolchain)?;
        wasm::bind(&module, &staging, OUTPUT_NAME)
    })?;
    step("styles and assets", || bundle::collect(&root, &staging))?;
    let hash = inputs::folder_hash(&staging)?;
    let sizes = step("compression", || compress::folder(&staging))?;
    sizes.print();
    let wasm_name = format!("{OUTPUT_NAME}.wasm");
    let wasm_bytes = sizes.brotli_bytes(&wasm_name).context("the build made no WebAssembly")?;
    if !args.dev && wasm_bytes > WASM_BUDGET_BYTES {
        bail!("{wasm_name} is {wasm_bytes} bytes after brotli; the budget is {WASM_BUDGET_BYTES}");
    }

    install(&staging, &site, &hash)?;
    fs::write(&stamp, inputs).with_context(|| format!("cannot write {}", stamp.display()))?;
    println!("site: target/site/pkg/{hash}, wasm {wasm_bytes} of {WASM_BUDGET_BYTES} bytes");
    Ok(())
}

/// Puts the finished folder in place. `pkg-dir` comes last: a server reading it finds what it names. The
/// folder of the build before stays, so that pages already open in a browser still find their files.
fn install(staging: &Path, site: &Path, hash: &str) -> Result<()> {
    let pkg = site.join("pkg");
    fs::create_dir_all(&pkg).with_context(|| format!("cannot create {}", pkg.display()))?;
    let before = fs::read_to_string(site.join("pkg-dir")).unwrap_or_default();
    for entry in fs::read_dir(&pkg)? {
        let entry = entry?;
        let name = entry.file_name();
        if before.strip_prefix("pkg/").is_none_or(|kept| name != kept) {
            remove_folder(&entry.path())?;
        }
    }
    let target = pkg.join(hash);
    remove_folder(&target)?;
    fs::rename(staging, &target).with_context(|| format!("cannot move the site to {}", target.display()))?;
    fs::write(site.join("pkg-dir"), format!("pkg/{hash}")).context("cannot write target/site/pkg-dir")
}

fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Runs one step and says how long it took.
fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let value = work().with_context(|| format!("site: {name} failed"))?;
    println!("site: {name} in {:.1?}", start.elapsed());
    Ok(value)
}
