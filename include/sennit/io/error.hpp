// SPDX-License-Identifier: Apache-2.0
// io::error: the exception of calls on descriptors. io::errc: the errors that the system does not
// know.
//
//     try {
//         peer.write(answer);
//     } catch (const sennit::io::error& failed) {
//         log(failed.operation(), failed.code(), failed.what());
//     }
//
// Each call has a second form with a std::error_code& as its last argument, which throws no error
// of the system. Use that form where errors are daily: a reset connection, a closed pipe. Both
// forms throw `cancelled`, and std::bad_alloc.
//
// Codes: a limit of time gives std::errc::timed_out; a call that `cancel` or `close` has ended
// gives std::errc::operation_canceled; a call on a closed handle gives
// std::errc::bad_file_descriptor. The end of a stream is no error for read_some, which returns 0.
#pragma once

#include <string>
#include <system_error>

namespace sennit::io {

enum class errc {
    unexpected_end = 1,    // The stream ended before a `read` had all bytes.
    host_not_found = 2,    // `resolve`: no address is known for this host.
    resolve_again = 3,     // `resolve`: no name server has answered. A later call may succeed.
    service_not_found = 4, // `resolve`: the service is no port, and the system knows no such name.
    resolve_failed = 5,    // `resolve`: a name server has refused, or answered with nonsense.
};
const std::error_category& category() noexcept;
std::error_code make_error_code(errc what) noexcept;

class error : public std::system_error {
public:
    // `operation` is a literal. `object` names the peer, the address or the descriptor.
    error(std::error_code code, const char* operation, const std::string& object);
    // The name of the call that failed, such as "read_some".
    const char* operation() const noexcept { return operation_; }

private:
    const char* operation_;
};

} // namespace sennit::io

template <>
struct std::is_error_code_enum<sennit::io::errc> : std::true_type {};
