// SPDX-License-Identifier: Apache-2.0
//! The servers of lab/workloads/io: a task for each connection. message.hpp there describes the
//! requests. The work of `io-mixed` runs inside the task, and that of `io-mixed-aside` in a thread
//! for blocking calls. That of `io-fork` runs in rayon's pool,
//! which has as many threads, and the task waits for it.

use lab::fibers::xorshift;
use std::future::Future;
use std::io::Read;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::timeout;

const MESSAGE: usize = 64;
const LEAVES: u64 = 256;
const READ_LIMIT: Duration = Duration::from_secs(10);

async fn echo(mut peer: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = peer.read(&mut buffer).await {
        if peer.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}

// excerpt limit
async fn limited_echo(mut peer: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(Ok(n @ 1..)) = timeout(READ_LIMIT, peer.read(&mut buffer)).await {
        if peer.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}
// excerpt end

// excerpt answer
/// Replaces word 1 of each request by its result.
async fn answer<F: Future<Output = u64>>(mut peer: TcpStream, result: fn(u64, u64) -> F) {
    let mut request = [0; MESSAGE];
    while peer.read_exact(&mut request).await.is_ok() {
        let word = |at: usize| u64::from_le_bytes(request[at..at + 8].try_into().expect("8 bytes"));
        let changed = result(word(8), word(0)).await;
        request[8..16].copy_from_slice(&changed.to_le_bytes());
        if peer.write_all(&request).await.is_err() {
            return;
        }
    }
}
// excerpt end

async fn mixed(state: u64, steps: u64) -> u64 {
    xorshift(state, steps)
}

async fn mixed_aside(state: u64, steps: u64) -> u64 {
    if steps == 0 {
        return state;
    }
    tokio::task::spawn_blocking(move || xorshift(state, steps)).await.expect("it does not panic")
}

/// The sum over the leaves from `first` on, with a fork for each leaf but the last.
fn forked_sum(state: u64, steps: u64, first: u64, count: u64) -> u64 {
    if count == 1 {
        return xorshift(state.wrapping_add(first), steps);
    }
    let half = count / 2;
    let (a, b) = rayon::join(
        || forked_sum(state, steps, first, half),
        || forked_sum(state, steps, first + half, count - half),
    );
    a.wrapping_add(b)
}

async fn fork(state: u64, steps: u64) -> u64 {
    let (to, result) = oneshot::channel();
    rayon::spawn(move || {
        let _ = to.send(forked_sum(state, steps, 0, LEAVES)); // an error: the client has gone
    });
    result.await.expect("rayon runs the work")
}

// excerpt accept
/// Calls `handle` in a task for each connection, at a free port, until the standard input ends.
fn accept<F>(threads: usize, handle: impl Fn(TcpStream) -> F + Send + 'static) -> Result<(), String>
where
    F: Future<Output = ()> + Send + 'static,
{
    let text = |error: std::io::Error| error.to_string();
    let runtime =
        Builder::new_multi_thread().worker_threads(threads).enable_all().build().map_err(text)?;
    let door = runtime.block_on(TcpListener::bind("127.0.0.1:0")).map_err(text)?;
    println!("port {}", door.local_addr().map_err(text)?.port());
    runtime.spawn(async move {
        while let Ok((peer, _)) = door.accept().await {
            if peer.set_nodelay(true).is_ok() {
                tokio::spawn(handle(peer));
            }
        }
    });
    std::io::stdin().read_to_end(&mut Vec::new()).map_err(text)?;
    runtime.shutdown_background();
    Ok(())
}
// excerpt end

pub fn serve(workload: &str, threads: usize) -> Option<Result<(), String>> {
    match workload {
        "io-echo-1" | "io-echo-16" | "io-echo-256" | "io-echo-1024" => Some(accept(threads, echo)),
        "io-limit-16" | "io-limit-256" => Some(accept(threads, limited_echo)),
        "io-mixed" | "io-accept" | "io-idle" => Some(accept(threads, |peer| answer(peer, mixed))),
        "io-mixed-aside" => Some(accept(threads, |peer| answer(peer, mixed_aside))),
        "io-fork-1" | "io-fork-16" => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
            Some(
                pool.map_err(|error| error.to_string())
                    .and_then(|()| accept(threads, |peer| answer(peer, fork))),
            )
        }
        _ => None,
    }
}
