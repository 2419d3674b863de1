// SPDX-License-Identifier: Apache-2.0
//! The program around a library: `PROGRAM WORKLOAD SIZE THREADS`, one line of JSON (lab/README.md).

use crate::{fib, matmul, nqueens, skynet, uts, Forks};
use std::ops::RangeInclusive;
use std::time::Instant;

enum Job {
    Fib(i64),
    Skynet(u32),
    Nqueens(usize),
    Matmul(usize),
    Uts(uts::Tree),
}

fn number(text: &str, what: &str, range: RangeInclusive<usize>) -> Result<usize, String> {
    let wrong = || format!("{what} must be a number from {} to {}, not '{text}'", range.start(), range.end());
    text.parse().ok().filter(|n| range.contains(n)).ok_or_else(wrong)
}

impl Job {
    fn parse(workload: &str, size: &str) -> Result<Job, String> {
        let within = |range| number(size, "size", range);
        match workload {
            "fib" => Ok(Job::Fib(within(0..=50)? as i64)),
            "skynet" => Ok(Job::Skynet(within(0..=9)? as u32)),
            "nqueens" => Ok(Job::Nqueens(within(1..=nqueens::LARGEST)?)),
            "matmul" => match within(32..=4096)? {
                n if n.is_power_of_two() => Ok(Job::Matmul(n)),
                n => Err(format!("size must be a power of two, not '{n}'")),
            },
            "uts" => {
                let tree = uts::named(size).ok_or_else(|| format!("size must be T1, T3 or TT, not '{size}'"))?;
                Ok(Job::Uts(tree))
            }
            _ => Err(format!("no workload is called '{workload}'")),
        }
    }

    fn run<L: Forks>(&self, context: &mut L::Context<'_>) -> i64 {
        match self {
            Job::Fib(n) => fib::run::<L>(context, *n),
            Job::Skynet(depth) => skynet::run::<L>(context, 0, skynet::leaves(*depth)),
            Job::Nqueens(n) => nqueens::run::<L>(context, *n),
            Job::Matmul(n) => matmul::run::<L>(context, *n),
            Job::Uts(tree) => uts::run::<L>(context, tree),
        }
    }

    fn expected(&self) -> i64 {
        match self {
            Job::Fib(n) => fib::expected(*n),
            Job::Skynet(depth) => skynet::expected(*depth),
            Job::Nqueens(n) => nqueens::ANSWERS[*n],
            Job::Matmul(n) => *n as i64,
            Job::Uts(tree) => tree.nodes,
        }
    }

    fn tasks(&self) -> i64 {
        match self {
            Job::Fib(n) => fib::tasks(*n),
            Job::Skynet(depth) => skynet::tasks(*depth),
            Job::Nqueens(n) => nqueens::TASKS[*n],
            Job::Matmul(n) => matmul::tasks(*n),
            Job::Uts(tree) => tree.nodes,
        }
    }
}

/// `struct rusage` of 64-bit Linux.
#[repr(C)]
#[derive(Default)]
struct Rusage {
    user: [i64; 2], // seconds, microseconds
    system: [i64; 2],
    others: [i64; 14],
}

extern "C" {
    fn getrusage(who: i32, usage: *mut Rusage) -> i32;
}

/// User and system time of the process so far.
fn cpu_seconds() -> f64 {
    const WHOLE_PROCESS: i32 = 0;
    let mut used = Rusage::default();
    // SAFETY: the C function of this name, which fills the structure of this layout.
    unsafe { getrusage(WHOLE_PROCESS, &mut used) };
    let seconds = |time: [i64; 2]| time[0] as f64 + time[1] as f64 * 1e-6;
    seconds(used.user) + seconds(used.system)
}

/// The process's own high-water mark. (rusage's would start with that of the program which started us.)
fn peak_rss_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(-1)
}

/// Whether the answer was right.
fn measure<L: Forks>(job: &Job, threads: usize) -> bool {
    let library = L::start(threads);
    let run = || library.enter(&|context: &mut L::Context<'_>| job.run::<L>(context));
    if std::env::var_os("LAB_NO_WARMUP").is_none() {
        run();
    }
    let cpu = cpu_seconds();
    let start = Instant::now();
    let answer = run();
    let seconds = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu;
    println!(
        "{{\"answer\": {answer}, \"seconds\": {seconds:.9}, \"cpu_seconds\": {cpu:.6}, \"tasks\": {}, \
         \"peak_rss_kib\": {}}}",
        job.tasks(),
        peak_rss_kib()
    );
    answer == job.expected()
}

fn try_main<L: Forks>() -> Result<bool, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workload, size, threads] = &arguments[..] else {
        return Err("usage: WORKLOAD SIZE THREADS".to_string());
    };
    let job = Job::parse(workload, size)?;
    Ok(measure::<L>(&job, number(threads, "threads", 1..=1024)?))
}

pub fn main<L: Forks>() -> ! {
    let right = try_main::<L>().unwrap_or_else(|reason| {
        eprintln!("{reason}");
        false
    });
    std::process::exit(if right { 0 } else { 1 })
}
