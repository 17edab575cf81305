//! A disk that fills up while history is cleared: the program says so, and goes on once there is room.

use std::process::{Command, Stdio};

use crate::commands::{program, run, serve_and_end};

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

#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount(6 * 1024) else {
        eprintln!("not run: only root can mount a small file system");
        return;
    };
    let folder = disk.0.path();
    let demo =
        ["--database", "demo.sqlite", "demo", "--listen", "127.0.0.1:0", "--history", "4d", "--cycle", "300"];
    let verify = ["--database", "demo.sqlite", "verify"];
    let (code, _, said) = run(folder, &demo);
    assert_eq!(code, 69, "{said}");
    assert!(said.contains("disk of the database is full"), "{said}");

    disk.grow(64 * 1024);
    let (code, _, said) = run(folder, &verify);
    assert_eq!(code, 0, "what was cleared before is whole: {said}");
    // It goes on where it was, serves, and ends in order when it is told to.
    serve_and_end(program(folder).args(demo).stderr(Stdio::piped()).spawn().expect("the program starts"));
    let (code, _, said) = run(folder, &verify);
    assert_eq!(code, 0, "{said}");
}
