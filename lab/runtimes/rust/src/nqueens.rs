// SPDX-License-Identifier: Apache-2.0
//! nqueens: all ways to place n queens on a board, with one task for each legal move. The board is
//! passed by value.

use crate::runtime::{Runtime, Workload};

const ANSWERS: [i64; 17] =
    [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512];
/// The number of partial boards on which no queen attacks another queen, the empty board included.
const NODES: [i64; 17] = [
    1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926, 856189, 4674890, 27358553, 171129072,
    1141190303,
];

pub struct Queens(usize);

fn legal<const N: usize>(board: &[i8; N], column: usize, row: i8) -> bool {
    board[..column].iter().enumerate().all(|(x, &other)| {
        let distance = (column - x) as i8;
        row != other && row != other - distance && row != other + distance
    })
}

// excerpt nqueens
fn node<R: Runtime, const N: usize>(here: &mut R::Here<'_>, column: usize, board: [i8; N]) -> i64 {
    if column == N {
        return 1;
    }
    let mut moves = [0; N];
    let mut count = 0;
    for row in 0..N as i8 {
        if legal(&board, column, row) {
            moves[count] = row;
            count += 1;
        }
    }
    R::sum(here, 0, count, &|here: &mut R::Here<'_>, i| {
        let mut next = board;
        next[column] = moves[i];
        node::<R, N>(here, column + 1, next)
    })
}
// excerpt end

impl Workload for Queens {
    fn parse(size: &str) -> Option<Queens> {
        size.parse().ok().filter(|n| (1..=16).contains(n)).map(Queens)
    }
    fn run<R: Runtime>(&self, runtime: &R) -> i64 {
        macro_rules! of_size {
            ($($n:literal)*) => {
                match self.0 {
                    $($n => runtime.enter(|here| node::<R, $n>(here, 0, [0; $n])),)*
                    _ => unreachable!("parse refuses other sizes"),
                }
            };
        }
        of_size!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    }
    fn expected(&self) -> i64 {
        ANSWERS[self.0]
    }
    fn tasks(&self) -> i64 {
        NODES[self.0]
    }
}
