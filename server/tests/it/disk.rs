//! A disk that fills up while history is cleared: the program says so, and goes on once there is room.

use std::path::Path;
use std::process::Command;

/// A small file system of its own, gone with the test.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts one; none where the system does not allow that, which takes root on Linux.
    fn mount(kibibytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let size = format!("size={kibibytes}k");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(folder))
    }

    fn grow(&self, kibibytes: u32) {
        let size = format!("remount,size={kibibytes}k");
        let grown = Command::new("mount").args(["-o", &size]).arg(self.0.path()).status();
        assert!(grown.expect("mount runs").success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Where it fails the folder can't be removed either, and stays in the temporary files.
        let _unmounted = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

/// Runs the program in `folder` until it ends, at most `seconds`; its exit code (124 when cut off) and what it said.
fn run(folder: &Path, seconds: u32, arguments: &[&str]) -> (i32, String) {
    let output = Command::new("timeout")
        .args(["--signal=TERM", "--preserve-status", &seconds.to_string()])
        .arg(env!("CARGO_BIN_EXE_quota-marketplace"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount(6 * 1024) else {
        eprintln!("not run: only root can mount a small file system");
        return;
    };
    let folder = disk.0.path();
    let demo =
        ["--database", "demo.sqlite", "demo", "--listen", "127.0.0.1:0", "--history", "4d", "--cycle", "300"];
    let (code, said) = run(folder, 120, &demo);
    assert_eq!(code, 69, "{said}");
    assert!(said.contains("disk of the database is full"), "{said}");

    disk.grow(64 * 1024);
    let (code, said) = run(folder, 60, &["--database", "demo.sqlite", "verify"]);
    assert_eq!(code, 0, "what was cleared before is whole: {said}");
    // It goes on where it was, serves, and ends in order when it is told to.
    let (code, said) = run(folder, 30, &demo);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("the market is at http://"), "{said}");
    let (code, said) = run(folder, 120, &["--database", "demo.sqlite", "verify"]);
    assert_eq!(code, 0, "{said}");
}
