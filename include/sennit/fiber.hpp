// SPDX-License-Identifier: Apache-2.0
// fiber: a thread of execution that costs little more than a function call until it blocks. It is
// used like std::jthread.
//
//     sennit::fiber reader([&](std::stop_token stop) {
//         while (!stop.stop_requested()) handle(requests.pop());
//     });
//     …
//     // ~fiber requests stop and joins
//
// Use it for a task that may block, that needs a name of its own, or that outlives the function
// that starts it. Do not use it for a parallel computation whose results the caller needs right
// away (`fork_join`, `par`), or for a group of tasks that must end together (`nursery`).
//
// A fiber runs on a worker of the runtime that its creator runs on, or of the default runtime when
// the creator is not on a worker. A fiber may block in any call of the library. Its worker then
// runs other tasks, and the fiber may continue in another thread. Fibers, forked children and OS
// threads may call everything in this header.
//
// Cost: creating and joining a fiber that does not block takes about 20 ns. A fiber that blocks
// needs a stack: see runtime_options::stack_size.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/base/result.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/detail/core/list_awaiter.hpp"
#include "sennit/runtime.hpp"
#include "sennit/scheduling.hpp"

#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace sennit {

// How a new fiber starts.
enum class launch {
    enqueue, // the fiber becomes ready, and its creator continues
    // The fiber runs immediately, and its creator becomes ready. On a thread that is no worker this
    // is the same as `enqueue`.
    now,
    // As `enqueue`, but the fiber begins behind all tasks that are ready already. Fibers that one
    // worker enqueues begin newest first, and those that it starts in order begin oldest first,
    // unless its worker shares some of them. For requests that should not overtake each other.
    in_order,
};

struct fiber_attributes {
    std::string_view name{}; // shown in reports; cut to 23 characters
    sennit::launch policy = launch::enqueue;
    // The runtime that the fiber runs on. Null selects the creator's runtime, or the default
    // runtime.
    sennit::runtime* runtime = nullptr;

    // Read only by a runtime that has a scheduling order (runtime_options::order). `properties` may
    // point to a class that derives from fiber_properties, and belongs to this fiber alone. Without
    // `properties` such a runtime creates a set that holds `priority`.
    int priority = 0;
    std::shared_ptr<fiber_properties> properties = {};

    // The stack size in bytes that the fiber needs, at most 1 GiB. Set it only for a fiber that
    // needs more than runtime_options::stack_size; 0 means the size of the runtime. A fiber that
    // sets it starts on a stack of its own, at the cost of one stack switch.
    std::size_t stack_size = 0;

    // Binds the fiber to one worker, for code that depends on one thread. `worker` names the
    // worker. `pinned` alone selects the creator's worker; if the creator does not run on one of
    // the runtime's first workers, the runtime picks one in turn. Children that the fiber forks may
    // be stolen.
    std::optional<unsigned> worker = {};
    bool pinned = false;

    // Lets the fiber move to another runtime for good with this_fiber::migrate_to. The body then
    // has a stack of its own from the start: of `stack_size` bytes if that is given, else of 1 MiB
    // of address space. The body never runs on its joiner's stack. Such a fiber always has
    // properties. `migratable` cannot be combined with `worker` or `pinned`.
    bool migratable = false;

    bool plain() const noexcept {
        return name.empty() && priority == 0 && !properties && stack_size == 0 && !worker &&
               !pinned && !migratable;
    }
};

