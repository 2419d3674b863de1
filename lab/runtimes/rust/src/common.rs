// SPDX-License-Identifier: Apache-2.0
//! What the Rust runtimes share: the workloads over a trait of forks, SHA-1 for UTS, and the program around them.

use std::time::Instant;

/// The forms of a fork that the workloads need. `Self` is handed down, since some libraries want their context passed.
pub trait Forks: Sized {
    fn both<A: Send, B: Send>(
        &mut self,
        f: impl FnOnce(&mut Self) -> A + Send,
        g: impl FnOnce(&mut Self) -> B + Send,
    ) -> (A, B);

    /// f(first) + ... + f(last - 1), by halves.
    fn sum(&mut self, first: usize, last: usize, f: &(impl Fn(&mut Self, usize) -> i64 + Sync)) -> i64 {
        match last - first {
            0 => 0,
            1 => f(self, first),
            n => {
                let half = first + n / 2;
                let (a, b) = self.both(|s| s.sum(first, half, f), |s| s.sum(half, last, f));
                a + b
            }
        }
    }
}

fn fib<S: Forks>(s: &mut S, n: i64) -> i64 {
    if n < 2 {
        return n;
    }
    let (a, b) = s.both(|s| fib(s, n - 1), |s| fib(s, n - 2));
    a + b
}

fn skynet<S: Forks>(s: &mut S, first: i64, count: i64) -> i64 {
    if count == 1 {
        return first;
    }
    let part = count / 10;
    s.sum(0, 10, &|s: &mut S, i| skynet(s, first + i as i64 * part, part))
}

fn queens<S: Forks, const N: usize>(s: &mut S, column: usize, board: [i8; N]) -> i64 {
    if column == N {
        return 1;
    }
    let mut moves = [0i8; N];
    let mut count = 0;
    for row in 0..N as i8 {
        let legal = (0..column).all(|x| {
            let (p, d) = (board[x], (column - x) as i8);
            row != p && row != p - d && row != p + d
        });
        if legal {
            moves[count] = row;
            count += 1;
        }
    }
    s.sum(0, count, &|s: &mut S, i| {
        let mut next = board;
        next[column] = moves[i];
        queens(s, column + 1, next)
    })
}

#[derive(Clone, Copy)]
struct Matrix(*mut i32);
unsafe impl Send for Matrix {}
unsafe impl Sync for Matrix {}
impl Matrix {
    fn at(self, offset: usize) -> Matrix {
        // SAFETY: quadrants stay inside the matrix.
        Matrix(unsafe { self.0.add(offset) })
    }
}

fn multiply_leaf(a: Matrix, b: Matrix, c: Matrix, n: usize, stride: usize) {
    for i in 0..n {
        // SAFETY: rows of distinct matrices, n <= stride.
        unsafe {
            let row = std::slice::from_raw_parts_mut(c.0.add(i * stride), n);
            for k in 0..n {
                let x = *a.0.add(i * stride + k);
                let other = std::slice::from_raw_parts(b.0.add(k * stride), n);
                for j in 0..n {
                    row[j] = row[j].wrapping_add(x.wrapping_mul(other[j]));
                }
            }
        }
    }
}

fn multiply<S: Forks>(s: &mut S, a: Matrix, b: Matrix, c: Matrix, n: usize, stride: usize) {
    if n <= 32 {
        return multiply_leaf(a, b, c, n, stride);
    }
    let k = n / 2;
    let down = k * stride;
    let four = |s: &mut S, left: usize, upper: usize| {
        s.both(
            |s| {
                s.both(
                    |s| multiply(s, a.at(left), b.at(upper), c, k, stride),
                    |s| multiply(s, a.at(left), b.at(upper + k), c.at(k), k, stride),
                )
            },
            |s| {
                s.both(
                    |s| multiply(s, a.at(left + down), b.at(upper), c.at(down), k, stride),
                    |s| multiply(s, a.at(left + down), b.at(upper + k), c.at(down + k), k, stride),
                )
            },
        );
    };
    four(s, 0, 0);
    four(s, k, down);
}

/// The three matrices, made by the thread that enters the runtime.
struct Matrices(Vec<i32>, Vec<i32>, Vec<i32>);

