// SPDX-License-Identifier: Apache-2.0
#include "sys/stack_overflow.hpp"

#include "sennit/detail/sys/atfork.hpp"
#include "sys/mutex.hpp"
#include "sys/report.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <new>

namespace sennit::sys {

namespace {

constinit mutex installing;
const base::atfork_lock hold_installing(installing);
fault_describer describer = nullptr; // written once
struct sigaction previous_segv;
struct sigaction previous_bus;

void handle_fault(int number, siginfo_t* info, void* machine) {
    char text[256];
    // otherwise a process sent the signal, and there is no address
    const bool fault = info->si_code > 0;
    if (fault && describer && describer(info->si_addr, text, sizeof text)) {
        report({"sennit: ", text, "\n"});
        std::abort();
    }
    const struct sigaction& before = number == SIGBUS ? previous_bus : previous_segv;
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, machine);
    } else if (before.sa_handler == SIG_DFL || (before.sa_handler == SIG_IGN && fault)) {
        // A fault cannot be ignored: the instruction would fault forever. So the instruction faults
        // once more, with the default action.
        struct sigaction standard{};
        standard.sa_handler = SIG_DFL;
        ::sigaction(number, &standard, nullptr);
        if (!fault) ::raise(number); // a sent signal does not repeat itself
    } else if (before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    }
}

} // namespace

void install_stack_overflow_handler(fault_describer describe) noexcept {
    std::lock_guard guard(installing);
    if (describer) return;
    describer = describe;
    struct sigaction ours{};
    ours.sa_sigaction = &handle_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    ::sigaction(SIGSEGV, &ours, &previous_segv);
    ::sigaction(SIGBUS, &ours, &previous_bus);
}

signal_stack::signal_stack() {
    stack_t present{};
    if (::sigaltstack(nullptr, &present) == 0 && !(present.ss_flags & SS_DISABLE)) return;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    bytes_ = std::size_t{64 * 1024} + page;
    void* memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = memory;
    // The guard of the signal stack. Without it the handler's own overflow would go unnoticed.
    ::mprotect(memory, page, PROT_NONE);
    stack_t ours{};
    ours.ss_sp = static_cast<std::byte*>(memory) + page;
    ours.ss_size = bytes_ - page;
    ::sigaltstack(&ours, nullptr);
}

signal_stack::~signal_stack() {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
    ::munmap(memory_, bytes_);
}

} // namespace sennit::sys
