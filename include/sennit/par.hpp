// SPDX-License-Identifier: Apache-2.0
// All parallel loops, task graphs and pipelines. The loops share one engine: it divides a range
// only when a free worker asks, so that a loop without helpers runs at the speed of the plain loop.
#pragma once

#include "sennit/par/for_each.hpp"
#include "sennit/par/for_each_n.hpp"
#include "sennit/par/pipeline.hpp"
#include "sennit/par/task_graph.hpp"
#include "sennit/par/transform_reduce.hpp"

// Behind the other headers, whose parameters may have the names of algorithms, such as `count`.
#include "sennit/par/algorithms.hpp"
