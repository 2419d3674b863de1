// SPDX-License-Identifier: Apache-2.0
//! rayon: `join`, and parallel iterators and sorts.

mod algorithms;

use lab::metg::Graph;
use rayon::Scope;
use std::process::ExitCode;

struct Rayon(rayon::ThreadPool);

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("rayon's pool starts")
}

impl lab::Runtime for Rayon {
    type Here<'a> = ();

    fn start(threads: usize) -> Rayon {
        Rayon(pool(threads))
    }

    fn enter<T: Send>(&self, f: impl FnOnce(&mut ()) -> T + Send) -> T {
        self.0.install(|| f(&mut ()))
    }

    // excerpt metg
    fn run_graph(&self, graph: &Graph) -> bool {
        fn task<'a>(scope: &Scope<'a>, graph: &'a Graph, first: u32) {
            graph.execute(first, |ready| scope.spawn(move |scope| task(scope, graph, ready)));
        }
        self.0.scope(|scope| {
            for root in graph.roots() {
                scope.spawn(move |scope| task(scope, graph, root));
            }
        });
        true
    }
    // excerpt end

    // excerpt forks
    fn both<A: Send, B: Send>(
        _: &mut (),
        f: impl FnOnce(&mut ()) -> A + Send,
        g: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        rayon::join(|| f(&mut ()), || g(&mut ()))
    }
    // excerpt end
}

fn main() -> ExitCode {
    lab::main_with::<Rayon>(|workload, size, threads| {
        algorithms::run(workload, size, || pool(threads))
    })
}