namespace detail {

constexpr sched::fiber_block::start start_of(launch policy) noexcept {
    switch (policy) {
    case launch::now:
        return sched::fiber_block::start::now;
    case launch::in_order:
        return sched::fiber_block::start::in_order;
    default:
        return sched::fiber_block::start::enqueue;
    }
}

// `how` is null when the caller gave no attributes, here and below.
sched::runtime_core& runtime_for(const fiber_attributes* how);
// Throws std::invalid_argument if the worker does not exist, the stack size is too large, or the
// attributes exclude each other. Throws std::bad_alloc.
void apply_to(sched::fiber_block& unstarted, const fiber_attributes& how);
using sched::deadline_in;
using sched::deadline_of;

template <class F, class... A>
inline constexpr bool takes_stop_token = std::is_invocable_v<F, std::stop_token, A...>;

template <class F, class... A>
auto fiber_result() {
    if constexpr (takes_stop_token<F, A...>)
        return std::type_identity<std::invoke_result_t<F, std::stop_token, A...>>();
    else
        return std::type_identity<std::invoke_result_t<F, A...>>();
}

struct code_address {
    const void* value;
};

// A fiber's block with its closure and, later, its result.
template <class R>
struct fiber_with_result : sched::fiber_block {
    using fiber_block::fiber_block;
    outcome<R> result;
};

template <class F, class... A>
struct fiber_with_closure final
    : fiber_with_result<typename decltype(fiber_result<F, A...>())::type> {
    using result_type = typename decltype(fiber_result<F, A...>())::type;
    using base_type = fiber_with_result<result_type>;
    using closure = std::tuple<F, A...>;

    template <class G, class... B>
    explicit fiber_with_closure(const fiber_attributes* how, const void* made_at, G&& function,
                                B&&... arguments)
        : base_type(runtime_for(how), type, made_at) {
        if (how && !how->plain()) apply_to(*this, *how);
        std::construct_at(std::addressof(call), std::forward<G>(function),
                          std::forward<B>(arguments)...);
    }
    ~fiber_with_closure() {}

    union {
        closure call; // alive until the body has run
    };

    static void body(sched::fiber_block& block) noexcept {
        auto& me = static_cast<fiber_with_closure&>(block);
        me.result.run([&me]() -> result_type {
            return std::apply(
                [&](F& function, A&... arguments) -> result_type {
                    if constexpr (takes_stop_token<F, A...>)
                        return std::invoke(std::move(function), me.stop_source().get_token(),
                                           std::move(arguments)...);
                    else
                        return std::invoke(std::move(function), std::move(arguments)...);
                },
                me.call);
        });
        std::destroy_at(std::addressof(me.call));
        if (me.result.error()) [[unlikely]]
            me.error = me.result.error();
    }
    static void destroy(sched::fiber_block* block) noexcept {
        auto* me = static_cast<fiber_with_closure*>(block);
        me->~fiber_with_closure();
        sched::give_memory(me, sizeof(fiber_with_closure));
    }
    static constexpr sched::fiber_type type{&body, &destroy, &typeid(F),
                                            &typeid(outcome<result_type>)};
};

// Throws std::bad_alloc, the exceptions of apply_to, and the exceptions of copying the closure.
template <class F, class... A>
[[gnu::always_inline]] inline auto* make_fiber(const fiber_attributes* how, const void* made_at,
                                               F&& function, A&&... arguments) {
    using block = fiber_with_closure<std::decay_t<F>, std::decay_t<A>...>;
    static_assert(alignof(block) <= 16, "sennit: a fiber's closure is over-aligned");
    void* memory = sched::take_memory(sizeof(block));
    try {
        return ::new (memory)
            block(how, made_at, std::forward<F>(function), std::forward<A>(arguments)...);
    } catch (...) {
        sched::give_memory(memory, sizeof(block));
        throw;
    }
}

int priority_of(sched::fiber_block& block) noexcept;

template <class P, class F>
void change_properties(sched::fiber_block* block, F& change) {
    auto* own = block ? dynamic_cast<P*>(block->properties()) : nullptr;
    if (!own) throw std::bad_cast();
    struct call {
        F& change;
        P& own;
    } what{change, *own};
    block->change_properties(
        [](void* it) { std::invoke(static_cast<call*>(it)->change, static_cast<call*>(it)->own); },
        &what);
}

// Explains a refused change of properties.
template <class P, class F>
base::refused_call refuse_change_of_properties() {
    static_assert(std::derived_from<P, fiber_properties> || base::refused<P>,
                  "sennit: change_properties<P> needs a class P that derives from "
                  "sennit::fiber_properties");
    static_assert(!std::derived_from<P, fiber_properties> || base::refused<P>,
                  "sennit: change_properties<P> calls the function with a P&");
    return {};
}

inline void set_priority(sched::fiber_block* block, int priority) {
    auto change = [priority](fiber_properties& own) { own.priority = priority; };
    change_properties<fiber_properties>(block, change);
}

} // namespace detail

