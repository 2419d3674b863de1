// SPDX-License-Identifier: Apache-2.0
#include "sennit/io/child_process.hpp"

#include "io/access.hpp"
#include "io/async_run.hpp"
#include "io/runtime/io_process.hpp"
#include "sennit/async_sleep.hpp"
#include "sennit/blocking.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/nursery.hpp"
#include "sennit/this_fiber.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>

namespace sennit::io {

using detail::handle_access;

namespace {

constexpr std::chrono::milliseconds shortest_look{1}, longest_look{50};

// The child's ends of its streams, until it has them.
class child_ends {
public:
    child_ends() noexcept = default;
    ~child_ends() {
        for (const int one : descriptors)
            if (one >= 0) sys::close_descriptor(one);
    }
    child_ends(const child_ends&) = delete;
    int descriptors[3] = {-1, -1, -1};
};

int require(int result, const std::vector<std::string>& arguments) {
    if (result < 0)
        throw error(detail::code_of(result), "child_process",
                    '\'' + (arguments.empty() ? std::string() : arguments[0]) + '\'');
    return result;
}

} // namespace

std::string exit_status::to_string() const {
    if (signal_ == 0) return "exit code " + std::to_string(code_);
    return "ended by " + std::string(sys::signal_name(signal_)) + " (" + std::to_string(signal_) +
           ')';
}

// The process is reaped once, under the mutex. Its number stays valid until then.
struct child_process::state {
    int process = 0;
    bool own_group = false;
    handle ended; // Readable when the process has ended; closed: the kernel has none.
    std::mutex mutex;
    std::optional<exit_status> status;
    std::error_code lost; // The status was taken by other code.

    // Returns true if the status, or its loss, is known.
    bool look(bool block = false) {
        const std::lock_guard guard(mutex);
        if (status || lost) return true;
        sys::exit_report found;
        const int result = sys::reap_process(process, block, found);
        if (result < 0) lost = detail::code_of(result);
        if (result > 0) status.emplace(found.code, found.signal);
        return result != 0;
    }
    void send(int signal) {
        const std::lock_guard guard(mutex);
        if (!status && !lost) (void)sys::signal_process(process, signal, own_group);
    }
    exit_status result(std::error_code& failed) const noexcept {
        failed = lost;
        return status.value_or(exit_status());
    }
    ~state() {
        if (process == 0 || look()) return;
        send(sys::signal_kill);
        blocking([this] { (void)look(true); });
    }
};

child_process::child_process() noexcept = default;
child_process::child_process(child_process&&) noexcept = default;
child_process& child_process::operator=(child_process&&) noexcept = default;
child_process::~child_process() = default;

child_process::child_process(std::vector<std::string> arguments, const process_options& how)
    : state_(std::make_unique<state>()) {
    sys::spawn_request request;
    child_ends ends;
    const child_stream* const streams[] = {&how.input, &how.output, &how.error};
    for (int i = 0; i < 3; ++i) {
        int& childs = ends.descriptors[i];
        switch (streams[i]->kind_) {
        case child_stream::kind::inherit:
            break;
        case child_stream::kind::null:
            childs = require(sys::open_null_device(), arguments);
            break;
        case child_stream::kind::given:
            childs = require(sys::duplicate_descriptor(streams[i]->descriptor_), arguments);
            break;
        case child_stream::kind::pipe: {
            int made[2];
            (void)require(sys::make_child_pipe(made, i == 0), arguments);
            childs = made[i == 0 ? 0 : 1];
            if (i == 0)
                input_ = handle_access::make<pipe_writer>(made[1], false);
            else
                (i == 1 ? output_ : error_) = handle_access::make<pipe_reader>(made[0], false);
            break;
        }
        }
        request.streams[i] = childs;
    }
    request.arguments = std::move(arguments);
    request.variables = how.variables;
    request.inherit_environment = how.inherit_environment;
    request.directory = how.directory;
    request.error_to_output = how.error_to_output;
    request.own_group = how.own_group;
    state_->own_group = how.own_group;
    const int made = blocking([&] { return sys::spawn_process(request); });
    state_->process = require(made, request.arguments);
    if (const int descriptor = sys::open_process(made); descriptor >= 0)
        state_->ended = handle_access::make<handle>(descriptor, false);
}

int child_process::id() const noexcept {
    return state_ ? state_->process : 0;
}

exit_status child_process::wait(std::error_code& failed) {
    failed = std::make_error_code(std::errc::no_child_process);
    if (!state_) return {};
    failed.clear();
    for (auto pause = shortest_look; !state_->look(); pause = std::min(2 * pause, longest_look)) {
        if (!state_->ended.is_open()) {
            this_fiber::sleep_for(pause);
            continue;
        }
        (void)detail::run(state_->ended, sched::wait_for(sched::io_direction::read), failed);
        if (failed) return {};
    }
    return state_->result(failed);
}

exit_status child_process::wait() {
    std::error_code failed;
    const exit_status how = wait(failed);
    if (failed) throw io::error(failed, "wait", "process " + std::to_string(id()));
    return how;
}

task<exit_status> child_process::async_wait() {
    std::error_code failed = std::make_error_code(std::errc::no_child_process);
    if (state_) failed.clear();
    for (auto pause = shortest_look; !failed && !state_->look();
         pause = std::min(2 * pause, longest_look)) {
        if (state_->ended.is_open())
            (void)co_await detail::async_run(*handle_access::record(state_->ended),
                                             sched::wait_for(sched::io_direction::read),
                                             "async_wait", state_->ended);
        else
            co_await async_sleep_for(pause);
    }
    const exit_status how = failed ? exit_status() : state_->result(failed);
    if (failed) throw io::error(failed, "async_wait", "process " + std::to_string(id()));
    co_return how;
}

std::optional<exit_status> child_process::try_wait() noexcept {
    if (state_) (void)state_->look();
    return state_ ? state_->status : std::nullopt;
}

void child_process::signal(int which) noexcept {
    if (state_) state_->send(which);
}
void child_process::terminate() noexcept {
    signal(sys::signal_terminate);
}
void child_process::kill() noexcept {
    signal(sys::signal_kill);
}

namespace {

std::string read_up_to(pipe_reader& from, std::size_t most) {
    std::string all;
    std::array<char, 16384> some;
    while (const std::size_t n = from.read_some(std::as_writable_bytes(std::span(some)))) {
        if (n > most - all.size())
            throw error(std::make_error_code(std::errc::file_too_large), "run",
                        "a stream of the program");
        all.append(some.data(), n);
    }
    return all;
}

} // namespace

run_result run(std::vector<std::string> arguments, const run_options& how) {
    process_options streams{
        .input = how.input.empty() ? child_stream::null() : child_stream::pipe(),
        .output = child_stream::pipe(),
        .error = how.error_to_output ? child_stream::inherit() : child_stream::pipe(),
        .error_to_output = how.error_to_output,
        .variables = how.variables,
        .directory = how.directory};
    child_process child(std::move(arguments), streams);
    run_result result;
    nursery parts;
    if (!how.input.empty())
        parts.start([&] {
            std::error_code failed; // A program that does not read its input is no error.
            (void)child.input().write(bytes_of(how.input), failed);
            child.input().close();
            if (failed && failed != std::errc::broken_pipe) throw error(failed, "run", "the input");
        });
    if (!how.error_to_output)
        parts.start([&] { result.errors = read_up_to(child.error(), how.max_output); });
    parts.start([&] { result.output = read_up_to(child.output(), how.max_output); });
    parts.join();
    result.status = child.wait();
    return result;
}

} // namespace sennit::io
