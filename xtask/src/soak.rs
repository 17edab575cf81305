//! Signs in to a running server and loads its pages, many at a time. A page rendered as a stream can hang or end
//! early; each one here must answer 200 and be whole within a time limit.

use anyhow::{Context, Result, bail};
use clap::Args;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http::{Uri, header};

/// The hosts that may be loaded: a load test of somebody else's machine is an attack.
const OWN_HOSTS: &[&str] = &["127.0.0.1", "localhost", "[::1]"];

/// Options of `cargo xtask soak`.
#[derive(Args)]
pub(crate) struct SoakArgs {
    /// Address of the server; only this machine's own are accepted.
    #[arg(long, default_value = "http://127.0.0.1:7878")]
    base: String,
    /// Pages to load in all.
    #[arg(long, default_value_t = 2_000)]
    loads: usize,
    /// How many at a time.
    #[arg(long, default_value_t = 20)]
    workers: usize,
    /// Seconds that one page may take.
    #[arg(long, default_value_t = 20)]
    limit_seconds: u64,
    /// Seconds that the server may take to become ready.
    #[arg(long, default_value_t = 10)]
    start_seconds: u64,
    /// Who looks at the pages: by default the admin of a demo.
    #[arg(long, default_value = "admin")]
    login: String,
    /// The password of that account.
    #[arg(long, default_value = "admin-demo")]
    password: String,
    /// Pages to load in turn.
    #[arg(long, value_delimiter = ',', default_value = "/,/book,/allocations,/cycles,/cycles/1")]
    paths: Vec<String>,
}

/// What all workers found together.
#[derive(Default)]
struct Findings {
    durations: Vec<Duration>,
    failures: Vec<String>,
}

/// Loads the pages and prints how long they took.
///
/// # Errors
/// When any page was incomplete; each kind of failure is printed.
pub(crate) fn run(args: &SoakArgs) -> Result<()> {
    let address: Uri = args.base.parse().with_context(|| format!("{} is no address", args.base))?;
    if !address.host().is_some_and(|host| OWN_HOSTS.contains(&host)) {
        bail!("{} is not an address of this machine; the soak test loads no others", args.base);
    }
    if args.paths.is_empty() || args.workers == 0 {
        bail!("--paths and --workers must name at least one");
    }
    wait_until_ready(args)?;
    let cookies = sign_in(args)?;
    let next = AtomicUsize::new(0);
    let findings = Mutex::new(Findings::default());
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..args.workers {
            scope.spawn(|| worker(args, &cookies, &next, &findings));
        }
    });
    report(args, findings.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner), start.elapsed())
}

/// A client that keeps its connection and gives up after the limit of one page.
fn agent(args: &SoakArgs) -> Agent {
    Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(args.limit_seconds)))
        .proxy(None)
        // A page that sends elsewhere, such as to the sign-in, is not the page that was asked for.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into()
}

/// Waits until the server says that it is ready; a demo makes its history first.
fn wait_until_ready(args: &SoakArgs) -> Result<()> {
    let agent = agent(args);
    let start = Instant::now();
    loop {
        let Err(error) = agent.get(format!("{}/readyz", args.base)).call() else { return Ok(()) };
        if start.elapsed() > Duration::from_secs(args.start_seconds) {
            return Err(error).with_context(|| {
                format!("{} was not ready within {} seconds", args.base, args.start_seconds)
            });
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Signs in; the answer is the header that says so with each request.
fn sign_in(args: &SoakArgs) -> Result<String> {
    let form = [("login", args.login.as_str()), ("password", args.password.as_str())];
    let answer = agent(args)
        .post(format!("{}/sign-in", args.base))
        .header(header::ORIGIN, &args.base)
        .send_form(form)
        .with_context(|| format!("{} can't sign in", args.login))?;
    let set = answer.headers().get_all(header::SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
    let pairs: Vec<&str> = set.filter_map(|cookie| cookie.split(';').next()).collect();
    if pairs.is_empty() {
        bail!("{} was not signed in: the answer has no cookie", args.login);
    }
    Ok(pairs.join("; "))
}

/// Takes the next page until all are done.
fn worker(args: &SoakArgs, cookies: &str, next: &AtomicUsize, findings: &Mutex<Findings>) {
    let agent = agent(args);
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= args.loads {
            return;
        }
        let path = &args.paths[number % args.paths.len()];
        let start = Instant::now();
        let result = load(&agent, cookies, &format!("{}{path}", args.base));
        let mut findings = findings.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match result {
            Ok(()) => findings.durations.push(start.elapsed()),
            Err(error) => findings.failures.push(format!("{path}: {error:#}")),
        }
    }
}

/// Loads one page whole.
fn load(agent: &Agent, cookies: &str, address: &str) -> Result<()> {
    let request = agent.get(address).header(header::ACCEPT, "text/html").header(header::COOKIE, cookies);
    let mut response = request.call().context("no answer")?;
    if response.status() != 200 {
        bail!("the answer is {}", response.status());
    }
    let text = response.body_mut().read_to_string().context("the answer broke off")?;
    // The data for hydration follows the document in scripts of its own.
    let text = text.trim_end();
    let whole = text.contains("</html>") && (text.ends_with("</html>") || text.ends_with("</script>"));
    if !whole {
        let tail: String = text.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
        bail!("the page ends in {tail:?}");
    }
    Ok(())
}

fn report(args: &SoakArgs, mut findings: Findings, elapsed: Duration) -> Result<()> {
    findings.durations.sort_unstable();
    let at = |percent: usize| {
        let last = findings.durations.len().saturating_sub(1);
        findings.durations.get(last * percent / 100).copied().unwrap_or_default()
    };
    println!(
        "soak: {} of {} pages complete in {elapsed:.1?}, {} at a time; median {:.0?}, 99 of 100 within {:.0?}, \
         slowest {:.0?}",
        findings.durations.len(),
        args.loads,
        args.workers,
        at(50),
        at(99),
        at(100)
    );
    findings.failures.sort_unstable();
    findings.failures.dedup();
    for failure in findings.failures.iter().take(20) {
        println!("  {failure}");
    }
    if findings.durations.len() != args.loads {
        bail!("{} pages were incomplete", args.loads - findings.durations.len());
    }
    Ok(())
}
