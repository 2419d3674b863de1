// SPDX-License-Identifier: Apache-2.0
//! The workloads of fibers and actors: what their answers and numbers of operations are, and the program around them. How
//! each is done is the runtimes' own: some have functions that wait, some have `async` ones.

use crate::report::measured;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Leaves of `skynet-channel`; operations of the others.
const MOST: u64 = 999_999_999;

/// Runs one workload of one size, and returns its answer; none if it has no workload of that name.
pub trait Fibers {
    fn start(threads: usize) -> Self;
    fn run(&self, workload: &str, size: u64) -> Option<u64>;
    /// What the line of JSON says besides of the last run: `, "name": number` …
    fn extra(&self) -> String {
        String::new()
    }
}

/// Actors of a ring, senders of `fan-in`, tokens of `ring-work`, rings of `mixed-scenario`, what `prime-factors` finds.
pub const RING: u64 = 503;
pub const SENDERS: u64 = 20;
pub const WORK_TOKENS: u64 = 64;
pub const MIXED_RINGS: u64 = 20;
pub const SMALLEST_FACTOR: u64 = 20_483;

/// How long a sleeper of `sleepers` sleeps; the same for every runtime: up to 100 ms, spread by a multiplicative hash.
pub fn nap(sleeper: u64) -> Duration {
    Duration::from_micros((sleeper.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % 100_000)
}

/// How much too late the sleeper of `timer-lateness` went on.
#[derive(Default)]
pub struct Lateness(Vec<Duration>);

impl Lateness {
    /// How long it sleeps the i-th time; the same for every runtime: from 1 to 2 ms.
    pub fn pause(i: u64) -> Duration {
        Duration::from_millis(1) + nap(i) / 100
    }
    /// What goes on before it is due is not counted, and nothing may.
    pub fn add(&mut self, due: Instant) {
        self.0.extend(Instant::now().checked_duration_since(due));
    }
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }
    /// The median and the 99th percentile, in microseconds, for the line of JSON.
    pub fn text(mut self) -> String {
        self.0.sort();
        let share = |of_100: usize| match self.0.len() {
            0 => 0.0,
            count => self.0[(count - 1) * of_100 / 100].as_secs_f64() * 1e6,
        };
        format!(", \"late_us_p50\": {:.1}, \"late_us_p99\": {:.1}", share(50), share(99))
    }
}

/// What the i-th of so many does, that all together do n.
pub fn share(n: u64, of: u64, i: u64) -> u64 {
    n / of + u64::from(i < n % of)
}

/// What each of so many does, that all together do at least n.
pub fn parts(n: u64, parts: u64) -> u64 {
    n.div_ceil(parts)
}

/// The answer and the number of operations.
fn known(workload: &str, n: u64) -> (u64, u64) {
    let rounded = |count| (parts(n, count) * count, parts(n, count) * count);
    match workload {
        "skynet-channel" | "skynet-actor" => (n * (n - 1) / 2, (10 * n - 1) / 9),
        "channel-rendezvous" | "channel-buffered" | "select-two" | "counting-actor" => (n * (n - 1) / 2, n),
        "thread-ring" => (n % RING + 1, n),
        "parallel-thread-ring" => rounded(RING),
        "fan-in" => rounded(SENDERS),
        "ring-work" => rounded(WORK_TOKENS),
        "prime-factors" => (n * SMALLEST_FACTOR, n),
        "mixed-scenario" => rounded(MIXED_RINGS),
        _ => (n, n),
    }
}

fn measure<R: Fibers>(arguments: &[String]) -> Result<(), String> {
    let [workload, size, threads] = arguments else {
        return Err("usage: WORKLOAD SIZE THREADS".into());
    };
    let number = |text: &String, most: u64| text.parse().ok().filter(|n| (1..=most).contains(n));
    let size = number(size, MOST).ok_or("the size is out of range")?;
    let threads = number(threads, 1024).ok_or("the number of threads is out of range")?;
    let runtime = R::start(threads as usize);
    let none = || format!("no workload is called '{workload}'");
    let (expected, tasks) = known(workload, size);
    measured(|| runtime.run(workload, size).ok_or_else(none), expected, tasks, || runtime.extra())
}

/// The main function of a runtime's program.
pub fn main<R: Fibers>() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match measure::<R>(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
