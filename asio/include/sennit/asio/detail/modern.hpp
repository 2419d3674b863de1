// SPDX-License-Identifier: Apache-2.0
// For headers that need the properties of executors and the cancellation of single operations.
#pragma once

#include "sennit/asio/detail/flavour.hpp"

#if SENNIT_ASIO_VERSION < 102200
#error "sennit::asio: the execution context and the tokens need Asio 1.22, that is Boost 1.79"
#endif
