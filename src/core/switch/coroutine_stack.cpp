// SPDX-License-Identifier: Apache-2.0
// Creation of coroutine stacks, and the jumps that cannot be inline.
#include "sennit/detail/core/coroutine_stack.hpp"

#include "core/policy/tuning.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/race_annotations.hpp"
#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/mutex.hpp"
#include "sys/stack.hpp"
#include "sys/switch.hpp"
#include "sys/thread.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <utility>

namespace sennit::sched {

// Not instrumented, because ThreadSanitizer's shadow stack changes in the middle of a function that
// jumps.
#ifdef SENNIT_THREAD_SANITIZER
#define SENNIT_NOT_INSTRUMENTED __attribute__((no_sanitize("thread")))
#else
#define SENNIT_NOT_INSTRUMENTED
#endif

base::atomic<coroutine_stack*> newest_coroutine_stack{nullptr};

namespace {

base::atomic<coroutine_stack*>& newest = newest_coroutine_stack;
constexpr auto usual_class = static_cast<unsigned>(std::countr_zero(coroutine_stack_size));
constexpr auto least_class = static_cast<unsigned>(std::countr_zero(min_coroutine_stack));
constexpr auto max_class = static_cast<unsigned>(std::countr_zero(max_coroutine_stack));

base::spin_lock idle_lock;  // guards the next two
coroutine_stack_cache idle; // of the usual size
std::array<coroutine_stack_cache, max_class - least_class + 1> idle_of_others; // by size
// Set by `make` and read by `bottom`; no code between them may suspend.
thread_local coroutine_stack* entered_first = nullptr;

const base::atfork_lock hold_idle(idle_lock);

// Guards `sources`, and is held while a source is asked for memory.
constinit sys::mutex source_lock;
const base::atfork_lock hold_sources(source_lock);
// The sources by size. They are never destroyed, because coroutines may be objects of static
// duration.
constinit std::array<sys::stack_source*, max_class - least_class + 1> sources{};

sys::stack fresh_memory(unsigned size_class) {
    // A coroutine needs no runtime, which would have installed the handlers.
    sys::install_atfork_handlers();
    std::lock_guard guard(source_lock);
    sys::stack_source*& one = sources[size_class - least_class];
    if (!one) one = new sys::stack_source(std::size_t{1} << size_class);
    return one->take();
}

[[gnu::noinline]] void note_first(coroutine_stack* which) noexcept {
    entered_first = which;
}
[[gnu::noinline]] coroutine_stack& first_noted() noexcept {
    return *entered_first;
}

// The bounds that the sanitizers are given if the running context blocks.
struct noted_bounds {
#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
    const void* low = nullptr;
    std::size_t size = 0;
    void* tsan_fiber = nullptr;

    static noted_bounds of_here() noexcept {
        worker* me = this_worker();
        if (!me) return {};
        const sys::machine_context& now = me->self().machine;
        return {now.stack_low, now.stack_size, now.tsan_fiber};
    }
    void set() const noexcept {
        worker* me = this_worker();
        if (!me) return;
        sys::machine_context& now = me->self().machine;
        now.stack_low = low;
        now.stack_size = size;
        now.tsan_fiber = tsan_fiber;
    }
#endif
};

// Always inline: a separate function would begin on one shadow stack and end on the other.
[[gnu::always_inline]] SENNIT_NOT_INSTRUMENTED inline void
note_fiber([[maybe_unused]] void* fiber) noexcept {
#ifdef SENNIT_THREAD_SANITIZER
    __tsan_switch_to_fiber(fiber, 0);
#endif
}

} // namespace

coroutine_stack::coroutine_stack(std::byte* low, std::byte* high, unsigned size_class) noexcept
    : low_(low), room_(static_cast<std::size_t>(high - low)), high_(high), size_class_(size_class) {
    // SAFETY: an address only.
    other_sp_ = sys::prepare_stack(reinterpret_cast<std::byte*>(this), [] { bottom(); });
    inner_.low = low;
    inner_.size = room_;
#ifdef SENNIT_THREAD_SANITIZER
    inner_.tsan_fiber = __tsan_create_fiber(0);
#endif
    next_made_ = newest.load();
    while (!newest.cas(next_made_, this)) {
    }
}

coroutine_stack& coroutine_stack::make(unsigned size_class) {
    const sys::stack fresh = fresh_memory(size_class);
    // SAFETY: writable memory for the life of the process; its upper end is aligned to 64 bytes, as
    // this class is.
    auto& made = *::new (fresh.high - sizeof(coroutine_stack))
                     coroutine_stack(fresh.low, fresh.high, size_class);
    note_first(&made);
    made.enter(); // runs up to the wait for its first body
    return made;
}

const coroutine_stack* coroutine_stack::find(const void* address, bool guard) noexcept {
    const auto* where = static_cast<const std::byte*>(address);
    for (const coroutine_stack* each = newest.load(); each; each = each->next_made_) {
        const std::byte* const low = guard ? each->low_ - sys::guard_size : each->low_;
        if (where >= low && where < (guard ? each->low_ : each->high_)) return each;
    }
    return nullptr;
}

// Must be the first call on the inside after each jump to it.
inline void coroutine_stack::arrived_inside([[maybe_unused]] void* fake_stack) noexcept {
#ifdef SENNIT_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, passed_ ? nullptr : &outer_.low,
                                    passed_ ? nullptr : &outer_.size);
#endif
#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
    noted_bounds{inner_.low, inner_.size, inner_.tsan_fiber}.set();
#endif
}

