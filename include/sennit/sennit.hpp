// SPDX-License-Identifier: Apache-2.0
// Everything. Programs that care about compile time include the header of what they use.
#pragma once

#include "sennit/checkpoint.hpp"
#include "sennit/fork_each.hpp"
#include "sennit/fork_join.hpp"
#include "sennit/fork_reduce.hpp"
#include "sennit/par.hpp"
#include "sennit/runtime.hpp"
#include "sennit/scope.hpp"
