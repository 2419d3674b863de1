// SPDX-License-Identifier: Apache-2.0
//! The workloads of fibers: what their answers and numbers of operations are, and the program around them. How each is
//! done is the runtimes' own: some have functions that wait, some have `async` ones.

use crate::usage::{cpu_seconds, peak_rss_kib};
use std::process::ExitCode;
use std::time::Instant;

/// Leaves of `skynet-channel`; operations of the others.
const MOST: u64 = 999_999_999;

/// Runs one workload of one size, and returns its answer; none if it has no workload of that name.
pub trait Fibers {
    fn start(threads: usize) -> Self;
    fn run(&self, workload: &str, size: u64) -> Option<u64>;
}

/// The answer and the number of operations.
fn known(workload: &str, n: u64) -> (u64, u64) {
    match workload {
        "skynet-channel" => (n * (n - 1) / 2, (10 * n - 1) / 9),
        "channel-rendezvous" | "channel-buffered" => (n * (n - 1) / 2, n),
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
    if std::env::var_os("LAB_NO_WARMUP").is_none() {
        runtime.run(workload, size).ok_or_else(none)?;
    }
    let cpu_before = cpu_seconds();
    let start = Instant::now();
    let answer = runtime.run(workload, size).ok_or_else(none)?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu_before;
    let peak = peak_rss_kib().ok_or("/proc/self/status has no VmHWM")?;
    let (expected, tasks) = known(workload, size);
    println!(
        "{{\"answer\": {answer}, \"expected\": {expected}, \"seconds\": {seconds:.9}, \"cpu_seconds\": {cpu:.6}, \
         \"tasks\": {tasks}, \"peak_rss_kib\": {peak}}}"
    );
    if answer == expected {
        Ok(())
    } else {
        Err(format!("wrong answer: {answer}, not {expected}"))
    }
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
