// SPDX-License-Identifier: Apache-2.0
#include "sennit/io/error.hpp"

#include "io/access.hpp"
#include "sennit/io/serve.hpp"

namespace sennit::io {

namespace {
class io_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "sennit.io"; }
    std::string message(int what) const override {
        switch (static_cast<errc>(what)) {
        case errc::unexpected_end:
            return "the stream has ended too early";
        case errc::host_not_found:
            return "no address is known for this host";
        case errc::resolve_again:
            return "no name server has answered; a later call may succeed";
        case errc::service_not_found:
            return "the service is unknown; pass the number of a port";
        case errc::resolve_failed:
            return "a name server has refused to answer";
        }
        return "unknown error";
    }
};
} // namespace

const std::error_category& category() noexcept {
    static const io_category only;
    return only;
}

std::error_code make_error_code(errc what) noexcept {
    return {static_cast<int>(what), category()};
}

error::error(std::error_code code, const char* operation, const std::string& object)
    : std::system_error(code, std::string("sennit: [SNT-262] ") + operation + " failed on " +
                                  (object.empty() ? "a closed handle" : object)),
      operation_(operation) {}

bool detail::is_shortage(const std::error_code& failed) noexcept {
    return failed.category() == std::generic_category() && sys::out_of_resources(failed.value());
}
bool detail::ends_connection_only(const serve_options& options) {
    try {
        throw;
    } catch (const error& lost) {
        if (options.on_error) options.on_error(lost);
    } catch (const timed_out&) {
        if (options.on_error)
            options.on_error(error(std::make_error_code(std::errc::timed_out), "with_timeout",
                                   "the connection of a handler"));
    } catch (...) {
        return false;
    }
    return true;
}
bool detail::is_end(const std::error_code& failed) noexcept {
    return failed == std::errc::operation_canceled || failed == std::errc::bad_file_descriptor;
}

} // namespace sennit::io
