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
    if warms_up() {
        run()?;
    }
    let clock = Clock::start();
    let answer = run()?;
    let times = clock.stop();
    print(times, answer, expected, tasks, extra())
}

/// Like `measured`, for algorithms that change `state`. The clock runs neither in `prepare` nor in
/// `answer`, which looks at the result. The number of tasks is `expected`.
pub fn measured_in_place<S>(
    state: &mut S,
    prepare: impl Fn(&mut S),
    run: impl Fn(&mut S),
    answer: impl Fn(&S) -> i64,
    expected: i64,
) -> Result<(), String> {
    if warms_up() {
        prepare(state);
        run(state);
    }
    prepare(state);
    let clock = Clock::start();
    run(state);
    let times = clock.stop();
    print(times, answer(state), expected, expected, String::new())
}

fn warms_up() -> bool {
    std::env::var_os("LAB_NO_WARMUP").is_none()
}

struct Clock {
    cpu: f64,
    start: Instant,
}

/// Seconds of the clock and of the processors.
struct Times(f64, f64);

impl Clock {
    fn start() -> Clock {
        Clock { cpu: cpu_seconds(), start: Instant::now() }
    }
    fn stop(&self) -> Times {
        let seconds = self.start.elapsed().as_secs_f64();
        Times(seconds, cpu_seconds() - self.cpu)
    }
}

fn print<A: Display + PartialEq>(
    Times(seconds, cpu): Times,
    answer: A,
    expected: A,
    tasks: A,
    extra: String,
) -> Result<(), String> {
    let peak = peak_rss_kib().ok_or("/proc/self/status has no VmHWM")?;
    println!(
        "{{\"answer\": {answer}, \"expected\": {expected}, \"seconds\": {seconds:.9}, \
         \"cpu_seconds\": {cpu:.6}, \
         \"tasks\": {tasks}, \"peak_rss_kib\": {peak}{extra}}}"
    );
    if answer == expected {
        Ok(())
    } else {
        Err(format!("wrong answer: {answer}, not {expected}"))
    }
}
