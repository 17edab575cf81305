//! Compiles `frontend` to WebAssembly and binds it to JavaScript.
//!
//! Three ways lead there, because not every machine has the WebAssembly target: it is installed already;
//! rustup can fetch it; or Debian's compiler builds the standard library from Debian's own source.

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's packages with a recent compiler, its source and the linker for WebAssembly.
const DEBIAN_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "lld-22"];

/// Where Debian puts the compiler and its source.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_SOURCE: &str = "/usr/lib/rustlib/src/rust/library/std";

/// Who compiles the WebAssembly.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Toolchain {
    /// The first of the others that works.
    Auto,
    /// The compiler in use, which has the target.
    Installed,
    /// The compiler in use, after `rustup target add`.
    Rustup,
    /// Debian's compiler and standard library source.
    Debian,
}

/// Compiles `frontend` with one of the toolchains; returns the path of the raw module.
///
/// # Errors
/// When no toolchain can be had (the message says what to install), or the code does not compile.
pub(super) fn build(root: &Path, profile: &str, wanted: Toolchain) -> Result<PathBuf> {
    let toolchain = match wanted {
        Toolchain::Auto if target_is_installed()? => Toolchain::Installed,
        Toolchain::Auto if add_target() => Toolchain::Rustup,
        Toolchain::Auto => Toolchain::Debian,
        Toolchain::Rustup if !add_target() => bail!("`rustup target add {TARGET}` failed"),
        other => other,
    };
    // Artefacts of two compilers do not mix: each has its own folder.
    let (mut cargo, folder) = match toolchain {
        Toolchain::Debian => {
            install_debian_packages()?;
            println!("site: compiling with {}", version_of(DEBIAN_RUSTC)?);
            let mut cargo = Command::new(DEBIAN_CARGO);
            cargo.env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1").env_remove("LD_LIBRARY_PATH");
            cargo.args(["build", "-Zbuild-std=std,panic_abort"]);
            (cargo, root.join("target/wasm-debian"))
        }
        _ => {
            println!("site: compiling with {}", version_of("rustc")?);
            let mut cargo = Command::new("cargo");
            cargo.arg("build");
            (cargo, root.join("target/wasm"))
        }
    };
    // The flags come from .cargo/config.toml alone: the markup depends on them, so both sides need the same.
    cargo
        .args(["--package", "frontend", "--target", TARGET, "--profile", profile])
        .args(["--locked", "--target-dir"])
        .arg(&folder)
        .env_remove("RUSTFLAGS")
        .current_dir(root);
    let status = cargo.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("`cargo build --package frontend --target {TARGET}` failed");
    }
    Ok(folder.join(TARGET).join(profile).join("frontend.wasm"))
}

/// Runs wasm-bindgen on the module and writes `NAME.js` and `NAME.wasm` into `out`.
pub(super) fn bind(module: &Path, out: &Path, name: &str) -> Result<()> {
    Bindgen::new()
        .input_path(module)
        .out_name(name)
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(out)
        .context("wasm-bindgen failed")?;
    // Leptos looks for the module without wasm-bindgen's suffix.
    let generated = format!("{name}_bg.wasm");
    fs::rename(out.join(&generated), out.join(format!("{name}.wasm")))?;
    let script = out.join(format!("{name}.js"));
    let text = fs::read_to_string(&script)?;
    fs::write(&script, text.replace(&generated, &format!("{name}.wasm")))?;
    Ok(())
}

/// Whether the compiler in use has the WebAssembly target.
fn target_is_installed() -> Result<bool> {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .context("cannot start rustc")?;
    Ok(output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Asks rustup for the target; false when there is no rustup or it cannot fetch it.
fn add_target() -> bool {
    println!("site: the compiler has no {TARGET} target, asking rustup for it");
    Command::new("rustup").args(["target", "add", TARGET]).status().is_ok_and(|status| status.success())
}

/// Installs what Debian's way needs when it is missing and we may; else says what to install.
fn install_debian_packages() -> Result<()> {
    if Path::new(DEBIAN_SOURCE).is_dir() && Path::new(DEBIAN_CARGO).is_file() {
        return Ok(());
    }
    let packages = DEBIAN_PACKAGES.join(" ");
    let id = Command::new("id").arg("-u").output().context("cannot start id")?;
    if id.stdout.trim_ascii() != b"0" {
        bail!(
            "there is no compiler for {TARGET}: run `rustup target add {TARGET}`, \
             or on Debian `sudo apt-get install {packages}`"
        );
    }
    println!("site: installing {packages}");
    let install = [&["install", "--yes", "--no-install-recommends"], DEBIAN_PACKAGES].concat();
    for arguments in [vec!["update"], install] {
        let status = Command::new("apt-get")
            .args(&arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .status()
            .context("cannot start apt-get")?;
        if !status.success() {
            bail!("`apt-get {}` failed", arguments.join(" "));
        }
    }
    Ok(())
}

/// The compiler's own words about its version.
fn version_of(rustc: &str) -> Result<String> {
    let output =
        Command::new(rustc).arg("--version").output().with_context(|| format!("cannot start {rustc}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
