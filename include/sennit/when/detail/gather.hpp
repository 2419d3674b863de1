// SPDX-License-Identifier: Apache-2.0
// gathering: a shared state that becomes ready when enough of several futures are ready. It is the
// common part of when_all, when_any and the waits for values.
//
// Each source has a node. Nodes and futures live in the new state, and each attached node holds a
// reference to that state.
//
// Protocol.
// 1. A source becomes ready. A decisive source tries to be the winner; any other source counts
//    `left_` down.
// 2. The winner, or the source that counts to zero, has decided. This happens once.
// 3. The decision and the end of attaching are two steps. The later of the two completes: it
//    detaches the nodes whose sources are not ready yet, and publishes the result. A source that
//    outlives many gatherings therefore remembers none of them.
// 4. A node whose source acts at that moment only drops its reference.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/future.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sennit::detail {

// The kind of source that decides alone. If none of that kind comes, the last source decides.
enum class decisive : std::uint8_t { none, any, value, error };

class gathering {
public:
    static constexpr std::size_t nobody = SIZE_MAX;

    gathering(future_state& result, decisive which, std::size_t count)
        : result_(result), decisive_(which), count_(count), left_(count), nodes_(new node[count]) {}
    gathering(const gathering&) = delete;

    // Registers the i-th source; called before start.
    void add(std::size_t i, future_state& source) noexcept { nodes_[i].set(*this, source); }

    // Attaches to all sources. The winner's number is stored at `winner` before the result is
    // ready.
    void start(std::size_t* winner) noexcept;

private:
    struct node : continuation {
        node() noexcept : continuation(&gathering::source_ready) {}
        void set(gathering& to, future_state& from) noexcept {
            whole = &to;
            source = &from;
        }
        gathering* whole = nullptr;
        future_state* source = nullptr; // lives until the result is published
    };

    static void source_ready(continuation& self, continuation_queue& due) noexcept;
    bool decides(const node& which) noexcept;
    void step(continuation_queue& due) noexcept;

    future_state& result_;
    const decisive decisive_;
    const std::size_t count_;
    base::atomic<std::size_t> left_;
    base::atomic<std::size_t> winner_{nobody};
    base::atomic<std::uint32_t> steps_{2}; // the decision, and the end of attaching
    std::size_t* stored_winner_ = nullptr;
    const std::unique_ptr<node[]> nodes_;
};

template <class Result>
struct gather_state final : future_value<Result>, gathering {
    gather_state(future_state::destroyer destroy, decisive which, std::size_t count)
        : future_value<Result>(destroy), gathering(*this, which, count) {}
};

// Calls `function(i, state)` for each future of a vector or a tuple.
template <class T, class F>
void for_each_state(const std::vector<T>& futures, F&& function) {
    for (std::size_t i = 0; i < futures.size(); ++i) function(i, future_access::state(futures[i]));
}
template <class... T, class F>
void for_each_state(const std::tuple<T...>& futures, F&& function) {
    std::apply(
        [&](const T&... each) {
            [[maybe_unused]] std::size_t i = 0;
            (function(i++, future_access::state(each)), ...);
        },
        futures);
}

template <class T>
std::size_t size_of(const std::vector<T>& futures) noexcept {
    return futures.size();
}
template <class... T>
constexpr std::size_t size_of(const std::tuple<T...>&) noexcept {
    return sizeof...(T);
}

// Returns a future of the futures themselves, or of a result that consists of the winner's number
// and the futures. Throws future_error (no_state) and std::bad_alloc; no future was moved then.
template <class Result, class Futures>
future<Result> gather(decisive which, Futures&& futures) {
    for_each_state(futures, [](std::size_t, future_state&) {});
    auto whole = make_state<gather_state<Result>>(which, size_of(futures));
    const auto watch = [&whole](const Futures& all, std::size_t* winner) {
        for_each_state(all,
                       [&whole](std::size_t i, future_state& source) { whole->add(i, source); });
        whole->start(winner);
    };
    if constexpr (std::is_same_v<Result, Futures>) {
        whole->construct(std::move(futures));
        watch(whole->value(), nullptr);
    } else {
        whole->construct(gathering::nobody, std::move(futures));
        watch(whole->value().futures, &whole->value().index);
    }
    return future_access::make<Result>(std::move(whole));
}

} // namespace sennit::detail