class fiber {
public:
    // Identifies a strand of execution: a fiber, the body of a runtime::run, a stolen child, or an
    // OS thread. A default-constructed id identifies none.
    class id {
    public:
        id() noexcept = default;
        friend auto operator<=>(id, id) noexcept = default;
        friend std::ostream& operator<<(std::ostream& out, id which);
        std::uint64_t value() const noexcept { return value_; }

    private:
        friend class fiber;
        friend struct this_fiber_access;
        friend struct std::hash<id>;
        explicit id(std::uint64_t value) noexcept : value_(value) {}
        std::uint64_t value_ = 0;
    };

    fiber() noexcept = default;

    // Calls `function(arguments...)` in a new fiber, with copies of both. If the function takes a
    // std::stop_token first, the fiber passes its own. Does not block with launch::enqueue. Throws
    // std::bad_alloc and the exceptions of the copies; the second form also throws
    // std::invalid_argument for attributes that are out of range or exclude each other.
    template <class F, class... A>
        requires(!std::same_as<std::remove_cvref_t<F>, fiber> &&
                 !std::same_as<std::remove_cvref_t<F>, fiber_attributes> &&
                 !std::same_as<std::remove_cvref_t<F>, detail::code_address>)
    [[gnu::always_inline]] explicit fiber(F&& function, A&&... arguments)
        : fiber(detail::code_address{sched::here()}, nullptr, std::forward<F>(function),
                std::forward<A>(arguments)...) {}

    template <class F, class... A>
    [[gnu::always_inline]] fiber(const fiber_attributes& how, F&& function, A&&... arguments)
        : fiber(detail::code_address{sched::here()}, &how, std::forward<F>(function),
                std::forward<A>(arguments)...) {}

    // For internal use: `made_at` is the address of the creating code, which reports print.
    template <class F, class... A>
    fiber(detail::code_address made_at, const fiber_attributes* how, F&& function,
          A&&... arguments) {
        static_assert(std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...> ||
                          std::is_invocable_v<std::decay_t<F>, std::stop_token, std::decay_t<A>...>,
                      "sennit: a fiber's function must be callable with copies of the arguments, "
                      "or with a std::stop_token before them");
        auto* block = detail::make_fiber(how, made_at.value, std::forward<F>(function),
                                         std::forward<A>(arguments)...);
        block_ = block;
        launch(how ? how->policy : sennit::launch::enqueue);
    }

    fiber(fiber&& other) noexcept
        : block_(std::exchange(other.block_, nullptr)), stop_(std::move(other.stop_)),
          past_(std::exchange(other.past_, past::none)) {}
    // Moves a fiber in, as std::jthread does: if this object is joinable, the assignment first asks
    // its fiber to stop and joins it.
    fiber& operator=(fiber&& other) noexcept {
        if (this != &other) {
            stop_and_join();
            block_ = std::exchange(other.block_, nullptr);
            stop_ = std::move(other.stop_);
            past_ = std::exchange(other.past_, past::none);
        }
        return *this;
    }

    // Asks a joinable fiber to stop, and joins it; blocks until it has ended. If an exception left
    // its function, the program ends with a message, because no caller could receive the exception
    // any more.
    ~fiber() { stop_and_join(); }

