// SPDX-License-Identifier: Apache-2.0
// Definitions that the tests of sennit::execution share: runtimes with 1 and 3 workers, a receiver
// that records its completion, a sender that a test completes.
#pragma once

#include "../support/with_workers.hpp"

#include <sennit/execution.hpp>
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ex = sennit::execution::ex;
namespace ex_std = sennit::execution::ex_std;
using sennit::execution::as_sender;
using sennit::execution::runtime_scheduler;
using sennit::execution::sync_wait;

#define SENNIT_FOR_WORKERS(suite)                                                                  \
    INSTANTIATE_TEST_SUITE_P(workers, suite, testing::Values(1u, 3u), [](const auto& test) {       \
        return std::string(1, 'w').append(std::to_string(test.param));                             \
    })

enum class completion { none, value, error, stopped };

// The completion that a recorder has seen. `done` is set last.
template <class... V>
struct record {
    sennit::event done;
    completion ended = completion::none;
    std::optional<std::tuple<V...>> values;
    std::exception_ptr error;
    sennit::sched::runtime_core* completed_on = nullptr;

    void complete(completion how) noexcept {
        EXPECT_EQ(ended, completion::none) << "the operation completed twice";
        ended = how;
        completed_on = sennit::sched::current_runtime();
        done.set();
    }
};

template <class Token>
struct token_env {
    Token token;
    Token query(ex_std::get_stop_token_t) const noexcept { return token; }
};

template <class Token, class... V>
struct recorder {
    using receiver_concept = ex::receiver_t;
    record<V...>* to;
    Token token;

    template <class... A>
    void set_value(A&&... values) noexcept {
        to->values.emplace(std::forward<A>(values)...);
        to->complete(completion::value);
    }
    void set_error(std::exception_ptr error) noexcept {
        to->error = std::move(error);
        to->complete(completion::error);
    }
    void set_stopped() noexcept { to->complete(completion::stopped); }
    token_env<Token> get_env() const noexcept { return {token}; }
};

template <class... V>
recorder<ex_std::never_stop_token, V...> record_in(record<V...>& to) {
    return {&to, {}};
}
template <class... V>
recorder<ex_std::inplace_stop_token, V...> record_in(record<V...>& to,
                                                     const ex_std::inplace_stop_source& stop) {
    return {&to, stop.get_token()};
}

// A receiver whose completion first calls `frees`, which frees the operation and the receiver, and
// then locks and yields: the strand of the completion does not depend on the operation.
struct freeing_receiver {
    using receiver_concept = ex::receiver_t;
    std::function<void()>* frees;
    sennit::mutex* lock;
    sennit::latch* ended;

    void finish() const noexcept {
        sennit::latch* const told = ended;
        sennit::mutex* const last = lock;
        (*frees)();
        {
            std::scoped_lock held(*last);
            sennit::this_fiber::yield();
        }
        told->count_down();
    }
    template <class... V>
    void set_value(V&&...) noexcept {
        finish();
    }
    void set_error(const std::exception_ptr&) noexcept { finish(); }
    void set_stopped() noexcept { finish(); }
    static token_env<ex_std::never_stop_token> get_env() noexcept { return {}; }
};

// Starts `count` operations in the heap, each of which frees itself.
template <class MakeSender>
void start_freeing(int count, MakeSender make_sender) {
    using operation = ex::connect_result_t<decltype(make_sender()), freeing_receiver>;
    struct kept {
        kept(MakeSender& make, freeing_receiver to) : of(ex::connect(make(), std::move(to))) {}
        operation of;
    };
    sennit::mutex lock;
    sennit::latch ended(count);
    std::vector<std::unique_ptr<kept>> all(static_cast<std::size_t>(count));
    std::vector<std::function<void()>> frees;
    for (auto& each : all) frees.emplace_back([&each] { each.reset(); });
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = std::make_unique<kept>(make_sender, freeing_receiver{&frees[i], &lock, &ended});
    for (auto& each : all) ex::start(each->of);
    ended.wait();
    for (auto& each : all) EXPECT_EQ(each, nullptr);
}

// The message of an exception; empty: no exception.
inline std::string message_of(const std::exception_ptr& error) {
    if (!error) return {};
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
        return thrown.what();
    } catch (...) {
        return "another type";
    }
}

// A sender of an int that the test completes by `complete`, once `started` is set. A stop request
// sets `stop_requested`; with `ends_when_stopped` it completes the operation, too.
struct gate {
    explicit gate(bool ends = false) : ends_when_stopped(ends) {}
    const bool ends_when_stopped;
    sennit::event started;
    sennit::event stop_requested;
    std::function<void(completion)> complete;
    std::optional<runtime_scheduler> scheduler; // That of the receiver's environment.

    template <class R>
    class operation {
    public:
        using operation_state_concept = ex::operation_state_t;
        operation(gate& of, R&& to) : of_(of), to_(std::move(to)) {}
        operation(const operation&) = delete;
        void start() & noexcept {
            const auto env = ex::get_env(to_);
            of_.scheduler.emplace(ex::get_scheduler(env));
            of_.complete = [this](completion how) { complete(how); };
            callback_.emplace(ex_std::get_stop_token(env), on_stop{this});
            of_.started.set();
        }

    private:
        struct on_stop {
            operation* me;
            void operator()() const noexcept {
                gate& of = me->of_;
                if (of.ends_when_stopped) me->complete(completion::stopped);
                of.stop_requested.set();
            }
        };
        void complete(completion how) noexcept {
            if (how == completion::value)
                ex::set_value(std::move(to_), 42);
            else if (how == completion::error)
                ex::set_error(std::move(to_), std::make_exception_ptr(std::runtime_error("no")));
            else
                ex::set_stopped(std::move(to_));
        }
        gate& of_;
        R to_;
        std::optional<ex_std::stop_callback_for_t<ex_std::inplace_stop_token, on_stop>> callback_;
    };
    struct sender {
        using sender_concept = ex::sender_t;
        gate* of;
        template <class, class...>
        static consteval auto get_completion_signatures() {
            return ex::completion_signatures<
                ex::set_value_t(int), ex::set_error_t(std::exception_ptr), ex::set_stopped_t()>();
        }
        template <ex::receiver R>
        operation<R> connect(R to) const {
            return {*of, std::move(to)};
        }
    };
    sender get() { return {this}; }
};
