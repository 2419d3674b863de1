// SPDX-License-Identifier: Apache-2.0
// io::make_pipe, io::pipe_reader and io::pipe_writer: a pipe of the system, for example to a child
// process. Between fibers use a channel, which is ten times cheaper.
//
//     auto [from, to] = sennit::io::make_pipe();
//     to.write("done");
//
// stream.hpp describes blocking, cancellation and thread safety. A write to a pipe without a reader
// gives std::errc::broken_pipe, and raises no SIGPIPE.
#pragma once

#include "sennit/io/stream.hpp"

#include <utility>

namespace sennit::io {

class pipe_reader : public handle, public reads<pipe_reader> {
public:
    pipe_reader() noexcept = default; // Closed.

private:
    friend struct detail::handle_access;
    explicit pipe_reader(sched::io_record& record) noexcept : handle(record) {}
};

class pipe_writer : public handle, public writes<pipe_writer> {
public:
    pipe_writer() noexcept = default; // Closed.

private:
    friend struct detail::handle_access;
    explicit pipe_writer(sched::io_record& record) noexcept : handle(record) {}
};

// Throws io::error, std::bad_alloc.
std::pair<pipe_reader, pipe_writer> make_pipe();

} // namespace sennit::io
