// SPDX-License-Identifier: Apache-2.0
//! savina-facloc.

use super::Random;
use crate::{start, tell, Done, Finish};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::sync::Arc;

const SIDE: f64 = 500.0;
const LIMIT: f64 = 2.0 * std::f64::consts::SQRT_2 * SIDE;
const SEED: u64 = 123_456 % 65_536;
const NO_PART: usize = 4;

#[derive(Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

impl Point {
    fn distance(self, other: Point) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }
    fn drawn(numbers: &mut Random) -> Point {
        let mut number = || numbers.next() as f64 / 65536.0 * SIDE;
        let x = number();
        Point { x, y: number() }
    }
}

struct Quadrant;
struct QuadrantState {
    low: Point,
    high: Point,
    facilities: Vec<Point>,
    customers: Vec<Point>,
    cost: f64,
    above: Option<ActorRef<At>>, // none for the root
    part: usize,
    parts: Vec<ActorRef<At>>,
    counted: usize,
    count: u64,
    whole: Arc<Finish>,
}

#[derive(Clone, Copy)]
enum At {
    Customer(Point),
    Opened(Point, usize),
    AskCount,
    Count(u64),
    End,
}

impl QuadrantState {
    fn new(low: Point, high: Point, whole: Arc<Finish>) -> QuadrantState {
        let (facilities, customers, parts) = (Vec::new(), Vec::new(), Vec::new());
        let (cost, above, part, counted, count) = (0.0, None, NO_PART, 0, 0);
        QuadrantState {
            low,
            high,
            facilities,
            customers,
            cost,
            above,
            part,
            parts,
            counted,
            count,
            whole,
        }
    }
    fn centre(&self) -> Point {
        Point { x: (self.low.x + self.high.x) / 2.0, y: (self.low.y + self.high.y) / 2.0 }
    }
    /// Returns true if the quadrant must be split.
    fn add(&mut self, at: Point) -> bool {
        let first = self.centre().distance(at);
        let nearest = self.facilities.iter().map(|one| one.distance(at)).fold(first, f64::min);
        self.customers.push(at);
        self.cost += nearest;
        self.cost > LIMIT
    }
    fn part_of(&self, at: Point) -> usize {
        let centre = self.centre();
        usize::from(at.x >= centre.x) + 2 * usize::from(at.y >= centre.y)
    }
    fn tell_above(&self, at: Point) {
        if let Some(above) = &self.above {
            tell(above, At::Opened(at, self.part));
        }
    }
    fn end(&self, customers: u64) {
        match &self.above {
            Some(above) => tell(above, At::Count(customers)),
            None => self.whole.one_more(customers),
        }
    }
    async fn split(&mut self, me: &ActorRef<At>) {
        let (low, high, c) = (self.low, self.high, self.centre());
        self.tell_above(c);
        self.facilities.push(c);
        let (right, left) = ((Point { x: c.x, y: low.y }, Point { x: high.x, y: c.y }), (low, c));
        let above = (Point { x: low.x, y: c.y }, Point { x: c.x, y: high.y });
        for (part, (low, high)) in [left, right, above, (c, high)].into_iter().enumerate() {
            let mut below = QuadrantState::new(low, high, self.whole.clone());
            below.facilities = self.facilities.clone();
            below.above = Some(me.clone());
            below.part = part;
            for one in self.customers.iter().filter(|one| self.part_of(**one) == part) {
                below.add(*one);
            }
            self.parts.push(start(Quadrant, below).await.0);
        }
        self.customers.clear();
    }
}

// excerpt savina-facloc
impl Actor for Quadrant {
    type Msg = At;
    starts_with!(QuadrantState);
    async fn handle(&self, me: ActorRef<At>, message: At, state: &mut QuadrantState) -> Done {
        match message {
            At::Customer(at) if state.parts.is_empty() => {
                if state.add(at) {
                    state.split(&me).await;
                }
            }
            At::Customer(at) => tell(&state.parts[state.part_of(at)], message),
            At::Opened(at, NO_PART) => {
                state.facilities.push(at);
                state.parts.iter().for_each(|part| tell(part, message));
            }
            At::Opened(at, from) => {
                state.facilities.push(at);
                tell(&state.parts[3 - from], At::Opened(at, NO_PART));
                state.tell_above(at);
            }
            At::AskCount => {
                state.parts.iter().for_each(|part| tell(part, message));
                if state.parts.is_empty() {
                    state.end(state.customers.len() as u64);
                }
            }
            At::Count(customers) => {
                state.count += customers;
                state.counted += 1;
                if state.counted == state.parts.len() {
                    state.end(state.count);
                }
            }
            At::End => {
                state.parts.drain(..).for_each(|part| tell(&part, At::End));
                me.stop(None);
            }
        }
        Ok(())
    }
}
// excerpt end

pub async fn run(n: u64) -> u64 {
    let whole = Finish::after(1);
    let (low, high) = (Point { x: 0.0, y: 0.0 }, Point { x: SIDE, y: SIDE });
    let (root, handle) = start(Quadrant, QuadrantState::new(low, high, whole.clone())).await;
    let mut numbers = Random(SEED);
    for _ in 0..n {
        tell(&root, At::Customer(Point::drawn(&mut numbers)));
    }
    tell(&root, At::AskCount);
    let answer = whole.wait().await;
    tell(&root, At::End);
    handle.await.expect("no actor panics");
    answer
}
