// SPDX-License-Identifier: Apache-2.0
// Child processes: streams, status, environment, and that no process is left behind.
#include "support.hpp"

#include <sennit/fiber.hpp>
#include <sennit/task.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class child_processes : public with_workers {
protected:
    // No child is left: neither a running one nor a zombie.
    void TearDown() override {
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
        EXPECT_EQ(errno, ECHILD);
        with_workers::TearDown();
    }
};
SENNIT_IO_FOR_WORKERS(child_processes);

// True if no process of this number exists.
bool is_gone(int process) {
    return ::kill(process, 0) < 0 && errno == ESRCH;
}

io::process_options quiet() {
    return {.input = io::child_stream::null(), .output = io::child_stream::null()};
}

TEST_P(child_processes, run_returns_output_errors_and_status) {
    runtime.run([] {
        const io::run_result one =
            io::run({"sh", "-c", "cat; echo wrong >&2; exit 3"}, {.input = "some text"});
        EXPECT_EQ(one.output, "some text");
        EXPECT_EQ(one.errors, "wrong\n");
        EXPECT_EQ(one.status.code(), 3);
        EXPECT_FALSE(one.status.ok());
        EXPECT_EQ(one.status.to_string(), "exit code 3");
        EXPECT_TRUE(io::run({"true"}).status.ok());
        EXPECT_EQ(io::run({"sh", "-c", "echo a; echo b >&2"}, {.error_to_output = true}).output,
                  "a\nb\n");
    });
}

TEST_P(child_processes, arguments_arrive_as_they_are) {
    runtime.run([] {
        EXPECT_EQ(io::run({"printf", "%s|", "a b", "", "$HOME", "*"}).output, "a b||$HOME|*|");
    });
}

TEST_P(child_processes, large_input_and_output_flow_at_once) {
    runtime.run([] {
        std::string text(3'000'000, 'x');
        for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
        EXPECT_EQ(io::run({"cat"}, {.input = text}).output, text);
        // The program does not read its input.
        EXPECT_TRUE(io::run({"true"}, {.input = text}).status.ok());
    });
}

TEST_P(child_processes, too_much_output_kills_the_program) {
    runtime.run([] {
        try {
            (void)io::run({"yes"}, {.max_output = 1000});
            FAIL();
        } catch (const io::error& refused) {
            EXPECT_EQ(refused.code(), std::errc::file_too_large);
        }
    });
}

TEST_P(child_processes, conversation_over_pipes) {
    runtime.run([] {
        io::child_process cat(
            {"cat"}, {.input = io::child_stream::pipe(), .output = io::child_stream::pipe()});
        for (const std::string text : {"one", "two", "three"}) {
            cat.input().write(text);
            EXPECT_EQ(read_text(cat.output(), text.size()), text);
        }
        EXPECT_FALSE(cat.try_wait());
        EXPECT_FALSE(cat.error().is_open());
        cat.input().close();
        EXPECT_EQ(read_rest(cat.output()), "");
        EXPECT_EQ(sennit::block_on(cat.async_wait()), io::exit_status(0, 0));
        EXPECT_TRUE(cat.wait().ok());
        EXPECT_TRUE(cat.try_wait());
        cat.kill(); // Does nothing.
    });
}

TEST_P(child_processes, environment_and_directory) {
    runtime.run([] {
        EXPECT_EQ(io::run({"sh", "-c", "echo $SENNIT_A $PWD; pwd"},
                          {.variables = {{"SENNIT_A", "given"}}, .directory = "/"})
                      .output,
                  "given /\n/\n");
        io::process_options bare{.output = io::child_stream::pipe(),
                                 .variables = {{"B", "2"}},
                                 .inherit_environment = false};
        io::child_process env({"/usr/bin/env"}, bare);
        EXPECT_EQ(read_rest(env.output()), "B=2\n");
        EXPECT_TRUE(env.wait().ok());
    });
}

TEST_P(child_processes, streams_lead_to_given_descriptors) {
    runtime.run([] {
        auto [from, to] = io::make_pipe();
        io::child_process echo({"echo", "hi"},
                               {.output = io::child_stream::descriptor(to.native_handle())});
        to.close();
        EXPECT_EQ(read_rest(from), "hi\n");
        EXPECT_TRUE(echo.wait().ok());
        EXPECT_THROW(io::child_process({"true"}, {.output = io::child_stream::descriptor(9999)}),
                     io::error);
    });
}

TEST_P(child_processes, child_has_no_other_descriptor_and_no_blocked_signal) {
    const auto body = [] {
        auto [mine, theirs] = io::socket_pair();
        sigset_t usr1;
        ::sigemptyset(&usr1);
        ::sigaddset(&usr1, SIGUSR1);
        ::pthread_sigmask(SIG_BLOCK, &usr1, nullptr);
        const std::string listed =
            io::run({"sh", "-c", "ls -l /proc/self/fd; grep SigBlk /proc/self/status"}).output;
        for (const int ours : {mine.native_handle(), theirs.native_handle()}) {
            const std::string socket =
                std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(ours));
            EXPECT_EQ(listed.find(socket), std::string::npos) << listed;
        }
        EXPECT_EQ(listed.find("eventpoll"), std::string::npos) << listed;
        EXPECT_NE(listed.find("SigBlk:\t0000000000000000"), std::string::npos) << listed;
    };
    // The signal stays blocked in a worker of this test: the main thread would run the call itself.
    std::thread([&] { runtime.run(body); }).join();
}

