// SPDX-License-Identifier: Apache-2.0
//! The workloads of lab/workloads/files: tasks read blocks of a file that is in memory, each block
//! in a thread for blocking calls, as tokio's own file does.

use lab::fibers::share;
use std::fs::{remove_file, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use tokio::task::{spawn, spawn_blocking};

const BLOCK: usize = 4096;
const BLOCKS: u64 = 1024;

/// A file of blocks that begin and end with their number plus one. It lives until it is closed.
fn block_file() -> File {
    let path = std::env::temp_dir().join(format!("lab-io-files-{}", std::process::id()));
    let mut to =
        File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    remove_file(&path).unwrap();
    for i in 0..BLOCKS {
        let mut block = [0; BLOCK];
        block[..8].copy_from_slice(&(i + 1).to_le_bytes());
        block[BLOCK - 8..].copy_from_slice(&(i + 1).to_le_bytes());
        to.write_all(&block).unwrap();
    }
    to
}

// excerpt files
async fn read_blocks(file: Arc<File>, number: u64, reads: u64) -> u64 {
    let mut block = vec![0; BLOCK];
    let mut right = 0;
    for i in 0..reads {
        let at = (number * 61 + i * 7) % BLOCKS;
        let from = file.clone();
        let read = move || from.read_exact_at(&mut block, at * BLOCK as u64).map(|()| block);
        block = spawn_blocking(read).await.unwrap().expect("the file has the block");
        let expected = (at + 1).to_le_bytes();
        right += u64::from(block[..8] == expected && block[BLOCK - 8..] == expected);
    }
    right
}

pub async fn reads(fibers: u64, n: u64) -> u64 {
    let file = Arc::new(block_file());
    let all: Vec<_> =
        (0..fibers).map(|i| spawn(read_blocks(file.clone(), i, share(n, fibers, i)))).collect();
    let mut right = 0;
    for one in all {
        right += one.await.unwrap();
    }
    right
}
// excerpt end