SENNIT_NOT_INSTRUMENTED void coroutine_stack::bottom() noexcept {
    coroutine_stack& self = first_noted();
    self.arrived_inside(nullptr);
    for (;;) {
        self.leave();
        self.body_(self.argument_);
    }
}

#ifdef SENNIT_INLINE_JUMP

void* coroutine_stack::interrupt() noexcept {
    entered_ = entry_fingerprint();
    exchange_exceptions();
    return sys::jump_telling(&other_sp_, other_sp_, nullptr);
}

#else

SENNIT_NOT_INSTRUMENTED void* coroutine_stack::interrupt() noexcept {
    tells_ = false;
    void* const other = enter(other_sp_);
    tells_ = true;
    return other;
}

SENNIT_NOT_INSTRUMENTED void* coroutine_stack::enter(void*) noexcept {
#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
    const noted_bounds outside = noted_bounds::of_here();
#endif
    entered_ = entry_fingerprint();
    exchange_exceptions();
#ifdef SENNIT_ADDRESS_SANITIZER
    void* fake_stack = nullptr;
    passed_ = false;
    __sanitizer_start_switch_fiber(&fake_stack, inner_.low, inner_.size);
#endif
#ifdef SENNIT_THREAD_SANITIZER
    outer_.tsan_fiber = __tsan_get_current_fiber();
#endif
    note_fiber(inner_.tsan_fiber);
    sys::jump(&other_sp_, other_sp_);
#ifdef SENNIT_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
    outside.set();
#endif
    return other_sp_;
}

SENNIT_NOT_INSTRUMENTED void* coroutine_stack::leave(void*) noexcept {
    check_leave();
    exchange_exceptions();
    void* fake_stack = nullptr;
#ifdef SENNIT_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&fake_stack, outer_.low, outer_.size);
#endif
    note_fiber(outer_.tsan_fiber);
    sys::jump(&other_sp_, other_sp_);
    arrived_inside(fake_stack);
    return tells_ ? other_sp_ : nullptr;
}

#endif

// The enterer's side moves from this stack to `next`, and the caller becomes the other side of this
// stack.
SENNIT_NOT_INSTRUMENTED void coroutine_stack::transfer_to(coroutine_stack& next) noexcept {
    check_leave();
    next.entered_ = entered_;
    void* const sp = std::exchange(next.other_sp_, other_sp_);
    // This stack gets the exceptions of the inside of `next`; `next` gets those of the enterer.
    std::swap(next.other_exceptions_, other_exceptions_);
    exchange_exceptions();
    next.outer_ = outer_;
    void* fake_stack = nullptr;
#ifdef SENNIT_ADDRESS_SANITIZER
    next.passed_ = true;
    __sanitizer_start_switch_fiber(&fake_stack, next.inner_.low, next.inner_.size);
#endif
    note_fiber(next.inner_.tsan_fiber);
#ifdef SENNIT_INLINE_JUMP
    sys::jump_telling(&other_sp_, sp, next.other_sp_);
#else
    sys::jump(&other_sp_, sp);
#endif
    arrived_inside(fake_stack);
}

void coroutine_stack_cache::give_all() noexcept {
    std::lock_guard guard(idle_lock);
    while (coroutine_stack* one = take()) idle.keep(*one);
}

coroutine_stack* coroutine_stack::take_idle(unsigned size_class) noexcept {
    std::lock_guard guard(idle_lock);
    return size_class == usual_class ? idle.take()
                                     : idle_of_others[size_class - least_class].take();
}

void coroutine_stack::keep_idle() noexcept {
    std::lock_guard guard(idle_lock);
    (size_class_ == usual_class ? idle : idle_of_others[size_class_ - least_class]).keep(*this);
}

coroutine_stack& coroutine_stack::take(void (*body)(void*) noexcept, void* argument) {
    worker* me = this_worker();
    coroutine_stack* found = me ? me->services.coroutine_stacks.take() : nullptr;
    if (!found) found = take_idle(usual_class);
    if (!found) found = &make(usual_class);
    base::annotate_read(found);
    found->body_ = body;
    found->argument_ = argument;
    return *found;
}

coroutine_stack& coroutine_stack::take(void (*body)(void*) noexcept, void* argument,
                                       std::size_t size, const char* name, owner whose) {
    const std::size_t room = std::bit_ceil(std::max(size, min_coroutine_stack));
    const auto size_class = size == 0 ? usual_class : static_cast<unsigned>(std::countr_zero(room));
    coroutine_stack* found = nullptr;
    if (size_class == usual_class) {
        found = &take(body, argument);
    } else {
        found = take_idle(size_class);
        if (!found) found = &make(size_class);
        base::annotate_read(found);
        found->body_ = body;
        found->argument_ = argument;
    }
    found->name_ = name;
    found->whose_ = whose;
    return *found;
}

void coroutine_stack::give(coroutine_stack& ended) noexcept {
    worker* me = this_worker();
    ended.body_ = nullptr;
    ended.name_ = nullptr;
    ended.whose_ = owner::coroutine;
    base::annotate_write(&ended);
    if (me && ended.size_class_ == usual_class &&
        me->services.coroutine_stacks.size() < tuning::max_cached_contexts) {
        me->services.coroutine_stacks.keep(ended);
        return;
    }
    ended.keep_idle();
}

} // namespace sennit::sched
