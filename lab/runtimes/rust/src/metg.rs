// SPDX-License-Identifier: Apache-2.0
//! METG(50 %) of Task Bench, with the graphs of lab/workloads/graph/metg.hpp. Each runtime runs the
//! tasks of a graph in its own way.

use crate::fibers::xorshift;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::*};
use std::thread;
use std::time::Instant;

const WIDTH: usize = 64;
/// The steps of xorshift of the longest task, and of the shortest one.
const MOST: u64 = 1 << 15;
const LEAST: u64 = 4;

/// A run has a number. A task whose predecessors all have the number of the run takes it, too.
pub struct Graph {
    before: Vec<Vec<u32>>,
    after: Vec<Vec<u32>>,
    left: Vec<AtomicU32>, // predecessors that have not run yet
    runs: Vec<AtomicI64>,
    run: AtomicI64,
    steps_of_task: AtomicU64,
    unfinished: AtomicU32,
}

/// Calls f with each column on which column i of the step depends.
fn columns(pattern: &str, step: usize, i: usize, mut f: impl FnMut(usize)) {
    let mut inside = |column: i64| {
        if (0..WIDTH as i64).contains(&column) {
            f(column as usize)
        }
    };
    let at = i as i64;
    match pattern {
        _ if step == 0 => {}
        "trivial" => {}
        "random" => {
            for j in at - 2..=at + 2 {
                let number = ((step * WIDTH + i) * WIDTH) as u64;
                let number = number.wrapping_add((j + 1) as u64);
                let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                if j == at || (mixed >> 32) % 4 == 0 {
                    inside(j);
                }
            }
        }
        _ => {
            let distance = if pattern == "fft" { 1 << ((step - 1) % 6) } else { 1 };
            inside(at - distance);
            inside(at);
            inside(at + distance);
        }
    }
}

impl Graph {
    /// Returns None if no workload has that name.
    pub fn named(workload: &str, steps: u64) -> Option<Graph> {
        let pattern = workload.strip_prefix("metg-")?;
        if !["trivial", "stencil", "fft", "random"].contains(&pattern) {
            return None;
        }
        let count = steps as usize * WIDTH;
        let (mut before, mut after) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for task in 0..count {
            columns(pattern, task / WIDTH, task % WIDTH, |column| {
                let p = (task / WIDTH - 1) * WIDTH + column;
                before[task].push(p as u32);
                after[p].push(task as u32);
            });
        }
        Some(Graph {
            before,
            after,
            left: (0..count).map(|_| AtomicU32::new(0)).collect(),
            runs: (0..count).map(|_| AtomicI64::new(0)).collect(),
            run: AtomicI64::new(0),
            steps_of_task: AtomicU64::new(0),
            unfinished: AtomicU32::new(0),
        })
    }

    pub fn tasks(&self) -> u64 {
        self.before.len() as u64
    }

    /// The tasks without predecessors.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.before.len() as u32).filter(|task| self.before[*task as usize].is_empty())
    }

    // excerpt metg
    /// Runs a task, and then its successors that are ready. The first of them runs in place, and
    /// `spawn` gets each other one. Returns true if the graph has no task left.
    pub fn execute(&self, first: u32, mut spawn: impl FnMut(u32)) -> bool {
        let run = self.run.load(Relaxed);
        let steps = self.steps_of_task.load(Relaxed);
        let (mut next, mut last) = (Some(first), false);
        while let Some(task) = next.take() {
            let at = task as usize;
            let right = self.before[at].iter().all(|p| self.runs[*p as usize].load(Relaxed) == run);
            let worked = xorshift(u64::from(task) + 1, steps) != 0;
            self.runs[at].store(if right && worked { run } else { -1 }, Relaxed);
            for successor in &self.after[at] {
                if self.left[*successor as usize].fetch_sub(1, AcqRel) > 1 {
                    continue;
                }
                match next {
                    None => next = Some(*successor),
                    Some(_) => spawn(*successor),
                }
            }
            last |= self.unfinished.fetch_sub(1, AcqRel) == 1;
        }
        last
    }
    // excerpt end

    fn begin_run(&self) {
        self.run.fetch_add(1, Relaxed);
        self.unfinished.store(self.before.len() as u32, Relaxed);
        for (left, before) in self.left.iter().zip(&self.before) {
            left.store(before.len() as u32, Relaxed);
        }
    }

    fn right(&self) -> u64 {
        let run = self.run.load(Relaxed);
        self.runs.iter().filter(|one| one.load(Relaxed) == run).count() as u64
    }

    /// Returns the number of tasks that were right in all runs, and METG(50 %) in microseconds.
    /// `run_once` runs all tasks of the graph.
    pub fn sweep(&self, workers: usize, step: f64, run_once: impl Fn()) -> (u64, f64) {
        let mut right = self.tasks();
        let mut last: Option<(f64, f64)> = None; // granularity, efficiency
        let mut k = MOST;
        while k >= LEAST {
            self.steps_of_task.store(k, Relaxed);
            let mut seconds = f64::INFINITY;
            for _ in 0..3 {
                self.begin_run();
                let start = Instant::now();
                run_once();
                seconds = seconds.min(start.elapsed().as_secs_f64());
                right = right.min(self.right());
            }
            let granularity = seconds * workers as f64 / self.tasks() as f64;
            let efficiency = k as f64 * step / granularity;
            if efficiency < 0.5 {
                let Some((before, better)) = last else {
                    return (right, 1e6 * granularity); // even the longest tasks are too short
                };
                let share = (better - 0.5) / (better - efficiency);
                return (right, 1e6 * before * (granularity / before).powf(share));
            }
            last = Some((granularity, efficiency));
            k /= 2;
        }
        (right, last.map_or(0.0, |(granularity, _)| 1e6 * granularity))
    }
}

/// Seconds of a step of xorshift while so many threads work: the least of five measurements.
pub fn seconds_of_step(threads: usize) -> f64 {
    const STEPS: u64 = 5_000_000;
    let work = || {
        let start = Instant::now();
        let state = std::hint::black_box(xorshift(1, STEPS));
        start.elapsed().as_secs_f64() * f64::from(u8::from(state != 0))
    };
    let longest = || {
        let all: Vec<_> = (0..threads).map(|_| thread::spawn(work)).collect();
        all.into_iter().map(|one| one.join().unwrap()).fold(0.0, f64::max)
    };
    (0..5).map(|_| longest()).fold(f64::INFINITY, f64::min) / STEPS as f64
}

/// The member of the line of JSON.
pub fn text(metg_us: f64) -> String {
    format!(", \"metg_us\": {metg_us:.3}")
}
