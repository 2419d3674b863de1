// SPDX-License-Identifier: Apache-2.0
// The base of everything that a task may await.
//
// An awaiter follows the protocol of task_strand.hpp: its await_suspend suspends the running strand
// through task_wait, or transfers control by `transfer`. The halves that suspend are functions of
// the library or noinline: clang before 19 moves locals of an inlined await_suspend into the
// coroutine's frame, which may be gone (llvm #56301).
//
// g++ 12 moves an awaiter into the coroutine's frame if it comes out of await_transform. An awaiter
// whose members are of different sizes has a move constructor that moves only the members which the
// await needs: a copy of the whole object loads, with wide loads, what narrow stores have just
// written, and waits for these stores (15 ns).
#pragma once

#include "sennit/detail/core/task_strand.hpp"

#include <type_traits>

namespace sennit::sched {

struct awaitable {};

// True for a type that a task may await.
template <class A>
concept task_awaitable = std::is_base_of_v<awaitable, std::remove_cvref_t<A>>;

// The base of the promises of Sennit's coroutines, which run on a task strand.
struct strand_promise {};

// True for the promise of a coroutine that may await a task. A handle without a type is accepted.
template <class Promise>
concept runs_on_strand = std::is_void_v<Promise> || std::is_base_of_v<strand_promise, Promise>;

} // namespace sennit::sched
