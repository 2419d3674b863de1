// SPDX-License-Identifier: Apache-2.0
// The flavour of Asio: standalone (namespace `asio`), or Boost's, if SENNIT_ASIO_BOOST is defined.
// The target sennit::boost_asio defines it. A program may use both in different files: the names of
// each flavour are in an inline namespace of their own.
#pragma once

#ifdef SENNIT_ASIO_BOOST

#include <boost/asio/error.hpp>
#include <boost/asio/version.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#define SENNIT_ASIO_NET boost::asio
#define SENNIT_ASIO_FLAVOUR over_boost
#define SENNIT_ASIO_VERSION BOOST_ASIO_VERSION
#define SENNIT_ASIO_HEADER(name) <boost/asio/name>

#else

#include <asio/error.hpp>
#include <asio/error_code.hpp>
#include <asio/system_error.hpp>
#include <asio/version.hpp>

#define SENNIT_ASIO_NET asio
#define SENNIT_ASIO_FLAVOUR over_standalone
#define SENNIT_ASIO_VERSION ASIO_VERSION
#define SENNIT_ASIO_HEADER(name) <asio/name>

#endif

namespace sennit::asio {
inline namespace SENNIT_ASIO_FLAVOUR {

#ifdef SENNIT_ASIO_BOOST
namespace net = ::boost::asio;
using error_code = ::boost::system::error_code;
using system_error = ::boost::system::system_error;
#else
namespace net = ::asio;
using error_code = ::asio::error_code;
using system_error = ::asio::system_error;
#endif

} // namespace SENNIT_ASIO_FLAVOUR
} // namespace sennit::asio
