// SPDX-License-Identifier: Apache-2.0
// Searches for a linearization of a history: an order of its calls that a sequential model of the
// object would also show (Wing and Gong, 1993). Each call takes effect at one moment between its
// beginning and its end.
//
// A model has these members:
//
//   `call`: a call with `begin` and `end`, both of one clock.
//   `state`: the state of the object; default-constructed, copyable and ordered.
//   `bool apply(const call&, state&) const`: returns false if the object would not have given this
//     answer; the state is then meaningless.
//   `bool together(const call&, const call&, state&) const`: optional, for two calls that take
//     effect at one moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

template <class Model>
class linearization {
public:
    using call = typename Model::call;

    linearization(Model model, std::vector<call> history)
        : model_(std::move(model)), calls_(std::move(history)) {}
    bool exists() { return search(0, {}); }

private:
    using mask = std::uint32_t; // a set of calls: at most 31
    using state = typename Model::state;

    bool may_be_next(mask done, std::size_t i) const {
        if (done >> i & 1) return false;
        for (std::size_t k = 0; k < calls_.size(); ++k)
            if (!(done >> k & 1) && calls_[k].end < calls_[i].begin) return false;
        return true;
    }
    // Returns true if the remaining calls can be ordered.
    bool search(mask done, const state& now) {
        if (done + 1 == mask{1} << calls_.size()) return true;
        if (!seen_.insert({done, now}).second) return false;
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            if (!may_be_next(done, i)) continue;
            const mask next = done | mask{1} << i;
            state after = now;
            if (model_.apply(calls_[i], after) && search(next, after)) return true;
            if constexpr (requires { model_.together(calls_[i], calls_[i], after); })
                for (std::size_t k = 0; k < calls_.size(); ++k) {
                    if (k == i || !may_be_next(done, k)) continue;
                    after = now;
                    if (model_.together(calls_[i], calls_[k], after) &&
                        search(next | mask{1} << k, after))
                        return true;
                }
        }
        return false;
    }

    Model model_;
    std::vector<call> calls_;
    std::set<std::pair<mask, state>> seen_; // the states from which no order was found
};

template <class Model>
bool linearizable(Model model, std::vector<typename Model::call> history) {
    return linearization<Model>(std::move(model), std::move(history)).exists();
}
