// SPDX-License-Identifier: Apache-2.0
// task: a C++20 coroutine that waits without holding a stack or a thread.
//
//     sennit::task<page> load(sennit::channel<url>& wanted) {
//         std::optional<url> next = co_await wanted.async_pop();
//         co_return co_await fetch(*next);
//     }
//     page first = sennit::block_on(load(wanted));
//
// Use it where very many activities wait at the same time, and where other code expects a
// coroutine: a suspended task takes some hundred bytes, a blocked fiber a stack. Use a fiber in all
// other cases: a fiber may block in any function that it calls, and its calls are plain calls.
//
// A task is lazy: it begins when it is awaited, spawned or given to block_on. Await it once, as an
// rvalue: `co_await f()`, or `co_await std::move(t)`. Awaiting a task is a call: the child runs
// at once, on the same worker, with the identity of the caller (locks, locals, scope), and the
// caller continues where the child ends. An exception of the child is thrown by the await. A task
// that is dropped before it begins is destroyed; a task that has begun runs to its end.
//
// A task may await what the other kinds of code block on: the members with the prefix `async_` of
// channels, mutexes, semaphores, events, latches, barriers and condition variables; futures;
// async_select; async_sleep_for. A fiber, a task, a forked child and a thread may meet at one such
// object. Blocking calls are legal in a task, too: the task then takes a stack until the call
// returns.
//
// Cancellation: an await that waits is a point of cancellation, as a blocking call of a fiber is;
// an await of a task is none. Depth: awaits and returns take no stack, at any optimisation level
// and under sanitizers. Cost: a frame of the worker's small memory for each call; no locked
// instruction.
#pragma once

#include "sennit/async_all.hpp"
#include "sennit/async_any.hpp"
#include "sennit/async_for_each.hpp"
#include "sennit/async_fork_each.hpp"
#include "sennit/async_fork_join.hpp"
#include "sennit/async_generator.hpp"
#include "sennit/async_select.hpp"
#include "sennit/async_sleep.hpp"
#include "sennit/async_with_timeout.hpp"
#include "sennit/block_on.hpp"
#include "sennit/task/condition_variable.hpp"
#include "sennit/task/nursery.hpp"
#include "sennit/task/once.hpp"
#include "sennit/task/spawn.hpp"
#include "sennit/task/task.hpp"
