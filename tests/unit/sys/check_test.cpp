// SPDX-License-Identifier: Apache-2.0
// Tests failed checks, and the function that writes their text.
#include "sennit/detail/base/check.hpp"

#include "sys/check.hpp"
#include "sys/report.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

TEST(check, check_does_nothing_while_its_condition_holds) {
    int evaluated = 0;
    SENNIT_CHECK(++evaluated == 1, "never seen");
    EXPECT_EQ(evaluated, 1);
}

// The second line, which names the function that called the library.
#define CALLED_FROM "    called from [^\n]*_Test::TestBody \\(unit_sys\\+0x[0-9a-f]+\\)\n$"

TEST(check_death_test, failed_check_aborts_with_message_file_and_line) {
    EXPECT_EXIT(SENNIT_CHECK(1 > 2, "one is too small"), testing::KilledBySignal(SIGABRT),
                "^sennit: one is too small \\(.*check_test\\.cpp:[0-9]+\\)\n" CALLED_FROM);
    EXPECT_EXIT(sennit::base::fail("m", "f.cpp", 0), testing::KilledBySignal(SIGABRT),
                "^sennit: m \\(f\\.cpp:0\\)\n" CALLED_FROM);
    EXPECT_EXIT(sennit::base::fail("m", "f.cpp", 2147483647), testing::KilledBySignal(SIGABRT),
                "^sennit: m \\(f\\.cpp:2147483647\\)\n" CALLED_FROM);
}

TEST(check_death_test, failed_check_names_caller_as_described) {
    EXPECT_EXIT(
        {
            sennit::sys::set_caller_describer([](char* text, std::size_t size) noexcept {
                std::snprintf(text, size, "fiber 7 'reader', ");
            });
            sennit::base::fail("m", "f.cpp", 1);
        },
        testing::KilledBySignal(SIGABRT),
        "^sennit: m \\(fiber 7 'reader', f\\.cpp:1\\)\n" CALLED_FROM);
}

TEST(assert_death_test, assert_checks_in_debug_builds_only) {
#ifdef NDEBUG
    bool evaluated = false;
    SENNIT_ASSERT((evaluated = true), "never evaluated");
    EXPECT_FALSE(evaluated);
#else
    EXPECT_EXIT(SENNIT_ASSERT(false, "asserted"), testing::KilledBySignal(SIGABRT),
                "^sennit: asserted \\(");
#endif
}

TEST(report_death_test, report_writes_all_parts_in_order) {
    EXPECT_EXIT(
        {
            sennit::sys::report({"one ", "", "two", " three\n"});
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^one two three\n$");
}

void ignore_signal(int) {}

// A pipe takes 4 KiB to 64 KiB at a time. The writer blocks in between, and each signal ends such a
// write early.
TEST(report, report_writes_everything_despite_full_pipe_and_signals) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::fcntl(ends[1], F_SETPIPE_SZ, 4096);
    const std::string text(300'000, 'x');
    const pid_t writer = ::fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
        struct sigaction interrupt{};
        interrupt.sa_handler = &ignore_signal; // SA_RESTART is not set.
        ::sigaction(SIGUSR1, &interrupt, nullptr);
        ::close(ends[0]);
        ::dup2(ends[1], STDERR_FILENO);
        sennit::sys::report({text.c_str(), "end"});
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string received;
    char buffer[1000];
    for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
        received.append(buffer, static_cast<std::size_t>(got));
        ::kill(writer, SIGUSR1); // The writer has written something, so its handler is installed.
    }
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(received.size(), text.size() + 3);
    EXPECT_TRUE(received == text + "end");
}

TEST(report_death_test, report_gives_up_if_standard_error_is_closed) {
    EXPECT_EXIT(
        {
            ::close(STDERR_FILENO);
            sennit::sys::report({"lost"});
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^$");
}

} // namespace
