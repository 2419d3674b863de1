// SPDX-License-Identifier: Apache-2.0
//! integrate: adaptive quadrature of x³ + x from 0 to n, as in workloads/cilk/integrate.hpp. The
//! answer is the integral in thousands.

use crate::runtime::{Runtime, Workload};

/// A size and its number of nodes, which is counted.
pub struct Integrate(i64, i64);

const SIZES: [(i64, i64); 4] =
    [(100, 779_923), (1_000, 15_016_391), (5_000, 128_923_579), (10_000, 350_009_975)];
const TOLERANCE: f64 = 1e-9;

fn f(x: f64) -> f64 {
    (x * x + 1.0) * x
}

// excerpt integrate
fn node<R: Runtime>(
    here: &mut R::Here<'_>,
    x1: f64,
    y1: f64,
    x2: f64,
    y2: f64,
    area: f64,
) -> f64 {
    let half = (x2 - x1) / 2.0;
    let x = x1 + half;
    let y = f(x);
    let left = (y1 + y) / 2.0 * half;
    let right = (y + y2) / 2.0 * half;
    if (left + right - area).abs() < TOLERANCE {
        return left + right;
    }
    let (a, b) = R::both(
        here,
        |here| node::<R>(here, x1, y1, x, y, left),
        |here| node::<R>(here, x, y, x2, y2, right),
    );
    a + b
}
// excerpt end

impl Workload for Integrate {
    fn parse(size: &str) -> Option<Integrate> {
        let n: i64 = size.parse().ok()?;
        SIZES.iter().find(|known| known.0 == n).map(|known| Integrate(known.0, known.1))
    }
    fn run<R: Runtime>(&self, runtime: &R) -> i64 {
        let end = self.0 as f64;
        let integral = runtime.enter(|here| node::<R>(here, 0.0, 0.0, end, f(end), 0.0));
        (integral / 1000.0).round() as i64
    }
    fn expected(&self) -> i64 {
        let half_square = self.0 * self.0 / 2;
        half_square * (half_square + 1) / 1000
    }
    fn tasks(&self) -> i64 {
        self.1
    }
}
