// SPDX-License-Identifier: Apache-2.0
// The handler is installed once in a process and for good, so each test does it in a process of its
// own.
#include "sys/stack_overflow.hpp"

#include "child_process.hpp"
#include "sennit/detail/base/sanitizers.hpp"
#include "sys/stack.hpp"
#include "sys/thread.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

using sennit::sys::install_stack_overflow_handler, sennit::sys::signal_stack;

volatile char* forbidden = nullptr; // a page that faults
volatile char* known = nullptr;     // another one, which the describer knows

volatile char* faulting_page() {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return static_cast<volatile char*>(memory == MAP_FAILED ? nullptr : memory);
}

// To this process; with ThreadSanitizer to this thread, as its own thread, which may get it else,
// ends the process.
void send(int number) {
#ifdef SENNIT_THREAD_SANITIZER
    ::pthread_kill(::pthread_self(), number);
#else
    ::kill(::getpid(), number);
#endif
}

bool describe(const void* address, char* text, std::size_t size) noexcept {
    if (address != const_cast<const char*>(known)) return false;
    std::snprintf(text, size, "the known page was touched");
    return true;
}

bool describe_another_way(const void*, char* text, std::size_t size) noexcept {
    std::snprintf(text, size, "the second describer was asked");
    return true;
}

void plain_handler(int number) {
    std::fprintf(stderr, "plain handler of %d\n", number);
    std::_Exit(41);
}

void full_handler(int number, siginfo_t* info, void* machine) {
    std::fprintf(stderr, "full handler of %d, %s, %s\n", number,
                 info->si_addr == const_cast<char*>(forbidden) ? "right address" : "wrong address",
                 machine ? "with registers" : "without registers");
    std::_Exit(42);
}

void handle(int number, void (*plain)(int), void (*full)(int, siginfo_t*, void*) = nullptr) {
    struct sigaction action{};
    sigemptyset(&action.sa_mask);
    if (full) {
        action.sa_sigaction = full;
        action.sa_flags = SA_SIGINFO;
    } else {
        action.sa_handler = plain;
    }
    ::sigaction(number, &action, nullptr);
}

class overflow_death_test : public testing::Test {
protected:
    void SetUp() override {
        forbidden = faulting_page();
        known = faulting_page();
        ASSERT_TRUE(forbidden && known);
    }
};

TEST_F(overflow_death_test, describes_a_fault_that_it_knows_and_aborts) {
    EXPECT_EXIT(
        {
            handle(SIGSEGV, SIG_DFL);
            install_stack_overflow_handler(&describe);
            *known = 1;
        },
        testing::KilledBySignal(SIGABRT), "^sennit: the known page was touched\n$");
}

TEST_F(overflow_death_test, is_installed_once) {
    EXPECT_EXIT(
        {
            install_stack_overflow_handler(&describe);
            install_stack_overflow_handler(&describe_another_way);
            *known = 1;
        },
        testing::KilledBySignal(SIGABRT), "^sennit: the known page was touched\n$");
}

TEST_F(overflow_death_test, leaves_other_faults_to_the_plain_handler_that_was_there) {
    EXPECT_EXIT(
        {
            handle(SIGSEGV, &plain_handler);
            install_stack_overflow_handler(&describe);
            *forbidden = 1;
        },
        testing::ExitedWithCode(41), "^plain handler of 11\n$");
}

TEST_F(overflow_death_test, leaves_other_faults_to_the_full_handler_that_was_there) {
    EXPECT_EXIT(
        {
            handle(SIGSEGV, nullptr, &full_handler);
            install_stack_overflow_handler(&describe);
            *forbidden = 1;
        },
        testing::ExitedWithCode(42), "^full handler of 11, right address, with registers\n$");
}

