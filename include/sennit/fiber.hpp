// SPDX-License-Identifier: Apache-2.0
// fiber: a strand of execution that costs little more than a function call until it blocks; used
// like std::jthread.
//
//     sennit::fiber reader([&](std::stop_token stop) { while (!stop.stop_requested())
//     handle(requests.pop()); }); …
//     // ~fiber requests stop and joins
//
// A fiber runs on a worker of the runtime that its maker runs on, of the default runtime when the
// maker is no worker. It may block in any of the library's calls: its worker then goes on with
// other work; it may go on in another thread. Everything here may be called from fibers, from
// forked children and from any OS thread.
//
// Cost: making and joining one that does not block, about 20 ns. One that blocks takes a stack: see
// runtime_options::stack_size.
#pragma once

#include "sennit/detail/base/result.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sennit/detail/core/here.hpp"
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

// How a new fiber begins.
enum class launch {
    enqueue, // it becomes ready; its maker goes on
    now, // it runs at once and its maker becomes ready; on a thread that is no worker: as enqueue
};

struct fiber_attributes {
    std::string_view name{}; // for reports; cut to 23 characters
    sennit::launch policy = launch::enqueue;
    sennit::runtime* runtime =
        nullptr; // null: the one that the maker runs on, else the default runtime

    // What a runtime with an order of its own goes by (runtime_options::order); others do not ask.
    // `properties` may be of a class of one's own, and are this fiber's alone; without them it has
    // some with this priority.
    int priority = 0;
    std::shared_ptr<fiber_properties> properties = {};

    // Bytes of stack that it needs, at most 1 GiB; for those that need more than
    // runtime_options::stack_size, and 0 for all others. Such a fiber begins on a stack of its own,
    // at the cost of a switch.
    std::size_t stack_size = 0;

    // It shall run on one worker only, for the sake of what belongs to that thread: this one, or
    // with `pinned` alone the one its maker runs on; one in turn, if its maker is none of the
    // runtime's first workers. What it forks may be stolen.
    std::optional<unsigned> worker = {};
    bool pinned = false;

    // It may go on in another runtime for good: this_fiber::migrate_to. Its body has a stack of its
    // own from the beginning on, of `stack_size` bytes if that is given, else 1 MiB of address
    // space; it never runs on its joiner's. It always has properties. Not together with `worker` or
    // `pinned`.
    bool migratable = false;

    bool plain() const noexcept {
        return name.empty() && priority == 0 && !properties && stack_size == 0 && !worker &&
               !pinned && !migratable;
    }
};

namespace detail {

// Null here and below: none were given.
sched::runtime_core& runtime_for(const fiber_attributes* how);
// Throws std::invalid_argument for a worker that is not there, too large a stack, or what does not
// go together; std::bad_alloc.
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
        closure call; // until the body has run
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

// Throws std::bad_alloc, what apply_to throws, and what copying the closure throws.
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

inline void set_priority(sched::fiber_block* block, int priority) {
    auto change = [priority](fiber_properties& own) { own.priority = priority; };
    change_properties<fiber_properties>(block, change);
}

} // namespace detail

class fiber {
public:
    // Identifies an activity: a fiber, the body of a runtime::run, a stolen child, or a thread.
    // Default: none.
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

    // Calls `function(arguments...)` in a new fiber, with copies; with a std::stop_token before the
    // arguments if the function takes one. Throws std::bad_alloc, and what copying throws.
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

    template <class F, class... A>
    fiber(detail::code_address made_at, const fiber_attributes* how, F&& function,
          A&&... arguments) { // for reports
        static_assert(
            std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...> ||
                std::is_invocable_v<std::decay_t<F>, std::stop_token, std::decay_t<A>...>,
            "sennit: a fiber's function must be callable with copies of the arguments, or with a "
            "std::stop_token before them");
        auto* block = detail::make_fiber(how, made_at.value, std::forward<F>(function),
                                         std::forward<A>(arguments)...);
        block_ = block;
        launch(how ? how->policy : sennit::launch::enqueue);
    }

    fiber(fiber&& other) noexcept
        : block_(std::exchange(other.block_, nullptr)), stop_(std::move(other.stop_)),
          past_(std::exchange(other.past_, past::none)) {}
    // As std::jthread: an assigned-to fiber that is joinable is asked to stop and joined first.
    fiber& operator=(fiber&& other) noexcept {
        if (this != &other) {
            stop_and_join();
            block_ = std::exchange(other.block_, nullptr);
            stop_ = std::move(other.stop_);
            past_ = std::exchange(other.past_, past::none);
        }
        return *this;
    }