    void swap(fiber& other) noexcept {
        std::swap(block_, other.block_);
        stop_.swap(other.stop_);
        std::swap(past_, other.past_);
    }
    friend void swap(fiber& a, fiber& b) noexcept { a.swap(b); }

    // Returns true if this object holds a fiber that was not joined or detached.
    bool joinable() const noexcept { return block_ != nullptr; }
    // Returns the id of the fiber, or an id that identifies none if the object is not joinable.
    id get_id() const noexcept { return block_ ? id(block_->id()) : id(); }
    // Returns the name of the fiber; the name is empty if the fiber has none or the object is not
    // joinable.
    std::string_view name() const noexcept { return block_ ? block_->name() : ""; }

    // Blocks until the function has returned. Rethrows the exception that left the function. Throws
    // std::system_error: invalid_argument when the object is not joinable,
    // resource_deadlock_would_occur when a fiber joins itself. A join is not a point of
    // cancellation.
    void join();

    // Joins like join(), and returns the function's result. Throws std::bad_cast, and leaves the
    // fiber joinable, when the result is not of type R.
    template <class R>
    R join() {
        check_result<R>();
        block_->join();
        return take_result<R>();
    }

    // Blocks until the fiber has ended, but at most until the deadline. Returns false when the
    // fiber has not ended in time; it stays joinable. Throws like join().
    template <class Rep, class Period>
    bool join_for(const std::chrono::duration<Rep, Period>& duration) {
        return join_before(detail::deadline_in(duration));
    }
    template <class Clock, class Duration>
    bool join_until(const std::chrono::time_point<Clock, Duration>& when) {
        return sched::wait_until(when, false,
                                 [this](std::int64_t until) { return join_before(until); });
    }

    // Like join(), join<R>(), join_for and join_until, for a task: `co_await one.async_join()`
    // suspends the task until the fiber has ended. The deadline is a time of the steady clock. The
    // checks of the arguments come with the call, before the await.
    auto async_join() {
        check_joinable();
        return join_awaiter<void>(*this);
    }
    template <class R>
    auto async_join() {
        check_result<R>();
        return join_awaiter<R>(*this);
    }
    template <class Rep, class Period>
    auto async_join_for(const std::chrono::duration<Rep, Period>& duration) {
        check_joinable();
        return timed_join_awaiter(*this, detail::deadline_in(duration));
    }
    template <class Duration>
    auto
    async_join_until(const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) {
        check_joinable();
        return timed_join_awaiter(*this, sched::deadline_of(when));
    }

    // Lets the fiber run on without this object. An exception that leaves its function then ends
    // the program, with the fiber's name in the message. Throws std::system_error(invalid_argument)
    // when the object is not joinable. The object keeps the fiber's stop state; when there is no
    // memory for it, detach throws std::bad_alloc and the fiber stays joinable. A temporary object
    // keeps no stop state. The fiber's runtime must live until the fiber has ended.
    void detach() &;
    void detach() &&;

    // Returns the fiber's priority, 0 if it was given none; or sets another priority. A new
    // priority takes effect immediately, also for a fiber that is already in the ready queue.
    // set_priority throws std::bad_cast, as change_properties does, when the fiber has no
    // properties: it was given none, and its runtime has no scheduling order.
    int priority() const noexcept { return block_ ? detail::priority_of(*block_) : 0; }
    void set_priority(int priority) { detail::set_priority(block_, priority); }
    // Calls `change(P&)` under the lock of the runtime's scheduling order. `change` may modify
    // every field that the order compares. Throws std::bad_cast when the fiber's properties are not
    // of class P, which includes a fiber without properties: it was given none, and its runtime has
    // no order. Rethrows the exceptions of `change`. The fiber must be joinable.
    template <class P, class F>
        requires std::derived_from<P, fiber_properties> && std::invocable<F&, P&>
    void change_properties(F&& change) {
        detail::change_properties<P>(block_, change);
    }
    // Explains a call that the overload above refuses.
    template <class P, class F>
    base::refused_call change_properties(F&&) {
        return detail::refuse_change_of_properties<P, F>();
    }

