// SPDX-License-Identifier: Apache-2.0
use crate::sha1::{sha1, Digest};
use crate::Forks;

/// Parameters as in lab/workloads/uts.hpp.
#[derive(Clone, Copy)]
pub struct Tree {
    shape: Shape,
    seed: u32,
    pub nodes: i64,
}

#[derive(Clone, Copy)]
enum Shape {
    Geometric { mean: f64, depth: u32 },
    Binomial { root: usize, chance: f64, children: usize },
}

pub fn named(name: &str) -> Option<Tree> {
    let (shape, seed, nodes) = match name {
        "T1" => (Shape::Geometric { mean: 4.0, depth: 10 }, 19, 4130071),
        "T3" => (Shape::Binomial { root: 2000, chance: 0.124875, children: 8 }, 42, 4112897),
        "TT" => (Shape::Geometric { mean: 4.0, depth: 5 }, 19, 3987),
        _ => return None,
    };
    Some(Tree { shape, seed, nodes })
}

fn children(tree: &Tree, state: &Digest, height: u32) -> usize {
    const MOST: usize = 100;
    let bits = u32::from_be_bytes(state[16..].try_into().unwrap()) & 0x7fffffff;
    let random = f64::from(bits) / 2147483648.0;
    match tree.shape {
        Shape::Geometric { depth, .. } if height >= depth => 0,
        Shape::Geometric { mean, .. } => {
            let p = 1.0 / (1.0 + mean);
            (((1.0 - random).ln() / (1.0 - p).ln()).floor() as usize).min(MOST)
        }
        Shape::Binomial { root, .. } if height == 0 => root,
        Shape::Binomial { chance, children, .. } => {
            if random < chance {
                children
            } else {
                0
            }
        }
    }
}

fn node<L: Forks>(context: &mut L::Context<'_>, tree: &Tree, state: Digest, height: u32) -> i64 {
    let count = children(tree, &state, height);
    1 + L::sum(context, 0, count, &|c: &mut L::Context<'_>, i| {
        let mut bytes = [0u8; 24];
        bytes[..20].copy_from_slice(&state);
        bytes[20..].copy_from_slice(&(i as u32).to_be_bytes());
        node::<L>(c, tree, sha1(&bytes), height + 1)
    })
}

pub fn run<L: Forks>(context: &mut L::Context<'_>, tree: &Tree) -> i64 {
    let mut root = [0u8; 20];
    root[16..].copy_from_slice(&tree.seed.to_be_bytes());
    node::<L>(context, tree, sha1(&root), 0)
}