TEST_F(overflow_death_test, lets_other_faults_end_the_program_as_if_it_were_not_there) {
    for (auto* before : {SIG_DFL, SIG_IGN})
        EXPECT_EXIT(
            {
                handle(SIGSEGV, before);
                install_stack_overflow_handler(&describe);
                *forbidden = 1;
            },
            testing::KilledBySignal(SIGSEGV), "^$");
    EXPECT_EXIT(
        {
            handle(SIGSEGV, SIG_DFL);
            install_stack_overflow_handler(nullptr);
            *forbidden = 1;
        },
        testing::KilledBySignal(SIGSEGV), "^$")
        << "without a describer";
}

TEST_F(overflow_death_test, passes_on_a_signal_that_somebody_sent) {
    for (const int number : {SIGSEGV, SIGBUS}) {
        EXPECT_EXIT(
            {
                handle(number, SIG_DFL);
                install_stack_overflow_handler(&describe_another_way);
                send(number);
                std::_Exit(1);
            },
            testing::KilledBySignal(number), "^$");
        EXPECT_EXIT(
            {
                handle(number, SIG_IGN);
                install_stack_overflow_handler(&describe_another_way);
                send(number);
                std::_Exit(43);
            },
            testing::ExitedWithCode(43), "^$");
        EXPECT_EXIT(
            {
                handle(number, &plain_handler);
                install_stack_overflow_handler(&describe_another_way);
                send(number);
                std::_Exit(1);
            },
            testing::ExitedWithCode(41), "^plain handler of [0-9]+\n$");
    }
}

// A page of a mapped file beyond the file's end: SIGBUS.
TEST_F(overflow_death_test, handles_bus_errors_too) {
    EXPECT_EXIT(
        {
            std::FILE* empty = std::tmpfile();
            const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
            known = static_cast<char*>(
                ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(empty), 0));
            install_stack_overflow_handler(&describe);
            *known = 1;
        },
        testing::KilledBySignal(SIGABRT), "^sennit: the known page was touched\n$");
}

stack_t present_signal_stack() {
    stack_t present{};
    ::sigaltstack(nullptr, &present);
    return present;
}

bool has_signal_stack() {
    return (present_signal_stack().ss_flags & SS_DISABLE) == 0;
}

// Threads of sanitized programs have one from the start.
void disable_signal_stack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
}

TEST(signal_stack, is_there_while_it_lives) {
    EXPECT_EQ(status_of_child([] {
                  disable_signal_stack();
                  {
                      const signal_stack mine;
                      if (!has_signal_stack()) return 1;
                      const stack_t present = present_signal_stack();
                      if (present.ss_size < std::size_t{64} << 10) return 2;
                      static_cast<volatile char*>(present.ss_sp)[0] = 1; // all of it is usable
                      static_cast<volatile char*>(present.ss_sp)[present.ss_size - 1] = 1;
                  }
                  return has_signal_stack() ? 3 : 0;
              }),
              0);
}

TEST(signal_stack, leaves_one_that_is_there_alone) {
    EXPECT_EQ(status_of_child([] {
                  disable_signal_stack();
                  const signal_stack first;
                  void* const memory = present_signal_stack().ss_sp;
                  {
                      const signal_stack second;
                      if (present_signal_stack().ss_sp != memory) return 1;
                  }
                  return present_signal_stack().ss_sp == memory ? 0 : 2;
              }),
              0);
}

// What it is for: the handler runs although the stack is used up.
TEST_F(overflow_death_test, reports_a_stack_that_is_used_up) {
    EXPECT_EXIT(
        {
            handle(SIGSEGV, SIG_DFL);
            install_stack_overflow_handler(&describe_another_way);
            disable_signal_stack();
            const signal_stack mine;
            struct endless {
                static long recurse(volatile char* above, long depth) {
                    volatile char frame[1024];
                    frame[0] = above ? above[0] : '\0';
                    return depth < 0 ? 0 : recurse(frame, depth + 1) + frame[0];
                }
            };
            std::_Exit(endless::recurse(nullptr, 0) == 0 ? 1 : 2);
        },
        testing::KilledBySignal(SIGABRT), "sennit: the second describer was asked");
}

} // namespace
