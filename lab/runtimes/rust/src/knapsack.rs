// SPDX-License-Identifier: Apache-2.0
//! knapsack: the 0-1 knapsack problem by branch and bound, as in workloads/cilk/knapsack.hpp, with
//! the same items. The number of nodes differs from run to run.

use crate::runtime::{Runtime, Workload};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

struct Item {
    value: i32,
    weight: i32,
}

pub struct Knapsack {
    items: Vec<Item>, // the densest first, of equal ones the lightest
    room: i32,
    answer: i64,
    nodes: i64, // of the serial search
}

/// A size, its best value, and its number of nodes.
const SIZES: [(usize, i64, i64); 3] =
    [(12, 5_466, 1_519), (40, 18_595, 925_921), (58, 26_755, 155_715_259)];
const NONE: i32 = i32::MIN;

/// The best value that a task has seen. Tasks that raise it at the same time may lose an update.
static BEST: AtomicI32 = AtomicI32::new(NONE);

// excerpt knapsack
fn node<R: Runtime>(here: &mut R::Here<'_>, items: &[Item], room: i32, value: i32) -> i32 {
    if room < 0 {
        return NONE;
    }
    let Some((next, rest)) = items.split_first().filter(|_| room > 0) else {
        return value;
    };
    if value + room * next.value / next.weight < BEST.load(Relaxed) {
        return NONE;
    }
    let (without, with) = R::both(
        here,
        |here| node::<R>(here, rest, room, value),
        |here| node::<R>(here, rest, room - next.weight, value + next.value),
    );
    let result = without.max(with);
    if result > BEST.load(Relaxed) {
        BEST.store(result, Relaxed);
    }
    result
}
// excerpt end

impl Workload for Knapsack {
    fn parse(size: &str) -> Option<Knapsack> {
        let n: usize = size.parse().ok()?;
        let &(count, answer, nodes) = SIZES.iter().find(|known| known.0 == n)?;
        let mut state = 1u32;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            100 + ((state >> 16) % 900) as i32
        };
        let mut items = Vec::new();
        for _ in 0..count {
            let weight = draw();
            items.push(Item { value: draw(), weight });
        }
        let room = items.iter().map(|item| item.weight).sum::<i32>() / 2;
        items.sort_by_key(|item| item.weight);
        items.sort_by(|a, b| (b.value * a.weight).cmp(&(a.value * b.weight)));
        Some(Knapsack { items, room, answer, nodes })
    }
    fn run<R: Runtime>(&self, runtime: &R) -> i64 {
        BEST.store(NONE, Relaxed);
        runtime.enter(|here| node::<R>(here, &self.items, self.room, 0)).into()
    }
    fn expected(&self) -> i64 {
        self.answer
    }
    fn tasks(&self) -> i64 {
        self.nodes
    }
}
