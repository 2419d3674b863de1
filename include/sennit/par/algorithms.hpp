// SPDX-License-Identifier: Apache-2.0
// All parallel algorithms over ranges. Names, projections and results are those of std::ranges; the
// options (sennit/par/with.hpp) stand in front. The algorithms divide their work only when a free
// worker asks. A call without helpers therefore runs at the speed of the serial algorithm.
#pragma once

#include "sennit/par/adjacent_difference.hpp"
#include "sennit/par/adjacent_find.hpp"
#include "sennit/par/any_of.hpp"
#include "sennit/par/copy.hpp"
#include "sennit/par/copy_if.hpp"
#include "sennit/par/count.hpp"
#include "sennit/par/fill.hpp"
#include "sennit/par/find.hpp"
#include "sennit/par/for_each.hpp"
#include "sennit/par/for_each_n.hpp"
#include "sennit/par/includes.hpp"
#include "sennit/par/inplace_merge.hpp"
#include "sennit/par/merge.hpp"
#include "sennit/par/min_max.hpp"
#include "sennit/par/mismatch.hpp"
#include "sennit/par/nth_element.hpp"
#include "sennit/par/partition.hpp"
#include "sennit/par/reduce.hpp"
#include "sennit/par/remove.hpp"
#include "sennit/par/replace.hpp"
#include "sennit/par/reverse.hpp"
#include "sennit/par/scan.hpp"
#include "sennit/par/search.hpp"
#include "sennit/par/set_operations.hpp"
#include "sennit/par/sort.hpp"
#include "sennit/par/transform.hpp"
#include "sennit/par/transform_reduce.hpp"
#include "sennit/par/with.hpp"
