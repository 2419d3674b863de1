// SPDX-License-Identifier: Apache-2.0
// Child processes, for the model.
#pragma once

#include "sys/process.hpp"      // IWYU pragma: export
#include "sys/signal_inbox.hpp" // IWYU pragma: export
