// SPDX-License-Identifier: Apache-2.0
// Small programs over the faces beyond fork-join, for exhaustive_test.cpp: each says whether its
// answer was right, and throws what it could not get. At most two of their contexts are suspended
// at a time, the caller's among them: where every stack is refused, each blocks a worker, of which
// there are three.
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
bool timers();
bool actors();
bool bounded_actors();
bool open_actors();
bool monitors();
bool accepted_calls();
bool coroutines();

} // namespace faults::features
