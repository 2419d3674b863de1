// SPDX-License-Identifier: Apache-2.0
// Small programs over the public interfaces beyond fork-join, for exhaustive_test.cpp. Each program
// returns whether its answer was right, and throws the exception of a refused request. At most two
// contexts of a program are suspended at a time, including the caller's. Where every stack is
// refused, each suspended context blocks a worker, and there are three workers.
#pragma once

namespace faults::features {

bool fibers();
bool fibers_with_attributes();
bool fibers_that_stop();
bool locks();
bool channels();
bool a_growing_channel();
bool selects();
bool futures();
bool all_and_any();
bool a_nursery();
bool families();
bool shared_values();
bool timers();
bool actors();
bool bounded_actors();
bool open_actors();
bool monitors();
bool accepted_calls();
bool coroutines();
bool task_graphs();
bool tasks();
bool pipelines();
bool connections_that_wait();

} // namespace faults::features
