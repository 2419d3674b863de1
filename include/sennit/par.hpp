// SPDX-License-Identifier: Apache-2.0
// The parallel loops, all of them. They share one engine: ranges that are divided only when a free
// worker asks, so that a loop nobody helps runs at the speed of the plain one.
#pragma once

#include "sennit/par/for_each.hpp"
#include "sennit/par/for_each_n.hpp"
#include "sennit/par/transform_reduce.hpp"
