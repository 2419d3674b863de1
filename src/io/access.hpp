// SPDX-License-Identifier: Apache-2.0
// The way from the public types of io to records and addresses of the system.
#pragma once

#include "io/runtime/io_socket.hpp"
#include "sennit/io/endpoint.hpp"
#include "sennit/io/handle.hpp"

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
std::error_code code_of(int negative_error) noexcept;

} // namespace sennit::io::detail
