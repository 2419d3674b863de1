// SPDX-License-Identifier: Apache-2.0
// io::child_process: another program, as a child of this process. io::run: runs a program to its
// end, and returns its output.
//
//     auto [status, output, errors] = sennit::io::run({"git", "rev-parse", "HEAD"});
//
//     sennit::io::child_process sort({"sort"}, {.input = sennit::io::child_stream::pipe(),
//                                               .output = sennit::io::child_stream::pipe()});
//     sort.input().write("b\na\n");
//     sort.input().close();
//     while (std::size_t n = sort.output().read_some(buffer)) …
//     sennit::io::exit_status how = sort.wait();
//
// Use `run` for a program whose output fits into memory, and child_process for a conversation.
// No shell is involved: the arguments arrive as they are.
//
// Guarantees. No zombie stays: the destructor of a process that runs still kills it (SIGKILL), and
// waits for its end. So a cancelled nursery or with_timeout that unwinds the owner ends the child.
// The child gets standard input, output and error, and no other descriptor that Sennit has made;
// those that the program made without O_CLOEXEC are inherited, as usual. The child has an empty
// signal mask, and the default action for SIGPIPE.
// Blocking. The waits block the calling fiber, forked child, task, actor's handler or thread, and
// never its worker. They are points of cancellation. The constructor and the destructor are none;
// they run on a thread of `blocking`. On a kernel before 5.3 a wait looks after 1 to 50 ms.
// A program that ignores SIGCHLD, or reaps all children itself, takes the status away: `wait` then
// gives std::errc::no_child_process.
// Thread safety: several strands may wait, and any may kill; the pipes are as in stream.hpp. Moving
// and destroying require that no other strand uses the object.
#pragma once

#include "sennit/block_on.hpp" // The class task.
#include "sennit/io/error.hpp"
#include "sennit/io/pipe.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace sennit::io {

// The end of a process: an exit code, or the signal that has ended it.
class exit_status {
public:
    exit_status() noexcept = default;
    exit_status(int code, int signal) noexcept : code_(code), signal_(signal) {}
    // True if the program has returned 0.
    bool ok() const noexcept { return code_ == 0 && signal_ == 0; }
    // 128 plus the signal, as in a shell, if a signal has ended the process.
    int code() const noexcept { return signal_ != 0 ? 128 + signal_ : code_; }
    int signal() const noexcept { return signal_; } // 0: none.
    std::string to_string() const;                  // "exit code 1", "ended by SIGKILL (9)".
    friend bool operator==(const exit_status&, const exit_status&) noexcept = default;

private:
    int code_ = 0, signal_ = 0;
};

// The place where a standard stream of a child leads.
class child_stream {
public:
    static child_stream inherit() noexcept { return {kind::inherit, -1}; } // That of this process.
    static child_stream null() noexcept { return {kind::null, -1}; }       // /dev/null.
    static child_stream pipe() noexcept { return {kind::pipe, -1}; } // A pipe to this process.
    // A descriptor of this process, such as an open file, which must live during the constructor.
    static child_stream descriptor(int which) noexcept { return {kind::given, which}; }

private:
    friend class child_process;
    enum class kind : unsigned char { inherit, null, pipe, given };
    child_stream(kind what, int which) noexcept : kind_(what), descriptor_(which) {}
    kind kind_;
    int descriptor_;
};

struct process_options {
    child_stream input = child_stream::inherit();
    child_stream output = child_stream::inherit();
    child_stream error = child_stream::inherit();
    // True: the error stream goes where the output goes.
    bool error_to_output = false;
    // Variables that are set, besides the inherited ones.
    std::vector<std::pair<std::string, std::string>> variables{};
    bool inherit_environment = true;
    // The working directory; empty: that of this process. A relative path of the program begins
    // there.
    std::string directory{};
    // True: the child leads a process group of its own. Signals then go to its children, too, and
    // Ctrl-C on the terminal does not reach it.
    bool own_group = false;
};

class child_process {
public:
    child_process() noexcept; // None.
    // Starts the program `arguments[0]`, which is a path, or a name that PATH leads to. Throws
    // io::error, for example std::errc::no_such_file_or_directory; std::bad_alloc.
    explicit child_process(std::vector<std::string> arguments, const process_options& how = {});
    child_process(child_process&&) noexcept;
    child_process& operator=(child_process&& from) noexcept;
    ~child_process(); // Kills the process if it runs, and waits for its end.

    // The ends of the pipes; closed if the stream is no pipe.
    pipe_writer& input() noexcept { return input_; }
    pipe_reader& output() noexcept { return output_; }
    pipe_reader& error() noexcept { return error_; }

    // The number of the process; 0: none. Of a process that was waited for, it may be used again.
    int id() const noexcept;
    // Block until the process has ended. Later calls return the status again. Throw io::error,
    // cancelled.
    exit_status wait();
    exit_status wait(std::error_code& failed);
    task<exit_status> async_wait();
    // Empty while the process runs. Does not block.
    std::optional<exit_status> try_wait() noexcept;
    // Send a signal: SIGTERM, SIGKILL, or another. They do nothing once the process has ended.
    void terminate() noexcept;
    void kill() noexcept;
    void signal(int which) noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
    pipe_writer input_;
    pipe_reader output_, error_;
};

struct run_options {
    // The text that the program reads.
    std::string_view input{};
    std::vector<std::pair<std::string, std::string>> variables{};
    std::string directory{};
    bool error_to_output = false;
    // A program that writes more to one of its streams is killed, and `run` throws io::error with
    // std::errc::file_too_large.
    std::size_t max_output = std::size_t{1} << 30;
};
struct run_result {
    exit_status status;
    std::string output, errors;
};
// Runs a program, blocks until it has ended and its streams are closed, and returns its output. A
// program that fails is no exception. A point of cancellation, which kills the program. Throws
// io::error, cancelled, std::bad_alloc.
run_result run(std::vector<std::string> arguments, const run_options& how = {});

} // namespace sennit::io