impl Matrices {
    fn new(n: usize) -> Matrices {
        Matrices(vec![1; n * n], vec![1; n * n], vec![0; n * n])
    }
}

fn matmul<S: Forks>(s: &mut S, n: usize, of: &Matrices) -> i64 {
    let matrix = |v: &Vec<i32>| Matrix(v.as_ptr() as *mut i32);
    multiply(s, matrix(&of.0), matrix(&of.1), matrix(&of.2), n, n);
    if of.2.iter().all(|&x| x == n as i32) { n as i64 } else { 0 }
}

fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut block = [0u8; 64];
    block[..bytes.len()].copy_from_slice(bytes);
    block[bytes.len()] = 0x80;
    block[56..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    let mut w = [0u32; 80];
    for i in 0..16 {
        w[i] = u32::from_be_bytes(block[4 * i..4 * i + 4].try_into().unwrap());
    }
    for i in 16..80 {
        w[i] = (w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]).rotate_left(1);
    }
    let start = [0x67452301u32, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0];
    let [mut a, mut b, mut c, mut d, mut e] = start;
    for (i, &word) in w.iter().enumerate() {
        let (f, k) = match i / 20 {
            0 => ((b & c) | (!b & d), 0x5A827999u32),
            1 => (b ^ c ^ d, 0x6ED9EBA1),
            2 => ((b & c) | (b & d) | (c & d), 0x8F1BBCDC),
            _ => (b ^ c ^ d, 0xCA62C1D6),
        };
        let next = a.rotate_left(5).wrapping_add(f).wrapping_add(e).wrapping_add(k).wrapping_add(word);
        e = d;
        d = c;
        c = b.rotate_left(30);
        b = a;
        a = next;
    }
    let mut out = [0u8; 20];
    for (i, value) in [a, b, c, d, e].into_iter().enumerate() {
        out[4 * i..4 * i + 4].copy_from_slice(&start[i].wrapping_add(value).to_be_bytes());
    }
    out
}

#[derive(Clone, Copy)]
struct Tree {
    geometric: bool,
    b0: f64,
    depth: u32,
    q: f64,
    m: usize,
    seed: u32,
    nodes: i64,
}

fn tree(name: &str) -> Option<Tree> {
    let geometric = |depth, nodes| Tree { geometric: true, b0: 4.0, depth, q: 0.0, m: 0, seed: 19, nodes };
    match name {
        "T1" => Some(geometric(10, 4130071)),
        "TT" => Some(geometric(5, 3987)),
        "T3" => Some(Tree { geometric: false, b0: 2000.0, depth: 0, q: 0.124875, m: 8, seed: 42, nodes: 4112897 }),
        _ => None,
    }
}

fn uts<S: Forks>(s: &mut S, tree: &Tree, state: [u8; 20], height: u32) -> i64 {
    let random = (u32::from_be_bytes(state[16..].try_into().unwrap()) & 0x7fffffff) as f64 / 2147483648.0;
    let children = if tree.geometric {
        if height < tree.depth {
            let p = 1.0 / (1.0 + tree.b0);
            (((1.0 - random).ln() / (1.0 - p).ln()).floor() as usize).min(100)
        } else {
            0
        }
    } else if height == 0 {
        tree.b0 as usize
    } else if random < tree.q {
        tree.m
    } else {
        0
    };
    1 + s.sum(0, children, &|s: &mut S, i| {
        let mut bytes = [0u8; 24];
        bytes[..20].copy_from_slice(&state);
        bytes[20..].copy_from_slice(&(i as u32).to_be_bytes());
        uts(s, tree, sha1(&bytes), height + 1)
    })
}

const QUEENS: [i64; 17] = [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512];
const QUEENS_NODES: [i64; 17] = [
    1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926, 856189, 4674890, 27358553, 171129072, 1141190303,
];

enum Job {
    Fib(i64),
    Skynet(u32),
    Queens(usize),
    Matmul(usize),
    Uts(Tree),
}

impl Job {
    fn parse(workload: &str, size: &str) -> Option<Job> {
        let number = size.parse::<usize>().ok();
        match workload {
            "fib" => number.filter(|&n| n <= 50).map(|n| Job::Fib(n as i64)),
            "skynet" => number.filter(|&n| n <= 9).map(|n| Job::Skynet(n as u32)),
            "nqueens" => number.filter(|&n| (1..=16).contains(&n)).map(Job::Queens),
            "matmul" => number.filter(|&n| (32..=4096).contains(&n) && n.is_power_of_two()).map(Job::Matmul),
            "uts" => tree(size).map(Job::Uts),
            _ => None,
        }
    }

