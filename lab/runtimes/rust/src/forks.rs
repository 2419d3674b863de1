// SPDX-License-Identifier: Apache-2.0

/// A fork-join library: how it starts, how a job enters it, and the forms of a fork that the workloads need.
pub trait Forks {
    /// What the library hands to every job, for the forks in it; `()` where it hands nothing.
    type Context<'c>;

    /// `threads` includes the caller's where the library lets it work.
    fn start(threads: usize) -> Self;

    fn enter(&self, job: &(impl Fn(&mut Self::Context<'_>) -> i64 + Sync)) -> i64;

    fn both<A: Send, B: Send>(
        context: &mut Self::Context<'_>,
        f: impl FnOnce(&mut Self::Context<'_>) -> A + Send,
        g: impl FnOnce(&mut Self::Context<'_>) -> B + Send,
    ) -> (A, B);

    /// f(first) + ... + f(last - 1), by halves: joins of two are what all these libraries offer.
    fn sum(
        context: &mut Self::Context<'_>,
        first: usize,
        last: usize,
        f: &(impl Fn(&mut Self::Context<'_>, usize) -> i64 + Sync),
    ) -> i64 {
        match last - first {
            0 => 0,
            1 => f(context, first),
            count => {
                let half = first + count / 2;
                let (a, b) =
                    Self::both(context, |c| Self::sum(c, first, half, f), |c| Self::sum(c, half, last, f));
                a + b
            }
        }
    }
}
