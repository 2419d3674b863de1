// SPDX-License-Identifier: Apache-2.0
#include "sys/switch.hpp"

#include <pthread.h>
#ifdef SENNIT_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

#include <utility>

namespace sennit::sys {

void keep_state(machine_context& from, exception_globals& globals) noexcept {
    from.exceptions = std::exchange(globals, {});
    if (!fp_note().is(from.fp_usual)) {
        from.fp_control = read_fp_control();
        write_fp_control(from.fp_usual);
    }
    from.keeps = true;
}

void restore_state(machine_context& to, exception_globals& globals) noexcept {
    globals = std::exchange(to.exceptions, {});
    if (to.fp_control != 0) write_fp_control(std::exchange(to.fp_control, 0));
    to.keeps = false;
}

#ifdef SENNIT_ADDRESS_SANITIZER
own_stack_registration::own_stack_registration(machine_context& own) noexcept {
    pthread_attr_t seen;
    if (::pthread_getattr_np(::pthread_self(), &seen) != 0) return;
    void* low = nullptr;
    ::pthread_attr_getstack(&seen, &low, &own.stack_size);
    ::pthread_attr_destroy(&seen);
    own.stack_low = low;
    begin_ = __builtin_frame_address(0);
    bytes_ = static_cast<std::size_t>(static_cast<std::byte*>(low) + own.stack_size -
                                      static_cast<const std::byte*>(begin_));
    __lsan_register_root_region(begin_, bytes_);
}
own_stack_registration::~own_stack_registration() {
    if (bytes_ != 0) __lsan_unregister_root_region(begin_, bytes_);
}
#else
own_stack_registration::own_stack_registration(machine_context&) noexcept {}
own_stack_registration::~own_stack_registration() = default;
#endif

#ifdef SENNIT_ADDRESS_SANITIZER
// A fake stack ends with its last switch: this function adopts it, and leaves it for good.
__attribute__((no_sanitize("address"))) void end_notes(machine_context& of) noexcept {
    if (!of.asan_fake_stack) return;
    void* const its = std::exchange(of.asan_fake_stack, nullptr);
    void* mine = nullptr;
    const void* low = nullptr;
    std::size_t size = 0;
    __sanitizer_start_switch_fiber(&mine, of.stack_low, of.stack_size);
    __sanitizer_finish_switch_fiber(its, &low, &size);
    __sanitizer_start_switch_fiber(nullptr, low, size);
    __sanitizer_finish_switch_fiber(mine, nullptr, nullptr);
}
#else
void end_notes([[maybe_unused]] machine_context& of) noexcept {
#ifdef SENNIT_THREAD_SANITIZER
    __tsan_destroy_fiber(of.tsan_fiber);
#endif
}
#endif

} // namespace sennit::sys
