// SPDX-License-Identifier: Apache-2.0
// Definitions that the tests with Boost.Beast share.
#pragma once

#ifdef SENNIT_TEST_TLS
#include "../tls/support.hpp"
#else
#include "../support/with_workers.hpp"
namespace io = sennit::io;
#endif

#include <sennit/asio/sync_stream.hpp>
#include <sennit/sennit.hpp>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <gtest/gtest.h>

namespace beast = boost::beast;
namespace net = boost::asio;
using sennit::asio::sync_stream;
