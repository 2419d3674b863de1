// SPDX-License-Identifier: Apache-2.0
// Sennit for programs that use std::execution (senders and receivers): see each header.
// sennit/execution/detail/implementation.hpp says how to choose the implementation.
#pragma once

#include "sennit/execution/as_sender.hpp"    // IWYU pragma: export
#include "sennit/execution/await_sender.hpp" // IWYU pragma: export
#include "sennit/execution/bulk.hpp"         // IWYU pragma: export
#include "sennit/execution/scheduler.hpp"    // IWYU pragma: export
#include "sennit/execution/sync_wait.hpp"    // IWYU pragma: export
