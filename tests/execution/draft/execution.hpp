// SPDX-License-Identifier: Apache-2.0
// An archetype of std::execution: a small, strict implementation of the C++26 draft, written from
// its text, for the tests of sennit::execution. Names of namespace std are in `draft`, those of
// std::execution in `draft::execution`.
//
// It has only the parts that the tests need. It has no sync_wait: the tests wait by Sennit's.
#pragma once

#include "algorithms.hpp"
#include "concepts.hpp"
#include "domains.hpp"
#include "parallel_scheduler.hpp"
#include "queries.hpp"
#include "stop_token.hpp"
