// SPDX-License-Identifier: Apache-2.0
// The driver of waituntil. It runs one select after the other, over the clauses that may still be
// needed. The guarantees of select (one clause happens, the other clauses have taken nothing, no
// event is lost) therefore hold for each step.
#include "sennit/waituntil.hpp"

#include <stdexcept>

namespace sennit::detail {

namespace {

using clause_bits = std::uint64_t;

class expression {
public:
    expression(std::span<select_case* const> clauses, std::span<const wait_term> terms) noexcept
        : clauses_(clauses), terms_(terms) {
        for (std::size_t i = 0; i + 1 < clauses_.size(); ++i)
            if (clauses_[i]->enabled) present_ |= clause_bits{1} << i;
    }

    bool any_present() const noexcept { return present_ != 0; }

    bool holds(clause_bits happened) const noexcept {
        return value_of(root(), happened) == value::holds;
    }

    // Returns the open clauses that can still decide the expression: all clauses except those below
    // a side that holds.
    clause_bits needed(clause_bits happened) const noexcept {
        return needed_below(root(), happened);
    }

private:
    enum class value : std::uint8_t { left_out, open, holds };
    std::size_t root() const noexcept { return terms_.size() - 1; }

    // Recurses as deep as the expression is nested.
    value value_of(std::size_t at, clause_bits happened) const noexcept {
        const wait_term& term = terms_[at];
        if (term.what == wait_term::kind::clause) {
            if ((present_ >> term.left & 1) == 0) return value::left_out;
            return (happened >> term.left & 1) != 0 ? value::holds : value::open;
        }
        const value left = value_of(term.left, happened), right = value_of(term.right, happened);
        if (left == value::left_out) return right;
        if (right == value::left_out) return left;
        const bool both = left == value::holds && right == value::holds;
        const bool one = left == value::holds || right == value::holds;
        return (term.what == wait_term::kind::all ? both : one) ? value::holds : value::open;
    }
    clause_bits needed_below(std::size_t at, clause_bits happened) const noexcept {
        if (value_of(at, happened) != value::open) return 0;
        const wait_term& term = terms_[at];
        if (term.what == wait_term::kind::clause) return clause_bits{1} << term.left;
        return needed_below(term.left, happened) | needed_below(term.right, happened);
    }

    std::span<select_case* const> clauses_;
    std::span<const wait_term> terms_;
    clause_bits present_ = 0;
};

} // namespace

std::uint64_t run_waituntil(std::span<select_case*> clauses, std::span<const wait_term> terms) {
    const expression whole(clauses, terms);
    const std::size_t count = clauses.size() - 1;
    select_case* const fallback =
        clauses[count] && clauses[count]->enabled ? clauses[count] : nullptr;
    if (!whole.any_present() && !fallback)
        throw std::logic_error("sennit: [SNT-223] waituntil: no clause is enabled, so it would "
                               "wait forever; enable one, or add a time limit");
    clause_bits happened = 0;
    while (!whole.holds(happened)) {
        const clause_bits needed = whole.needed(happened);
        for (std::size_t i = 0; i < count; ++i) clauses[i]->enabled = (needed >> i & 1) != 0;
        const std::size_t which =
            run_select(clauses.first(fallback ? count + 1 : count), "waituntil");
        if (which == count) return happened;
        happened |= clause_bits{1} << which;
    }
    return happened | clause_bits{1} << max_wait_clauses;
}

} // namespace sennit::detail
