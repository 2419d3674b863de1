// SPDX-License-Identifier: Apache-2.0
//! savina-astar.

use super::{Random, WORKERS};
use crate::servants::Company;
use crate::{tell, Done, Finish};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::sync::Arc;

const THRESHOLD: usize = 1024;
const ROUNDS: u64 = 100;

fn grid(n: u64) -> Vec<Vec<u32>> {
    let mut numbers = Random(n);
    let mut edges = vec![Vec::new(); (n * n * n) as usize];
    for (node, mine) in edges.iter_mut().enumerate() {
        let node = node as u64;
        for corner in 1..=6 {
            let drawn = numbers.next() >> 8 & 1 == 1;
            if !drawn && !(corner == 6 && mine.is_empty()) {
                continue;
            }
            let at = |coordinate: u64, bit: u64| (coordinate + (corner >> bit & 1)).min(n - 1);
            let (i, j) = (at(node / (n * n), 2), at(node / n % n, 1));
            let other = (i * n + j) * n + at(node % n, 0);
            if other != node && !mine.contains(&(other as u32)) {
                mine.push(other as u32);
            }
        }
    }
    edges
}

pub fn known(n: u64) -> (u64, u64) {
    let edges = grid(n);
    let mut found = vec![false; edges.len()];
    found[0] = true;
    let (mut left, mut count) = (vec![0], 0);
    while let Some(from) = left.pop() {
        count += 1;
        for node in &edges[from as usize] {
            if !found[*node as usize] {
                found[*node as usize] = true;
                left.push(*node);
            }
        }
    }
    (count, count)
}

struct Grid {
    edges: Vec<Vec<u32>>,
    from: Vec<AtomicU32>, // the predecessor plus one; 0 for a node that was not reached
}

impl Grid {
    fn new(n: u64) -> Grid {
        let edges = grid(n);
        let from: Vec<_> = edges.iter().map(|_| AtomicU32::new(0)).collect();
        from[0].store(1, Relaxed);
        Grid { edges, from }
    }
    // excerpt savina-astar
    /// Returns the nodes that are left.
    fn visit(&self, first: u32) -> Vec<u32> {
        let mut queue = vec![first];
        let mut at = 0;
        while at < queue.len() && at < THRESHOLD {
            let rounds = black_box(ROUNDS); // the compiler must not compute the sum beforehand
            let mut numbers = Random(rounds);
            black_box((0..rounds).map(|_| numbers.next()).sum::<u64>());
            let from = queue[at];
            for node in &self.edges[from as usize] {
                let place = &self.from[*node as usize];
                if place.compare_exchange(0, from + 1, SeqCst, SeqCst).is_ok() {
                    queue.push(*node);
                }
            }
            at += 1;
        }
        queue.split_off(at)
    }
    // excerpt end
    fn reached(&self) -> u64 {
        let over_an_edge = |node: &usize| match self.from[*node].load(Relaxed) {
            0 => false,
            by => self.edges[by as usize - 1].contains(&(*node as u32)),
        };
        1 + (1..self.edges.len()).filter(over_an_edge).count() as u64
    }
}

struct Searcher;
struct SearcherState {
    master: ActorRef<AtMaster>,
    grid: Arc<Grid>,
}

impl Actor for Searcher {
    type Msg = u32;
    starts_with!(SearcherState);
    async fn handle(&self, _: ActorRef<u32>, first: u32, state: &mut SearcherState) -> Done {
        for node in state.grid.visit(first) {
            tell(&state.master, AtMaster::Left(node));
        }
        tell(&state.master, AtMaster::Visited);
        Ok(())
    }
}

struct Master;
enum AtMaster {
    Worker(ActorRef<u32>),
    Left(u32),
    Visited,
}
struct MasterState {
    workers: Vec<ActorRef<u32>>,
    given: usize,
    done: usize,
    grid: Arc<Grid>,
    whole: Arc<Finish>,
}

impl Actor for Master {
    type Msg = AtMaster;
    starts_with!(MasterState);
    async fn handle(&self, _: ActorRef<AtMaster>, m: AtMaster, state: &mut MasterState) -> Done {
        match m {
            AtMaster::Worker(worker) => state.workers.push(worker),
            AtMaster::Left(node) => {
                tell(&state.workers[state.given % state.workers.len()], node);
                state.given += 1;
            }
            AtMaster::Visited => {
                state.done += 1;
                if state.done == state.given {
                    state.whole.one_more(state.grid.reached());
                }
            }
        }
        Ok(())
    }
}

pub async fn run(n: u64) -> u64 {
    let whole = Finish::after(1);
    let grid = Arc::new(Grid::new(n));
    let mut all = Company::default();
    let (workers, whole_of_master) = (Vec::new(), whole.clone());
    let state =
        MasterState { workers, given: 0, done: 0, grid: grid.clone(), whole: whole_of_master };
    let master = all.start(Master, state).await;
    for _ in 0..WORKERS {
        let state = SearcherState { master: master.clone(), grid: grid.clone() };
        let worker = all.start(Searcher, state).await;
        tell(&master, AtMaster::Worker(worker));
    }
    tell(&master, AtMaster::Left(0));
    let answer = whole.wait().await;
    all.end().await;
    answer
}
