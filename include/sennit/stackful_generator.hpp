// SPDX-License-Identifier: Apache-2.0
// stackful_generator: an input range of what a function yields, from any depth of its calls.
//
//     sennit::stackful_generator<int> in_order([&](auto& yield) { walk(tree, yield); });   // walk calls itself
//     for (int key : in_order) …
//
// Use it where the values come out of a recursion; where they come out of one function, `generator` is cheaper. Built
// on `coroutine`, whose guarantees and costs it has. Made of a function, begun by `begin`, gone through once.
#pragma once

#include "sennit/coroutine.hpp"

#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

namespace sennit {

// What the function calls with each value; returns when the next one is wanted.
template <class T>
class yielder {
public:
    void operator()(T value) {
        *place_ = std::addressof(value);
        inside_.suspend();
    }

private:
    template <class>
    friend class stackful_generator;
    yielder(suspender<void, void>& inside, T*& place) noexcept : inside_(inside), place_(&place) {}
    suspender<void, void>& inside_;
    T** place_;
};

template <class T>
class stackful_generator : public std::ranges::view_interface<stackful_generator<T>> {
public:
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, stackful_generator>)
    explicit stackful_generator(F&& function)
        : place_(std::make_unique<T*>()),
          body_([function = std::forward<F>(function), place = place_.get()](suspender<void, void>& self) mutable {
              yielder<T> yield(self, *place);
              function(yield);
          }) {}
    template <class F>
    stackful_generator(const coroutine_attributes& how, F&& function)
        : place_(std::make_unique<T*>()),
          body_(how, [function = std::forward<F>(function), place = place_.get()](suspender<void, void>& self) mutable {
              yielder<T> yield(self, *place);
              function(yield);
          }) {}

    class iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        T& operator*() const noexcept { return **whose_->place_; }
        iterator& operator++() {
            whose_->body_.resume();
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const noexcept { return whose_->body_.done(); }

    private:
        friend class stackful_generator;
        explicit iterator(stackful_generator& whose) noexcept : whose_(&whose) {}
        stackful_generator* whose_;
    };

    // Runs up to the first value. Once.
    iterator begin() {
        body_.resume();
        return iterator(*this);
    }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    std::unique_ptr<T*> place_; // of the present value, in the function's frame
    coroutine<> body_;
};

} // namespace sennit
