//! The command line.

use std::process::ExitCode;

/// Pages are many small texts, made and dropped by several threads: with this allocator they take a good part less time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::cli::main()
}
