// SPDX-License-Identifier: Apache-2.0
//! The workloads of fibers and actors: their answers, their numbers of operations, and the program
//! around them. Each runtime has its own code for a workload, since some runtimes have functions
//! that block and some have `async` functions.

use crate::report::measured;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The most leaves of `skynet-channel`, and the most operations of the other workloads.
const MOST: u64 = 999_999_999;

/// Runs one workload of one size and returns its answer, or None if the runtime has no workload of
/// that name.
pub trait Fibers {
    fn start(threads: usize) -> Self;
    fn run(&self, workload: &str, size: u64) -> Option<u64>;
    /// Serves until the standard input ends, or returns None if the runtime has no server of that
    /// name. The workloads of `lab/workloads/io` are servers.
    fn serve(_workload: &str, _threads: usize) -> Option<Result<(), String>> {
        None
    }
    /// The answer and the number of operations of a workload that only this runtime has.
    fn known(_workload: &str, _size: u64) -> Option<(u64, u64)> {
        None
    }
    /// The additional members of the line of JSON about the last run: `, "name": number` …
    fn extra(&self) -> String {
        String::new()
    }
}

/// The actors of a ring, the senders of `fan-in`, the tokens of `ring-work`, the rings of
/// `mixed-scenario`, and the factor that `prime-factors` finds.
pub const RING: u64 = 503;
pub const SENDERS: u64 = 20;
pub const WORK_TOKENS: u64 = 64;
pub const MIXED_RINGS: u64 = 20;
pub const SMALLEST_FACTOR: u64 = 20_483;

/// The pairs of `pairs`; the fibers of `pool-0`, `pool-1us`, ..., and the room of their channels.
pub const PAIRS: u64 = 64;
pub const POOL: u64 = 8;
pub const JOBS_IN_CHANNEL: usize = 128;

/// The state after so many steps: 2 ns a step at 3 GHz, six instructions, each of which waits for
/// the one before it. The state never becomes 0 unless it begins as 0.
pub fn xorshift(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

/// The work of a job of a pool. Returns the number of the job.
pub fn work(job: u64, steps: u64) -> u64 {
    job + u64::from(xorshift(job + 1, steps) == 0)
}

/// The time that a sleeper of `sleepers` sleeps, equal in every runtime: up to 100 ms, spread by a
/// multiplicative hash.
pub fn nap(sleeper: u64) -> Duration {
    Duration::from_micros((sleeper.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % 100_000)
}

/// The times by which the sleeper of `timer-lateness` continued too late.
#[derive(Default)]
pub struct Lateness(Vec<Duration>);

impl Lateness {
    /// The time of the i-th sleep, equal in every runtime: from 1 to 2 ms.
    pub fn pause(i: u64) -> Duration {
        Duration::from_millis(1) + nap(i) / 100
    }
    /// Adds the lateness of one sleep. A sleeper that continues early is not counted, so the answer
    /// is then wrong.
    pub fn add(&mut self, due: Instant) {
        self.0.extend(Instant::now().checked_duration_since(due));
    }
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }
    /// The median and the 99th percentile, in microseconds, for the line of JSON.
    pub fn text(self) -> String {
        percentiles(self.0, &[("late_us_p50", 500), ("late_us_p99", 990)])
    }
}

/// Members of the line of JSON: the names of figures, and their places among 1,000 sorted samples.
pub fn percentiles(mut samples: Vec<Duration>, wanted: &[(&str, usize)]) -> String {
    samples.sort();
    let at = |of_1000: usize| match samples.len() {
        0 => 0.0,
        count => samples[(count - 1) * of_1000 / 1000].as_secs_f64() * 1e6,
    };
    wanted.iter().map(|(name, place)| format!(", \"{name}\": {:.1}", at(*place))).collect()
}

/// The figures of `beside-spawn` and `beside-reply`.
pub fn beside_text(kind: &str, samples: Vec<Duration>) -> String {
    let names = ["p50", "p99", "p999"].map(|place| format!("{kind}_us_{place}"));
    percentiles(samples, &[(&names[0], 500), (&names[1], 990), (&names[2], 999)])
}

/// The steps of a long task of `beside-spawn` and `beside-reply`: 1 ms.
pub const LONG_STEPS: u64 = 500_000;

/// The number of producers of `mpmc`, and that of its consumers.
pub fn each_side(workers: u64) -> u64 {
    (workers / 2).max(1)
}

/// The numbers that each of so many producers sends.
pub fn ranges(n: u64, producers: u64) -> impl Iterator<Item = std::ops::Range<u64>> {
    let mut first = 0;
    (0..producers).map(move |i| {
        let range = first..first + share(n, producers, i);
        first = range.end;
        range
    })
}

/// The share of worker i when `of` workers do n operations together.
pub fn share(n: u64, of: u64, i: u64) -> u64 {
    n / of + u64::from(i < n % of)
}

/// The share of each worker when `parts` workers do at least n operations together.
pub fn parts(n: u64, parts: u64) -> u64 {
    n.div_ceil(parts)
}

/// The answer and the number of operations.
fn known(workload: &str, n: u64) -> (u64, u64) {
    let rounded = |count| (parts(n, count) * count, parts(n, count) * count);
    match workload {
        "skynet-channel" | "skynet-actor" | "skynet-rendezvous" | "skynet-receive" => {
            (n * (n - 1) / 2, (10 * n - 1) / 9)
        }
        "channel-rendezvous" | "channel-buffered" | "select-two" | "counting-actor" => {
            (n * (n - 1) / 2, n)
        }
        "mpmc" | "mpmc-4" | "mpmc-unbuffered" | "mpmc-4-unbuffered" => (n * (n - 1) / 2, n),
        "fiber-create-block" | "pool-0" | "pool-200ns" => (n * (n - 1) / 2, n),
        "pool-1us" | "pool-5us" => (n * (n - 1) / 2, n),
        "thread-ring" => (n % RING + 1, n),
        "parallel-thread-ring" => rounded(RING),
        "fan-in" => rounded(SENDERS),
        "ring-work" => rounded(WORK_TOKENS),
        "prime-factors" => (n * SMALLEST_FACTOR, n),
        "mixed-scenario" => rounded(MIXED_RINGS),
        _ => (n, n),
    }
}

/// The number in the text, from 1 to `most`.
fn number(text: &str, most: u64) -> Option<u64> {
    text.parse().ok().filter(|n| (1..=most).contains(n))
}

fn measure<R: Fibers>(arguments: &[String]) -> Result<(), String> {
    let [workload, size, threads] = arguments else {
        return Err("usage: WORKLOAD SIZE THREADS".into());
    };
    let size = number(size, MOST).ok_or("the size is out of range")?;
    let threads = number(threads, 1024).ok_or("the number of threads is out of range")?;
    if let Some(status) = R::serve(workload, threads as usize) {
        return status;
    }
    let runtime = R::start(threads as usize);
    let none = || format!("no workload is called '{workload}'");
    let (expected, tasks) = R::known(workload, size).unwrap_or_else(|| known(workload, size));
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
