// SPDX-License-Identifier: Apache-2.0
// Converts the errors of Sennit's streams to those of Asio.
//
// Asio's named errors are codes of the system, so a code of the generic category becomes one of the
// system. Then a comparison with asio::error::timed_out or asio::error::operation_aborted holds.
// Codes of other categories, such as tls::errc, keep their category.
#pragma once

#include "sennit/asio/detail/flavour.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>

namespace sennit::asio {
inline namespace SENNIT_ASIO_FLAVOUR {
namespace errors {

#if defined(SENNIT_ASIO_BOOST) && SENNIT_ASIO_VERSION < 102200
// Before Boost 1.77 an error code of Boost could not hold one of std.
class foreign_category final : public ::boost::system::error_category {
public:
    explicit foreign_category(const std::error_category& of) noexcept : of_(of) {}
    const char* name() const noexcept override { return of_.name(); }
    std::string message(int value) const override { return of_.message(value); }

private:
    const std::error_category& of_;
};

inline error_code foreign(const std::error_code& code) {
    static std::mutex guard; // Not held over a wait.
    static std::map<const std::error_category*, std::unique_ptr<foreign_category>> known;
    const std::lock_guard hold(guard);
    auto& category = known[&code.category()];
    if (!category) category = std::make_unique<foreign_category>(code.category());
    return {code.value(), *category};
}
#else
inline error_code foreign(const std::error_code& code) {
    return code;
}
#endif

inline error_code converted(const std::error_code& code) {
    if (!code) return {};
    if (code.category() == std::generic_category() || code.category() == std::system_category())
        return {code.value(), net::error::get_system_category()};
    return foreign(code);
}

} // namespace errors
} // namespace SENNIT_ASIO_FLAVOUR
} // namespace sennit::asio
