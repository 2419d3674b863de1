// SPDX-License-Identifier: Apache-2.0
//! The clock around a workload, and the line of JSON.

use crate::usage::{cpu_seconds, peak_rss_kib};
use std::fmt::Display;
use std::time::Instant;

/// Runs the workload once to warm up and once timed, prints the line of JSON, and returns an error
/// if the answer is wrong. `extra` gives the additional members of the line: `, "name": number` …
pub fn measured<A: Display + PartialEq>(
    run: impl Fn() -> Result<A, String>,
    expected: A,
    tasks: A,
    extra: impl Fn() -> String,
) -> Result<(), String> {
    if std::env::var_os("LAB_NO_WARMUP").is_none() {
        run()?;
    }
    let cpu_before = cpu_seconds();
    let start = Instant::now();
    let answer = run()?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu_before;
    let peak = peak_rss_kib().ok_or("/proc/self/status has no VmHWM")?;
    println!(
        "{{\"answer\": {answer}, \"expected\": {expected}, \"seconds\": {seconds:.9}, \
         \"cpu_seconds\": {cpu:.6}, \
         \"tasks\": {tasks}, \"peak_rss_kib\": {peak}{}}}",
        extra()
    );
    if answer == expected {
        Ok(())
    } else {
        Err(format!("wrong answer: {answer}, not {expected}"))
    }
}
