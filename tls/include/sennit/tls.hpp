// SPDX-License-Identifier: Apache-2.0
// Streams over TLS: the optional library sennit::tls, which needs OpenSSL 3.
#pragma once

#include "sennit/tls/context.hpp" // IWYU pragma: export
#include "sennit/tls/error.hpp"   // IWYU pragma: export
#include "sennit/tls/stream.hpp"  // IWYU pragma: export
