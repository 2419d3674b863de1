// SPDX-License-Identifier: Apache-2.0
// Calls on a descriptor that block the calling strand, and never its worker: U1 to U7 of
// io_record.hpp.
//
// Which threads run this: any. A call from a fiber, a forked child, an actor's handler or a thread
// is the same. Tasks make the single steps (`io_try`, io_record::begin_wait).
#pragma once

#include "io/runtime/io_record.hpp"

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace sennit::sched {

struct io_result {
    std::ptrdiff_t count = 0; // The result of the call, if there is no error.
    std::error_code error;
    bool scope_canceled = false; // The caller must throw `cancelled`.
};

// The result of a call that would block.
inline constexpr std::ptrdiff_t io_would_block = PTRDIFF_MIN;
// The result of a system call, with io_would_block in the place of the system's numbers for it.
std::ptrdiff_t with_blocking(std::ptrdiff_t result) noexcept;

// One system call, which may be repeated.
struct io_operation {
    io_direction direction;
    const char* what; // For reports.
    // Returns the result, a negative error number, or io_would_block.
    std::ptrdiff_t (*call)(int descriptor, void* argument) noexcept;
    void* argument;
    // A result that is positive and below this says that a stream socket holds no more; 0: no
    // result says so.
    std::size_t full = 0;
};

// A use of a record for as long as the object lives, and the state of one call.
class io_use {
public:
    explicit io_use(io_record& on) noexcept : record_(on), open_(on.begin_use()) {}
    ~io_use() {
        if (open_) record_.end_use();
    }
    io_use(const io_use&) = delete;

    // U2 and U3. Returns true if the call is done, with `result`.
    bool attempt(const io_operation& what, io_result& result) noexcept;
    // The wait that must follow if it is not done.
    io_record::request request_of(const io_operation& what) noexcept;
    // After that wait. Returns true if the call is done, with `result`; otherwise it must be made
    // again.
    bool after_wait(io_wake how, std::error_code refused, io_result& result) noexcept;
    io_record& record() noexcept { return record_; }
    // After the call: true if the caller should let other strands run.
    bool yields() const noexcept { return yields_; }

private:
    bool finish(const io_operation& what) noexcept;

    io_record& record_;
    const bool open_;
    bool waited_ = false;
    bool yields_ = false;
    bool more_ = false; // The event that woke this call left further waiters.
    std::uint32_t seen_ = 0;
    std::int64_t waits_since_ = io_record::not_yet;
};

// Makes the call, and waits where it would block. Throws the exceptions of io_record::wait.
io_result io_run(io_record& on, const io_operation& what);

// Operations. The arguments must live until the call is done.
struct io_bytes {
    void* into;
    std::size_t size;
};
io_operation receive_from_socket(io_bytes& bytes) noexcept;
io_operation send_to_socket(io_bytes& bytes) noexcept;
io_operation read_from_pipe(io_bytes& bytes) noexcept;
io_operation write_to_pipe(io_bytes& bytes) noexcept;

} // namespace sennit::sched
