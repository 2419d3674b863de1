// SPDX-License-Identifier: Apache-2.0
//! UTS, the unbalanced tree search (Olivier et al., LCPC 2006): counts the nodes of a tree whose
//! shape follows from its random numbers alone. T1 and T1L are geometric trees of fixed shape. T3
//! and T3L are binomial trees with long thin branches, and TT is a tiny tree for tests.

use crate::runtime::{Runtime, Workload};
use crate::sha1::sha1;

const MOST_CHILDREN: usize = 100;

enum Shape {
    /// Every node above that depth has b0 children on average.
    Geometric { b0: f64, depth: u32 },
    /// The root has b0 children. Any other node has m children with probability q, otherwise none.
    Binomial { b0: usize, q: f64, m: usize },
}

pub struct Uts {
    shape: Shape,
    seed: u32,
    nodes: i64,
}

/// The state of a node's random numbers.
type State = [u8; 20];

fn child(state: &State, number: usize) -> State {
    let mut bytes = [0; 24];
    bytes[..20].copy_from_slice(state);
    bytes[20..].copy_from_slice(&(number as u32).to_be_bytes());
    sha1(&bytes)
}

/// Returns a number in [0, 1).
fn random(state: &State) -> f64 {
    let bits = u32::from_be_bytes([state[16], state[17], state[18], state[19]]);
    f64::from(bits & 0x7fffffff) / 2147483648.0
}

impl Shape {
    fn children(&self, state: &State, height: u32) -> usize {
        match *self {
            Shape::Geometric { depth, .. } if height >= depth => 0,
            Shape::Geometric { b0, .. } => {
                let p = 1.0 / (1.0 + b0);
                let count = ((1.0 - random(state)).ln() / (1.0 - p).ln()).floor();
                (count as usize).min(MOST_CHILDREN)
            }
            Shape::Binomial { b0, .. } if height == 0 => b0,
            Shape::Binomial { q, m, .. } if random(state) < q => m,
            Shape::Binomial { .. } => 0,
        }
    }
}

// excerpt uts
fn node<R: Runtime>(here: &mut R::Here<'_>, shape: &Shape, state: State, height: u32) -> i64 {
    1 + R::sum(here, 0, shape.children(&state, height), &|here: &mut R::Here<'_>, i| {
        node::<R>(here, shape, child(&state, i), height + 1)
    })
}
// excerpt end

impl Workload for Uts {
    fn parse(size: &str) -> Option<Uts> {
        let geometric = |depth, seed, nodes| Uts {
            shape: Shape::Geometric { b0: 4.0, depth },
            seed,
            nodes,
        };
        let binomial =
            |q, m, seed, nodes| Uts { shape: Shape::Binomial { b0: 2000, q, m }, seed, nodes };
        match size {
            "T1" => Some(geometric(10, 19, 4130071)),
            "T1L" => Some(geometric(13, 29, 102181082)),
            "TT" => Some(geometric(5, 19, 3987)),
            "T3" => Some(binomial(0.124875, 8, 42, 4112897)),
            "T3L" => Some(binomial(0.200014, 5, 7, 111345631)),
            _ => None,
        }
    }
    fn run<R: Runtime>(&self, runtime: &R) -> i64 {
        let mut root = [0; 20];
        root[16..].copy_from_slice(&self.seed.to_be_bytes());
        runtime.enter(|here| node::<R>(here, &self.shape, sha1(&root), 0))
    }
    fn expected(&self) -> i64 {
        self.nodes
    }
    fn tasks(&self) -> i64 {
        self.nodes
    }
}
