// SPDX-License-Identifier: Apache-2.0
// stop_scope: a scope of cancellation that the stop token of a receiver cancels.
//
// `begin` registers a stop callback, and `end` removes it. The callback runs on the thread that
// requests the stop. It wakes the wait of the scope's strand and never resumes a strand itself. So
// `end` waits only for that short call. A receiver whose token can never stop has no scope, and
// waits in it cost nothing.
#pragma once

#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/execution/detail/implementation.hpp"

#include <optional>

namespace sennit::execution {
inline namespace SENNIT_EXECUTION_FLAVOUR {
namespace detail {

template <class Token>
class stop_scope {
public:
    void begin(Token token) {
        if (token.stop_possible()) callback_.emplace(std::move(token), cancels{scope_});
    }
    // Once. No callback runs afterwards.
    void end() noexcept { callback_.reset(); }
    sched::cancel_scope* scope() noexcept { return &scope_; }
    bool stopped() const noexcept { return scope_.cancel_called(); }

private:
    struct cancels {
        sched::cancel_scope& scope;
        void operator()() const noexcept { scope.cancel(); }
    };
    sched::cancel_scope scope_{nullptr};
    std::optional<ex_std::stop_callback_for_t<Token, cancels>> callback_;
};

template <ex_std::unstoppable_token Token>
class stop_scope<Token> {
public:
    static void begin(const Token&) noexcept {}
    static void end() noexcept {}
    static sched::cancel_scope* scope() noexcept { return nullptr; }
    static constexpr bool stopped() noexcept { return false; }
};

} // namespace detail
} // namespace SENNIT_EXECUTION_FLAVOUR
} // namespace sennit::execution
