// SPDX-License-Identifier: Apache-2.0
// Tests the handler of stack overflows. A process installs the handler once and for good, so each
// test installs it in its own process.
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

volatile char* forbidden = nullptr; // A page that faults.
volatile char* known = nullptr;     // Another such page, which the describer knows.

volatile char* faulting_page() {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return static_cast<volatile char*>(memory == MAP_FAILED ? nullptr : memory);
}

// Sends a signal to this process. With ThreadSanitizer it sends the signal to this thread:
// ThreadSanitizer's own thread could otherwise get the signal, and would end the process.
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

TEST_F(overflow_death_test, handler_describes_known_fault_and_aborts) {
    EXPECT_EXIT(
        {
            handle(SIGSEGV, SIG_DFL);
            install_stack_overflow_handler(&describe);
            *known = 1;
        },
        testing::KilledBySignal(SIGABRT), "^sennit: the known page was touched\n$");
}

TEST_F(overflow_death_test, handler_is_installed_once) {
    EXPECT_EXIT(
        {
            install_stack_overflow_handler(&describe);
            install_stack_overflow_handler(&describe_another_way);
            *known = 1;
        },
        testing::KilledBySignal(SIGABRT), "^sennit: the known page was touched\n$");
}

TEST_F(overflow_death_test, other_faults_reach_earlier_plain_handler) {
    EXPECT_EXIT(
        {
            handle(SIGSEGV, &plain_handler);
            install_stack_overflow_handler(&describe);
            *forbidden = 1;
        },
        testing::ExitedWithCode(41), "^plain handler of 11\n$");
}

TEST_F(overflow_death_test, other_faults_reach_earlier_full_handler) {
    EXPECT_EXIT(
        {
            handle(SIGSEGV, nullptr, &full_handler);
            install_stack_overflow_handler(&describe);
            *forbidden = 1;
        },
        testing::ExitedWithCode(42), "^full handler of 11, right address, with registers\n$");
}

TEST_F(overflow_death_test, other_faults_end_program_as_without_handler) {
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

TEST_F(overflow_death_test, handler_passes_on_sent_signal) {
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

// A page of a mapped file beyond the file's end raises SIGBUS.
TEST_F(overflow_death_test, handler_handles_bus_errors) {
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

// Threads of sanitized programs have a signal stack from the start.
void disable_signal_stack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
}

TEST(signal_stack, signal_stack_is_present_during_its_lifetime) {
    EXPECT_EQ(status_of_child([] {
                  disable_signal_stack();
                  {
                      const signal_stack mine;
                      if (!has_signal_stack()) return 1;
                      const stack_t present = present_signal_stack();
                      if (present.ss_size < std::size_t{64} << 10) return 2;
                      // The whole stack is usable.
                      static_cast<volatile char*>(present.ss_sp)[0] = 1;
                      static_cast<volatile char*>(present.ss_sp)[present.ss_size - 1] = 1;
                  }
                  return has_signal_stack() ? 3 : 0;
              }),
              0);
}

TEST(signal_stack, signal_stack_keeps_existing_one) {
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

// The purpose of a signal stack: the handler runs although the thread's stack is used up.
TEST_F(overflow_death_test, handler_reports_used_up_stack) {
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