    // Asks a joinable fiber to stop, and joins it. An exception that left its function then ends
    // the program, with a message: nobody could learn of it any more.
    ~fiber() { stop_and_join(); }

    void swap(fiber& other) noexcept {
        std::swap(block_, other.block_);
        stop_.swap(other.stop_);
        std::swap(past_, other.past_);
    }
    friend void swap(fiber& a, fiber& b) noexcept { a.swap(b); }

    bool joinable() const noexcept { return block_ != nullptr; }
    id get_id() const noexcept { return block_ ? id(block_->id()) : id(); }
    std::string_view name() const noexcept { return block_ ? block_->name() : ""; }

    // Blocks until the function has returned; throws what left it. Not a point of cancellation.
    // Throws std::system_error: invalid_argument when not joinable, resource_deadlock_would_occur
    // from the fiber itself.
    void join();

    // The same, and returns the function's result. Throws std::bad_cast, and leaves the fiber
    // joinable, when it is not of type R.
    template <class R>
    R join() {
        check_joinable();
        if (typeid(detail::outcome<R>) != block_->result_type()) throw std::bad_cast();
        block_->join();
        const ending ended(*this);
        return static_cast<detail::fiber_with_result<R>*>(ended.block)->result.take();
    }

    // False when the fiber has not ended in time; it stays joinable.
    template <class Rep, class Period>
    bool join_for(const std::chrono::duration<Rep, Period>& duration) {
        return join_before(detail::deadline_in(duration));
    }
    template <class Clock, class Duration>
    bool join_until(const std::chrono::time_point<Clock, Duration>& when) {
        return sched::wait_until(when, false,
                                 [this](std::int64_t until) { return join_before(until); });
    }

    // The fiber goes on by itself. An exception that leaves it ends the program, with its name.
    // Throws std::system_error(invalid_argument) when not joinable; std::bad_alloc, and it stays
    // joinable, when there is no memory for the stop state that is left here. A fiber that is a
    // temporary object leaves none. Its runtime must live until it has ended.
    void detach() &;
    void detach() &&;

    // Its priority (0 if it was given none), and another one. Takes effect at once where it is
    // ready and waits its turn. Throws std::bad_cast as change_properties does: where nobody asks
    // for priorities, and none was given.
    int priority() const noexcept { return block_ ? detail::priority_of(*block_) : 0; }
    void set_priority(int priority) { detail::set_priority(block_, priority); }
    // Calls `change(P&)`, which may change what the runtime's order goes by, under that order's
    // lock. Throws std::bad_cast when the fiber's properties are no P: it was given none, and its
    // runtime has no order; and what `change` throws. Not for a fiber that is not joinable.
    template <class P, class F>
        requires std::derived_from<P, fiber_properties> && std::invocable<F&, P&>
    void change_properties(F&& change) {
        detail::change_properties<P>(block_, change);
    }

    // As std::jthread, also once it is joined or detached; without a stop state where there is, and
    // was, no fiber. The first of them may throw std::bad_alloc when the function takes no token.
    // Stop callbacks run in the caller of `request_stop` and must not block there:
    // std::stop_callback knows threads, not fibers.
    std::stop_source get_stop_source();
    std::stop_token get_stop_token() { return get_stop_source().get_token(); }
    bool request_stop() {
        return block_ ? block_->request_stop()
                      : past_ != past::stopped && get_stop_source().request_stop();
    }

private:
    enum class past : std::uint8_t {
        none,    // no fiber was joined or detached here
        ended,   // one was; its stop state is in `stop_`, if anybody has asked for it
        stopped, // the same; it was asked to stop, when nobody had asked for the state
    };
    // Takes the block of one that has ended, and frees it at last. What is known of its stop state
    // stays.
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

    void launch(sennit::launch policy) noexcept {
        block_->launch(policy == sennit::launch::now ? sched::fiber_block::start::now
                                                     : sched::fiber_block::start::enqueue);
    }
    void check_joinable() const {
        if (!block_ || block_ == sched::fiber_block::current()) [[unlikely]]
            refuse_join();
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