TEST_P(child_processes, refused_programs_are_errors) {
    runtime.run([] {
        const auto code_of = [](std::vector<std::string> arguments, io::process_options how = {}) {
            try {
                const io::child_process none(std::move(arguments), how);
            } catch (const io::error& refused) {
                return refused.code();
            }
            return std::error_code();
        };
        EXPECT_EQ(code_of({"/no/such/program"}), std::errc::no_such_file_or_directory);
        EXPECT_EQ(code_of({"/"}), std::errc::permission_denied);
        EXPECT_EQ(code_of({}), std::errc::invalid_argument);
        EXPECT_EQ(code_of({"true"}, {.directory = "/no/such/folder"}),
                  std::errc::no_such_file_or_directory);
        io::child_process none;
        std::error_code failed;
        EXPECT_EQ(none.id(), 0);
        (void)none.wait(failed);
        EXPECT_EQ(failed, std::errc::no_child_process);
    });
}

TEST_P(child_processes, signals_end_the_process_and_are_its_status) {
    runtime.run([] {
        io::child_process first({"sleep", "1000"}, quiet());
        first.terminate();
        EXPECT_EQ(first.wait(), io::exit_status(0, SIGTERM));
        EXPECT_EQ(first.wait().code(), 128 + SIGTERM);
        io::child_process second({"sleep", "1000"}, quiet());
        second.kill();
        EXPECT_EQ(second.wait().to_string(), "ended by SIGKILL (9)");
    });
}

TEST_P(child_processes, destructor_kills_and_reaps) {
    runtime.run([] {
        int process = 0;
        {
            io::child_process child({"sleep", "1000"}, quiet());
            process = child.id();
            io::child_process other({"sleep", "1000"}, quiet());
            other = std::move(child); // Ends its own process.
        }
        EXPECT_TRUE(is_gone(process));
    });
}

TEST_P(child_processes, cancelled_and_timed_out_waits_leave_no_process) {
    runtime.run([] {
        EXPECT_THROW(sennit::with_timeout(1ms, [] { (void)io::run({"sleep", "1000"}); }),
                     sennit::timed_out);
        std::atomic<int> processes[2];
        sennit::nursery all;
        all.start([&] {
            io::child_process child({"sleep", "1000"}, quiet());
            processes[0] = child.id();
            (void)child.wait();
        });
        all.start([](std::atomic<int>& process) -> sennit::task<void> {
            io::child_process child({"sleep", "1000"}, quiet());
            process = child.id();
            (void)co_await child.async_wait();
        }(processes[1]));
        while (processes[0] == 0 || processes[1] == 0) sennit::this_fiber::yield();
        all.cancel();
        all.join();
        EXPECT_TRUE(is_gone(processes[0]));
        EXPECT_TRUE(is_gone(processes[1]));
    });
}

TEST_P(child_processes, group_ends_with_its_leader) {
    runtime.run([] {
        io::child_process shell({"sh", "-c", "sleep 1000 & echo $!; wait"},
                                {.output = io::child_stream::pipe(), .own_group = true});
        std::string line;
        while (!line.ends_with('\n')) line += read_text(shell.output(), 1);
        shell.kill();
        // The pipe ends when the grandchild has ended, too.
        EXPECT_EQ(read_rest(shell.output()), "");
        EXPECT_EQ(shell.wait().signal(), SIGKILL);
    });
}

TEST_P(child_processes, several_strands_wait_for_one_process) {
    runtime.run([] {
        io::child_process child(
            {"cat"}, {.input = io::child_stream::pipe(), .output = io::child_stream::null()});
        std::atomic<int> ended{0};
        sennit::nursery all;
        for (int i = 0; i < 5; ++i) all.start([&] { ended += child.wait().ok(); });
        sennit::this_fiber::yield();
        child.input().close();
        all.join();
        EXPECT_EQ(ended, 5);
    });
}

TEST_P(child_processes, many_run_at_a_time) {
    runtime.run([] {
        std::atomic<int> right{0};
        sennit::nursery all;
        for (int i = 0; i < 20; ++i)
            all.start([&, i] {
                right += io::run({"echo", std::to_string(i)}).output == std::to_string(i) + "\n";
            });
        all.join();
        EXPECT_EQ(right, 20);
    });
}

TEST_P(child_processes, status_that_other_code_has_taken_is_an_error) {
    runtime.run([] {
        io::child_process child({"true"}, quiet());
        while (::waitpid(child.id(), nullptr, 0) != child.id()) {
        }
        std::error_code failed;
        (void)child.wait(failed);
        EXPECT_EQ(failed, std::errc::no_child_process);
    });
}

TEST_P(child_processes, thread_of_the_system_runs_a_program) {
    EXPECT_EQ(io::run({"cat"}, {.input = "x"}).output, "x");
}

} // namespace
