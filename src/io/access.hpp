// SPDX-License-Identifier: Apache-2.0
// The way from the public types of io to records and addresses of the system.
#pragma once

#include "io/runtime/io_socket.hpp"
#include "sennit/io/endpoint.hpp"
#include "sennit/io/error.hpp"
#include "sennit/io/handle.hpp"
#include "sennit/io/stream.hpp"

#include <cstring>
#include <utility>

namespace sennit::io::detail {

struct endpoint_access {
    static endpoint from(const sys::socket_address& address) noexcept {
        endpoint made;
        std::memcpy(made.data_, address.data, sizeof made.data_);
        made.size_ = address.size;
        return made;
    }
    static sys::socket_address to(const endpoint& from) noexcept {
        sys::socket_address made;
        std::memcpy(made.data, from.data_, sizeof made.data);
        made.size = from.size_;
        return made;
    }
};
static_assert(sizeof(sys::socket_address::data) == 112);

struct handle_access {
    // Null: the handle was moved from, or made closed.
    static sched::io_record* record(const handle& of) noexcept { return of.record_; }
    // Takes `descriptor`, which is closed if there is no memory.
    template <class T>
    static T make(int descriptor, bool is_socket) {
        try {
            return T(sched::io_record::make(descriptor, true, is_socket));
        } catch (...) {
            sys::close_descriptor(descriptor);
            throw;
        }
    }
    template <class T>
    static T adopt(sched::io_record& record) {
        return T(record);
    }
};

// Runs the operation on the handle's record. Throws `cancelled`. `failed` is clear on success.
std::ptrdiff_t run(const handle& on, const sched::io_operation& what, std::error_code& failed);
// Makes the call once: std::errc::operation_would_block where `run` would wait.
std::ptrdiff_t try_run(const handle& on, const sched::io_operation& what,
                       std::error_code& failed) noexcept;
std::error_code code_of(int negative_error) noexcept;

// Throw io::error if the result of a system call is an error.
inline void require(int result, const char* operation, const endpoint& at) {
    if (result < 0) throw error(code_of(result), operation, at.to_string());
}
inline void require(int result, const char* operation, const handle& on) {
    if (result < 0) check(code_of(result), operation, on);
}
// Throws io::error if the handle never had a descriptor.
inline sched::io_record& open_record(const handle& of, const char* operation) {
    sched::io_record* const record = handle_access::record(of);
    if (!record) check(std::make_error_code(std::errc::bad_file_descriptor), operation, of);
    return *record;
}
inline endpoint address_of(const handle& on, int (*ask)(int, sys::socket_address&) noexcept,
                           const char* operation) {
    sys::socket_address found;
    require(ask(on.native_handle(), found), operation, on);
    return endpoint_access::from(found);
}

} // namespace sennit::io::detail