    fn run<S: Forks>(&self, s: &mut S, matrices: &Option<Matrices>) -> i64 {
        macro_rules! boards {
            ($n:expr, $($k:literal)*) => { match $n { $($k => queens::<S, $k>(s, 0, [0; $k]),)* _ => -1 } };
        }
        match self {
            Job::Fib(n) => fib(s, *n),
            Job::Skynet(depth) => skynet(s, 0, 10i64.pow(*depth)),
            Job::Queens(n) => boards!(*n, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16),
            Job::Matmul(n) => matmul(s, *n, matrices.as_ref().expect("made before")),
            Job::Uts(tree) => {
                let mut root = [0u8; 20];
                root[16..].copy_from_slice(&tree.seed.to_be_bytes());
                uts(s, tree, sha1(&root), 0)
            }
        }
    }

    fn expected_and_tasks(&self) -> (i64, i64) {
        let fibonacci = |n: i64| (0..n).fold((0i64, 1i64), |(a, b), _| (b, a + b)).0;
        match self {
            Job::Fib(n) => (fibonacci(*n), 2 * fibonacci(*n + 1) - 1),
            Job::Skynet(d) => {
                let leaves = 10i64.pow(*d);
                (leaves * (leaves - 1) / 2, (leaves * 10 - 1) / 9)
            }
            Job::Queens(n) => (QUEENS[*n], QUEENS_NODES[*n]),
            Job::Matmul(n) => {
                let levels = (n / 32).trailing_zeros();
                (*n as i64, (0..=levels).map(|l| 8i64.pow(l)).sum())
            }
            Job::Uts(tree) => (tree.nodes, tree.nodes),
        }
    }
}

/// User and system time of the process so far, in seconds (clock ticks are 1/100 s on Linux).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn peak_rss_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(-1)
}

/// A job that a pool runs with its own kind of forks.
pub struct Work(Job, Option<Matrices>);
impl Work {
    fn prepare(&mut self) {
        self.1 = None;
        if let Job::Matmul(n) = self.0 {
            self.1 = Some(Matrices::new(n));
        }
    }

    pub fn run<S: Forks>(&self, s: &mut S) -> i64 {
        self.0.run(s, &self.1)
    }
}

/// `enter(threads, timed)` makes the pool and calls `timed` with what runs a job in it, warm-up and timed run alike.
pub fn measure(enter: impl FnOnce(usize, &mut dyn FnMut(&dyn Fn(&Work) -> i64))) {
    let arguments: Vec<String> = std::env::args().collect();
    let fail = |text: &str| -> ! {
        eprintln!("{text}");
        std::process::exit(1)
    };
    if arguments.len() != 4 {
        fail("usage: WORKLOAD SIZE THREADS");
    }
    let Some(job) = Job::parse(&arguments[1], &arguments[2]) else {
        fail("unknown workload or size out of range")
    };
    let threads = match arguments[3].parse::<usize>() {
        Ok(n) if (1..=1024).contains(&n) => n,
        _ => fail("bad number of threads"),
    };
    let mut work = Work(job, None);
    let mut ok = false;
    enter(threads, &mut |run: &dyn Fn(&Work) -> i64| {
        if std::env::var_os("LAB_NO_WARMUP").is_none() {
            work.prepare();
            run(&work);
        }
        let cpu = cpu_seconds();
        let start = Instant::now();
        work.prepare();
        let answer = run(&work);
        let seconds = start.elapsed().as_secs_f64();
        let (expected, tasks) = work.0.expected_and_tasks();
        ok = answer == expected;
        println!(
            "{{\"answer\": {answer}, \"expected\": {expected}, \"seconds\": {seconds:.9}, \"cpu_seconds\": {:.6}, \"tasks\": {tasks}, \"peak_rss_kib\": {}}}",
            cpu_seconds() - cpu,
            peak_rss_kib()
        );
    });
    std::process::exit(if ok { 0 } else { 1 });
}
