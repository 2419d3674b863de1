// SPDX-License-Identifier: Apache-2.0
use crate::Forks;

const LEAF: usize = 32;

/// A quadrant of a matrix: its upper left element. Quadrants that are written at the same time do not overlap.
#[derive(Clone, Copy)]
struct Matrix(*mut i32);

// SAFETY: shared between the jobs of one `run`, which all end before the matrix does; see `node` for who writes what.
unsafe impl Send for Matrix {}
unsafe impl Sync for Matrix {}

impl Matrix {
    fn at(self, offset: usize) -> Matrix {
        // SAFETY: `node` only asks for corners of quadrants.
        Matrix(unsafe { self.0.add(offset) })
    }
}

fn multiply_leaf(a: Matrix, b: Matrix, c: Matrix, n: usize, stride: usize) {
    for i in 0..n {
        // SAFETY: n rows of n elements lie within each quadrant; nobody else writes this one of c, nobody a or b.
        unsafe {
            let row = std::slice::from_raw_parts_mut(c.0.add(i * stride), n);
            for k in 0..n {
                let factor = *a.0.add(i * stride + k);
                let other = std::slice::from_raw_parts(b.0.add(k * stride), n);
                for j in 0..n {
                    row[j] = row[j].wrapping_add(factor.wrapping_mul(other[j]));
                }
            }
        }
    }
}

/// c += a * b: four jobs that write the four quadrants of c, a join, and the same four again.
fn node<L: Forks>(context: &mut L::Context<'_>, a: Matrix, b: Matrix, c: Matrix, n: usize, stride: usize) {
    if n <= LEAF {
        return multiply_leaf(a, b, c, n, stride);
    }
    let k = n / 2;
    let down = k * stride;
    for (left, upper) in [(0, 0), (k, down)] {
        L::sum(context, 0, 4, &|context: &mut L::Context<'_>, i| {
            let (lower, right) = (i / 2 * down, i % 2 * k);
            node::<L>(context, a.at(left + lower), b.at(upper + right), c.at(lower + right), k, stride);
            0
        });
    }
}

/// n if the product of two matrices of ones is right, else 0.
pub fn run<L: Forks>(context: &mut L::Context<'_>, n: usize) -> i64 {
    let mut a = vec![1i32; n * n];
    let mut b = vec![1i32; n * n];
    let mut c = vec![0i32; n * n];
    node::<L>(context, Matrix(a.as_mut_ptr()), Matrix(b.as_mut_ptr()), Matrix(c.as_mut_ptr()), n, n);
    if c.iter().all(|&element| element == n as i32) {
        n as i64
    } else {
        0
    }
}

/// Nodes.
pub fn tasks(n: usize) -> i64 {
    (0..=(n / LEAF).trailing_zeros()).map(|level| 8i64.pow(level)).sum()
}
