// SPDX-License-Identifier: Apache-2.0
//! matmul: C += A * B on integers by quadrants: two groups of four products with a join between the
//! groups, down to 32 x 32. A and B hold only ones, so every element of C must be n. The thread
//! that enters the runtime makes the matrices inside the timed region, each on pages of its own
//! (see `lab/workloads/matmul.hpp`).

use crate::runtime::{Runtime, Workload};

const LEAF: usize = 32;

pub struct Matmul(usize);

const PAGE: usize = 1024; // elements

#[derive(Clone, Copy)]
#[repr(align(4096))]
struct Page([i32; PAGE]);

/// The address of the first element of a quadrant. Tasks that run at the same time write to
/// distinct quadrants of C.
#[derive(Clone, Copy)]
struct Quadrant(*mut i32);

// SAFETY: tasks that run at the same time write through it to distinct quadrants only.
unsafe impl Send for Quadrant {}
unsafe impl Sync for Quadrant {}

impl Quadrant {
    fn at(self, offset: usize) -> Quadrant {
        // SAFETY: the offsets below stay inside the matrix.
        Quadrant(unsafe { self.0.add(offset) })
    }
}

#[inline(never)]
fn leaf(a: Quadrant, b: Quadrant, c: Quadrant, n: usize, stride: usize) {
    for i in 0..n {
        // SAFETY: n rows of n elements lie inside each matrix. Only this task writes to these rows
        // of C.
        let row = unsafe { std::slice::from_raw_parts_mut(c.0.add(i * stride), n) };
        for k in 0..n {
            // SAFETY: n rows of n elements lie inside each matrix. No task writes to A and B.
            let (factor, other) = unsafe {
                (*a.0.add(i * stride + k), std::slice::from_raw_parts(b.0.add(k * stride), n))
            };
            for (sum, x) in row.iter_mut().zip(other) {
                *sum = sum.wrapping_add(factor.wrapping_mul(*x));
            }
        }
    }
}

fn node<R: Runtime>(
    here: &mut R::Here<'_>,
    a: Quadrant,
    b: Quadrant,
    c: Quadrant,
    n: usize,
    stride: usize,
) {
    if n <= LEAF {
        return leaf(a, b, c, n, stride);
    }
    let k = n / 2;
    let down = k * stride;
    // Multiplies one half of A's columns by the matching half of B's rows.
    let mut four = |a: Quadrant, b: Quadrant| {
        R::both(
            here,
            |here| {
                R::both(
                    here,
                    |here| node::<R>(here, a, b, c, k, stride),
                    |here| node::<R>(here, a, b.at(k), c.at(k), k, stride),
                )
            },
            |here| {
                R::both(
                    here,
                    |here| node::<R>(here, a.at(down), b, c.at(down), k, stride),
                    |here| node::<R>(here, a.at(down), b.at(k), c.at(down + k), k, stride),
                )
            },
        );
    };
    four(a, b);
    four(a.at(k), b.at(down));
}

impl Workload for Matmul {
    fn parse(size: &str) -> Option<Matmul> {
        size.parse()
            .ok()
            .filter(|&n: &usize| (LEAF..=4096).contains(&n) && n.is_power_of_two())
            .map(Matmul)
    }
    fn run<R: Runtime>(&self, runtime: &R) -> i64 {
        let n = self.0;
        let filled = |value| vec![Page([value; PAGE]); n * n / PAGE];
        let (mut a, mut b, mut c) = (filled(1), filled(1), filled(0));
        let (a, b, all) = (
            Quadrant(a.as_mut_ptr().cast()),
            Quadrant(b.as_mut_ptr().cast()),
            Quadrant(c.as_mut_ptr().cast()),
        );
        runtime.enter(|here| node::<R>(here, a, b, all, n, n));
        if c.iter().all(|page| page.0.iter().all(|&x| x == n as i32)) {
            n as i64
        } else {
            0
        }
    }
    fn expected(&self) -> i64 {
        self.0 as i64
    }
    fn tasks(&self) -> i64 {
        (0..=(self.0 / LEAF).ilog2()).map(|level| 8i64.pow(level)).sum()
    }
}
