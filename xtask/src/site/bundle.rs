//! Gathers what is not WebAssembly: one style sheet, uPlot from npm, and the files of `assets/`.

use super::inputs;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes the style sheet, the npm files and the assets into `out`.
pub(super) fn collect(root: &Path, out: &Path) -> Result<()> {
    fs::write(out.join("main.css"), inline_imports(&root.join("style/main.css"))?)?;

    install_npm_packages(&root.join("frontend"))?;
    let uplot = root.join("frontend/node_modules/uplot/dist");
    let script = fs::read_to_string(uplot.join("uPlot.iife.min.js")).context("cannot read uPlot")?;
    // The package minifies only its classic script, which defines `uPlot`; pages import a module.
    fs::write(out.join("uPlot.js"), script + "export default uPlot;\n")?;
    fs::copy(uplot.join("uPlot.min.css"), out.join("uPlot.css")).context("cannot copy uPlot's styles")?;

    let assets = root.join("assets");
    let mut files = Vec::new();
    inputs::collect(&assets, &mut files)?;
    for file in files {
        let target = out.join(file.strip_prefix(&assets)?);
        if target.exists() {
            bail!("assets/ has a file named like one that the build makes: {}", target.display());
        }
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(&file, &target)?;
    }
    Ok(())
}

/// Reads a style sheet and puts the sheets it imports in place of its `@import "file.css";` lines.
///
/// One file saves the browser a chain of requests. Only this plain form is understood, an optional
/// `layer(name)` included; any other `@import` is an error, so that none is lost unnoticed.
fn inline_imports(file: &Path) -> Result<String> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let Some(import) = line.trim_start().strip_prefix("@import") else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let (name, layer) = parse_import(import)
            .with_context(|| format!("{}: cannot inline the line {line:?}", file.display()))?;
        let inner = inline_imports(&folder.join(name))?;
        match layer {
            Some(layer) => out.push_str(&format!("@layer {layer} {{\n{inner}}}\n")),
            None => out.push_str(&inner),
        }
    }
    Ok(out)
}

/// Splits ` "base.css" layer(base);` into the file name and the layer.
fn parse_import(import: &str) -> Option<(&str, Option<&str>)> {
    let rest = import.trim().strip_suffix(';')?.trim();
    let rest = rest.strip_prefix("url(").map_or(rest, |inner| inner.trim());
    let (name, tail) = rest.strip_prefix('"')?.split_once('"')?;
    let tail = tail.trim().trim_start_matches(')').trim();
    let layer = match tail {
        "" => None,
        _ => Some(tail.strip_prefix("layer(")?.strip_suffix(')')?),
    };
    Some((name, layer))
}

/// Installs exactly what the lock file names, unless it is there already.
fn install_npm_packages(folder: &Path) -> Result<()> {
    let lock = fs::read(folder.join("package-lock.json")).context("cannot read package-lock.json")?;
    let stamp = folder.join("node_modules/.installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    let status = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(folder)
        .status()
        .context("cannot start npm; the charts' library comes from there (Debian: apt-get install npm)")?;
    if !status.success() {
        bail!("npm ci failed in {}", folder.display());
    }
    fs::write(&stamp, lock).context("cannot note what npm installed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_line_names_its_file_and_layer() {
        assert_eq!(parse_import(r#" "base.css";"#), Some(("base.css", None)));
        assert_eq!(parse_import(r#" url("a/b.css") layer(base);"#), Some(("a/b.css", Some("base"))));
        assert_eq!(parse_import(r#" "print.css" print;"#), None);
        assert_eq!(parse_import(r#" base.css;"#), None);
    }

    #[test]
    fn imported_sheets_stand_where_their_line_stood() -> Result<()> {
        let folder = std::env::temp_dir().join(format!("xtask-bundle-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("main.css"), "@layer base;\n@import \"base.css\" layer(base);\nb {}\n")?;
        fs::write(folder.join("base.css"), "a {}\n")?;
        let sheet = inline_imports(&folder.join("main.css"))?;
        fs::remove_dir_all(&folder)?;
        assert_eq!(sheet, "@layer base;\n@layer base {\na {}\n}\nb {}\n");
        Ok(())
    }
}
