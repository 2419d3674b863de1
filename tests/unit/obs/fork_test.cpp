// SPDX-License-Identifier: Apache-2.0
// Tests dumps and traces in a child of fork(). Each test runs in its own process.
#include "child_process.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace {

class fork_death_test : public testing::Test {
protected:
    void SetUp() override {
#ifdef SENNIT_THREAD_SANITIZER
        GTEST_SKIP() << "ThreadSanitizer allows no new threads in a child of fork()";
#endif
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }
};

TEST_F(fork_death_test, child_dumps_after_fork_during_dump) {
#ifdef SENNIT_ADDRESS_SANITIZER
    GTEST_SKIP() << "AddressSanitizer's list of freed memory may stay locked in a child if another "
                    "thread frees memory during the fork";
#endif
    const auto forks = [] {
        std::atomic<bool> stop = false;
        sennit::runtime runtime({.workers = 2});
        std::thread dumps([&] {
            while (!stop) {
                std::ostringstream ignored;
                runtime.dump(ignored);
            }
        });
        int failed = 0;
        for (int i = 0; i < 20 && failed == 0; ++i)
            failed = status_of_child_in_time([] {
                sennit::runtime mine({.workers = 1});
                std::ostringstream text;
                mine.dump(text);
                return text.str().find("worker 0: ") != std::string::npos ? 0 : 1;
            });
        stop = true;
        dumps.join();
        std::_Exit(failed == 0 ? 0 : 1);
    };
    EXPECT_EXIT(forks(), testing::ExitedWithCode(0), "");
}

// Returns true if the signal has made the child write a dump.
bool child_dumps_on_signal() {
    int ends[2];
    if (::pipe(ends) != 0) return false;
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        ::dup2(ends[1], 2);
        ::close(ends[0]);
        sennit::runtime mine({.workers = 1, .name = "of the child"});
        ::raise(SIGUSR1);
        for (;;) ::pause();
    }
    ::close(ends[1]);
    std::string text;
    char some[256];
    while (text.find("runtime 'of the child'") == std::string::npos) {
        const ssize_t size = ::read(ends[0], some, sizeof some);
        if (size <= 0) break; // The alarm has ended the child.
        text.append(some, static_cast<std::size_t>(size));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return text.find("runtime 'of the child'") != std::string::npos;
}

TEST_F(fork_death_test, child_with_runtime_dumps_on_signal) {
    const auto forks = [] {
        sennit::obs::dump_on_signal(SIGUSR1);
        sennit::run([] {});
        std::_Exit(child_dumps_on_signal() ? 0 : 1);
    };
    EXPECT_EXIT(forks(), testing::ExitedWithCode(0), "");
}

TEST_F(fork_death_test, child_dumps_on_signal_from_environment) {
    const auto forks = [] {
        ::setenv("SENNIT_DUMP_SIGNAL", "USR1", 1);
        sennit::run([] {});
        std::_Exit(child_dumps_on_signal() ? 0 : 1);
    };
    EXPECT_EXIT(forks(), testing::ExitedWithCode(0), "");
}

TEST_F(fork_death_test, child_leaves_trace_to_parent) {
#ifdef SENNIT_NO_TRACE_HOOKS
    GTEST_SKIP() << "this library cannot trace";
#endif
    const auto forks = [] {
        const std::string path = (std::filesystem::temp_directory_path() /
                                  ("sennit-trace-" + std::to_string(::getpid()) + ".json"))
                                     .string();
        ::setenv("SENNIT_TRACE", path.c_str(), 1);
        const auto run = [](const char* name) {
            sennit::runtime runtime({.workers = 1});
            runtime.run([&] { sennit::fiber({.name = name}, [] {}).join(); });
        };
        run("of the parent");
        const int failed = status_of_child_in_time([&] {
            run("of the child");
            return 0;
        });
        std::ifstream file(path);
        std::stringstream text;
        text << file.rdbuf();
        std::filesystem::remove(path);
        const bool whole =
            text.str().find("of the parent") != std::string::npos && text.str().ends_with("\n]}\n");
        const bool alone = text.str().find("of the child") == std::string::npos;
        std::_Exit(failed == 0 && whole && alone ? 0 : 1);
    };
    EXPECT_EXIT(forks(), testing::ExitedWithCode(0), "");
}

} // namespace
