// SPDX-License-Identifier: Apache-2.0
use crate::Forks;

pub const LARGEST: usize = 16;

pub const ANSWERS: [i64; LARGEST + 1] =
    [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512];

/// Nodes of the search tree, the root included.
pub const TASKS: [i64; LARGEST + 1] = [
    1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926, 856189, 4674890, 27358553, 171129072, 1141190303,
];

fn legal<const N: usize>(board: &[i8; N], column: usize, row: i8) -> bool {
    (0..column).all(|x| {
        let (other, distance) = (board[x], (column - x) as i8);
        row != other && row != other - distance && row != other + distance
    })
}

fn node<L: Forks, const N: usize>(context: &mut L::Context<'_>, column: usize, board: [i8; N]) -> i64 {
    if column == N {
        return 1;
    }
    let mut moves = [0i8; N];
    let mut count = 0;
    for row in 0..N as i8 {
        if legal(&board, column, row) {
            moves[count] = row;
            count += 1;
        }
    }
    L::sum(context, 0, count, &|c: &mut L::Context<'_>, i| {
        let mut next = board;
        next[column] = moves[i];
        node::<L, N>(c, column + 1, next)
    })
}

pub fn run<L: Forks>(context: &mut L::Context<'_>, n: usize) -> i64 {
    macro_rules! boards {
        ($($size:literal)*) => { match n { $($size => node::<L, $size>(context, 0, [0; $size]),)* _ => -1 } };
    }
    boards!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
}
