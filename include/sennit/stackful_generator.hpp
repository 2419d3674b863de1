// SPDX-License-Identifier: Apache-2.0
// stackful_generator: an input range of the values that a function yields, from any depth of its
// calls.
//
//     // walk calls itself
//     sennit::stackful_generator<int> in_order([&](auto& yield) { walk(tree, yield); });
//     for (int key : in_order) …
//
// Use it where the values come out of a recursion. Where they come out of one function, `generator`
// is cheaper. It is built on `coroutine`, and has its guarantees and costs. `begin` starts the
// function; the range can be traversed once.
#pragma once

#include "sennit/coroutine.hpp"
#include "sennit/detail/base/check.hpp"

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

namespace sennit {

// The object that the function calls with each value. The call returns when the consumer wants the
// next value.
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
    yielder(suspender<void, void>& inside, std::remove_reference_t<T>*& place) noexcept
        : inside_(inside), place_(&place) {}
    suspender<void, void>& inside_;
    std::remove_reference_t<T>** place_;
};

template <class T>
class stackful_generator : public std::ranges::view_interface<stackful_generator<T>> {
public:
    // Creates a generator whose values `function(yield)` yields, on a coroutine with default
    // attributes, or with those of `how`. The function does not run before `begin`. Throws
    // std::bad_alloc.
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, stackful_generator>)
    explicit stackful_generator(F&& function)
        : frame_(std::make_unique<frame>(std::forward<F>(function))) {}
    template <class F>
    stackful_generator(const coroutine_attributes& how, F&& function)
        : frame_(std::make_unique<frame>(std::forward<F>(function), how)) {}

private:
    // Iterators refer to the frame, and so stay valid when the generator is moved.
    struct frame {
        template <class F, class... How>
        explicit frame(F&& function, const How&... how)
            : body(how..., [function = std::forward<F>(function),
                            this](suspender<void, void>& self) mutable {
                  static_assert(std::is_invocable_v<std::decay_t<F>&, yielder<T>&>,
                                "sennit: a stackful_generator's function is called with a "
                                "sennit::yielder<T>&; give it one parameter of that type");
                  yielder<T> yield(self, place);
                  function(yield);
              }) {}
        // The address of the present value, in the function's frame.
        std::remove_reference_t<T>* place = nullptr;
        coroutine<> body;
        bool begun = false;
    };

public:
    class iterator {
    public:
        using value_type = std::remove_cvref_t<T>;
        using difference_type = std::ptrdiff_t;
        std::remove_reference_t<T>& operator*() const noexcept { return *whose_->place; }
        iterator& operator++() {
            whose_->body.resume();
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const noexcept { return whose_->body.done(); }

    private:
        friend class stackful_generator;
        explicit iterator(frame& whose) noexcept : whose_(&whose) {}
        frame* whose_;
    };

    // Runs the function up to its first value. May be called once: a second call ends the program.
    // Throws the exceptions of the function.
    iterator begin() {
        SENNIT_CHECK(frame_ && !frame_->begun,
                     "[SNT-314] begin() was called twice on a generator, or after it was moved "
                     "from; make a new generator for each pass");
        frame_->begun = true;
        frame_->body.resume();
        return iterator(*frame_);
    }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    std::unique_ptr<frame> frame_;
};

} // namespace sennit