    // Access the stop state as in std::jthread, also after the fiber was joined or detached. An
    // object that has never held a fiber has no stop state. When the function takes no stop token,
    // the first of these calls may throw std::bad_alloc. Stop callbacks run in the caller of
    // `request_stop` and must not block there, because std::stop_callback knows threads, not
    // fibers.
    std::stop_source get_stop_source();
    std::stop_token get_stop_token() { return get_stop_source().get_token(); }
    bool request_stop() {
        return block_ ? block_->request_stop()
                      : past_ != past::stopped && get_stop_source().request_stop();
    }

private:
    enum class past : std::uint8_t {
        none, // this object has not joined or detached a fiber
        // This object joined or detached a fiber. The fiber's stop state is in `stop_`, if it was
        // ever requested.
        ended,
        // This object joined or detached a fiber that was asked to stop before its stop state was
        // requested.
        stopped,
    };
    // Takes the block of a fiber that has ended, and frees it on destruction. The object keeps the
    // stop state of the fiber.
    struct ending {
        explicit ending(fiber& joined) noexcept : block(std::exchange(joined.block_, nullptr)) {
            joined.past_ = block->stop_wanted() ? past::stopped : past::ended;
            if (block->has_stop_state()) [[unlikely]]
                joined.stop_ = block->stop_source();
        }
        ~ending() { block->dispose(); }
        ending(const ending&) = delete;
        sched::fiber_block* const block;
    };

    // The fiber has ended: take its result, or rethrow its exception, and free it.
    void take_end();
    template <class R>
    R take_result() {
        const ending ended(*this);
        return static_cast<detail::fiber_with_result<R>*>(ended.block)->result.take();
    }

    using awaited_end = sched::fiber_block::awaited_end;
    template <class R>
    class join_awaiter : public sched::list_awaiter<awaited_end> {
    public:
        explicit join_awaiter(fiber& joined) noexcept
            : list_awaiter(awaited_end{joined.block_}), joined_(joined) {}
        R await_resume() {
            list_awaiter::await_resume();
            if constexpr (std::is_void_v<R>)
                joined_.take_end();
            else
                return joined_.take_result<R>();
        }

    private:
        fiber& joined_;
    };
    class timed_join_awaiter : public sched::timed_list_awaiter<awaited_end> {
    public:
        timed_join_awaiter(fiber& joined, std::int64_t deadline_ns) noexcept
            : timed_list_awaiter(awaited_end{joined.block_}, deadline_ns), joined_(joined) {}
        bool await_resume() {
            if (!timed_list_awaiter::await_resume()) return false;
            joined_.take_end();
            return true;
        }

    private:
        fiber& joined_;
    };

    void launch(sennit::launch policy) noexcept { block_->launch(detail::start_of(policy)); }
    void check_joinable() const {
        if (!block_ || block_ == sched::fiber_block::current()) [[unlikely]]
            refuse_join();
    }
    template <class R>
    void check_result() const {
        check_joinable();
        if (typeid(detail::outcome<R>) != block_->result_type()) throw std::bad_cast();
    }
    [[noreturn, gnu::cold]] void refuse_join() const;
    void check_detachable() const;
    bool join_before(std::int64_t deadline_ns);
    void stop_and_join() noexcept {
        if (block_) stop_and_join_it();
    }
    void stop_and_join_it() noexcept;

    sched::fiber_block* block_ = nullptr;
    std::stop_source stop_{std::nostopstate};
    past past_ = past::none;
};

} // namespace sennit

template <>
struct std::hash<sennit::fiber::id> {
    std::size_t operator()(sennit::fiber::id which) const noexcept {
        return std::hash<std::uint64_t>()(which.value_);
    }
};
