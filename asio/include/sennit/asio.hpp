// SPDX-License-Identifier: Apache-2.0
// Sennit for programs and libraries that are written for Asio: see each header. Define
// SENNIT_ASIO_BOOST for Boost.Asio, or link sennit::boost_asio, which does so.
#pragma once

#include "sennit/asio/context.hpp"     // IWYU pragma: export
#include "sennit/asio/executor.hpp"    // IWYU pragma: export
#include "sennit/asio/sync_stream.hpp" // IWYU pragma: export
#include "sennit/asio/use_fiber.hpp"   // IWYU pragma: export
#include "sennit/asio/use_task.hpp"    // IWYU pragma: export
