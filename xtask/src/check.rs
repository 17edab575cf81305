//! Rules that no linter here knows: files stay readable in one sitting, no leftovers stay in the sources,
//! and lock files name no registry host.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Longest source file, in lines.
const LONGEST_FILE_LINES: usize = 500;

/// Names of files that count as source.
const SOURCES: &[&str] = &["rs", "ts", "js", "css", "sql"];

/// Words that mark work left undone. Written in two halves, so that this file passes its own check.
const LEFTOVERS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("#[ig", "nore"),
    concat!("test.sk", "ip"),
    concat!("test.on", "ly"),
    concat!("#[al", "low("),
    concat!("#![al", "low("),
];

/// Checks every file that git knows or would add.
///
/// # Errors
/// When any rule is broken; each break is printed with its file and line.
pub(crate) fn run() -> Result<()> {
    let root = crate::workspace_root();
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .context("cannot start git")?;
    if !output.status.success() {
        bail!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let listing = String::from_utf8_lossy(&output.stdout);
    let mut findings = Vec::new();
    let mut checked = 0;
    for name in listing.lines() {
        let path = root.join(name);
        let is_source = path.extension().is_some_and(|ext| SOURCES.iter().any(|known| ext == *known));
        if !path.is_file() || !(is_source || name.ends_with("package-lock.json")) {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
        checked += 1;
        check_file(name, &text, &mut findings);
    }
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings in {checked} files", findings.len());
    }
    println!("check: {checked} files, nothing found");
    Ok(())
}

fn check_file(name: &str, text: &str, findings: &mut Vec<String>) {
    if Path::new(name).file_name().is_some_and(|file| file == "package-lock.json") {
        if text.contains("\"resolved\": \"http") {
            findings.push(format!("{name}: names registry hosts; set omit-lockfile-registry-resolved=true"));
        }
        return;
    }
    let lines = text.lines().count();
    if lines > LONGEST_FILE_LINES {
        findings.push(format!("{name}: {lines} lines; at most {LONGEST_FILE_LINES}, split it"));
    }
    for (number, line) in text.lines().enumerate() {
        for leftover in LEFTOVERS.iter().filter(|leftover| line.contains(**leftover)) {
            findings.push(format!("{name}:{}: has {leftover}", number + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        check_file(name, text, &mut findings);
        findings
    }

    #[test]
    fn leftovers_are_named_with_their_line() {
        let text = format!("fn a() {{}}\n// {}: later\n", LEFTOVERS[0]);
        assert_eq!(findings("a.rs", &text), [format!("a.rs:2: has {}", LEFTOVERS[0])]);
    }

    #[test]
    fn a_file_may_have_as_many_lines_as_allowed_and_no_more() {
        assert!(findings("a.rs", &"\n".repeat(LONGEST_FILE_LINES)).is_empty());
        assert_eq!(findings("a.rs", &"\n".repeat(LONGEST_FILE_LINES + 1)).len(), 1);
    }

    #[test]
    fn lock_files_name_no_host() {
        assert_eq!(findings("x/package-lock.json", "\"resolved\": \"https://host/a.tgz\"").len(), 1);
        assert!(findings("x/package-lock.json", "\"version\": \"1.0.0\"").is_empty());
    }
}
