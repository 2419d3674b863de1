// SPDX-License-Identifier: Apache-2.0
// generator: an input range of the values that a function passes to `co_yield`; std::generator of
// C++23, for C++20.
//
//     sennit::generator<int> counting(int n) { for (int i = 0; i < n; ++i) co_yield i; }
//
// Use it where the values come out of one function: it has no stack, and a step costs one indirect
// call. For values out of a recursion, `co_yield elements_of(…)` keeps that cost at any depth. A
// `stackful_generator` allows plain inner functions instead. `co_await` does not compile in a
// generator.
//
// Names and meaning are those of std::generator. With `Ref` alone, values of `Ref` without its
// reference are yielded as `Ref&&`. An exception of the function comes out of `begin` and `++`.
// `begin` may be called once. Frames come from the worker's small memory; there is no allocator
// parameter. Between two steps, another fiber or thread may continue with the generator. After
// Baker and Brindle, std::generator, P2502R2.
#pragma once

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/base/no_store_merge.hpp"
#include "sennit/detail/core/slab_cache.hpp"

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

namespace sennit {

template <class Ref, class V = void>
class generator;

// Tells co_yield to yield the elements of a range instead of the range itself.
template <class Range>
struct elements_of {
    Range range;
};
template <class Range>
elements_of(Range&&) -> elements_of<Range&&>;

namespace detail {

// The promise type: it holds only pointers to the yielded values, because its coroutine is always a
// generator.
template <class Yielded>
class generator_promise {
public:
    using handle = std::coroutine_handle<generator_promise>;
    using pointer = std::add_pointer_t<Yielded>;

    static void* operator new(std::size_t bytes) { return sched::take_memory(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
        sched::give_memory(memory, bytes);
    }

    handle get_return_object() noexcept { return handle::from_promise(*this); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void await_transform() = delete;
    void unhandled_exception() {
        if (!outer_) throw; // the exception leaves the step, to the caller of the step
        error_ = std::current_exception();
    }

    // Suspends a generator that has ended, and continues the generator that yields its elements.
    struct hand_back {
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(handle ended) const noexcept {
            generator_promise& me = ended.promise();
            if (!me.outer_) return std::noop_coroutine();
            me.root_->newest_ = me.outer_;
            return handle::from_promise(*me.outer_);
        }
        void await_resume() const noexcept {}
    };
    hand_back final_suspend() const noexcept { return {}; }

    std::suspend_always yield_value(Yielded value) noexcept {
        root_->value_ = std::addressof(value);
        return {};
    }
    // An lvalue yielded where rvalues are expected: a copy of it, which lives until the next step.
    struct copied {
        std::remove_cvref_t<Yielded> value;
        bool await_ready() const noexcept { return false; }
        void await_suspend(handle self) noexcept {
            self.promise().root_->value_ = std::addressof(value);
        }
        void await_resume() const noexcept {}
    };
    auto yield_value(const std::remove_reference_t<Yielded>& value)
        requires std::is_rvalue_reference_v<Yielded> &&
                 std::constructible_from<std::remove_cvref_t<Yielded>,
                                         const std::remove_reference_t<Yielded>&>
    {
        base::prevent_store_merging(value); // the copy lies beside a loop's variable
        return copied{value};
    }

    // The elements of another generator: that generator becomes the newest, and steps resume it
    // directly.
    template <class Inner>
    struct nested {
        Inner inner;
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(handle self) noexcept {
            SENNIT_CHECK(inner.handle_ && !inner.begun_,
                         "[SNT-313] elements_of was given a generator that was begun or moved "
                         "from; pass a fresh one");
            inner.begun_ = true;
            generator_promise& me = self.promise();
            generator_promise& its = inner.handle_.promise();
            its.outer_ = &me;
            its.root_ = me.root_;
            me.root_->newest_ = &its;
            return inner.handle_;
        }
        void await_resume() {
            if (std::exception_ptr error = std::move(inner.handle_.promise().error_))
                std::rethrow_exception(error);
        }
    };
    template <class R, class V>
        requires std::same_as<typename generator<R, V>::yielded, Yielded>
    auto yield_value(elements_of<generator<R, V>&&> of) noexcept {
        return nested<generator<R, V>>{std::move(of.range)};
    }
    template <class R, class V>
        requires std::same_as<typename generator<R, V>::yielded, Yielded>
    auto yield_value(elements_of<generator<R, V>&> of) noexcept {
        return nested<generator<R, V>>{std::move(of.range)};
    }
    template <std::ranges::input_range Range>
        requires(std::convertible_to<std::ranges::range_reference_t<Range>, Yielded> ||
                 (std::is_rvalue_reference_v<Yielded> && // lvalues are copied, as in yield_value
                  std::convertible_to<std::ranges::range_reference_t<Range>,
                                      std::remove_reference_t<Yielded>>))
    auto yield_value(elements_of<Range> of) {
        using all = generator<Yielded, std::ranges::range_value_t<Range>>;
        auto each = [](std::ranges::iterator_t<Range> at,
                       std::ranges::sentinel_t<Range> end) -> all {
            for (; at != end; ++at) co_yield *at;
        };
        return nested<all>{each(std::ranges::begin(of.range), std::ranges::end(of.range))};
    }

    void step() { handle::from_promise(*newest_).resume(); }
    pointer value() const noexcept { return value_; }

private:
    generator_promise* root_ = this;     // the generator that is iterated
    generator_promise* newest_ = this;   // of a root: the generator to step
    generator_promise* outer_ = nullptr; // null: this is a root
    pointer value_ = nullptr;            // of a root: the present value
    std::exception_ptr error_;           // of an inner generator: its exception
};

} // namespace detail

template <class Ref, class V>
class [[nodiscard]] generator : public std::ranges::view_interface<generator<Ref, V>> {
    using value = std::conditional_t<std::is_void_v<V>, std::remove_cvref_t<Ref>, V>;
    using reference = std::conditional_t<std::is_void_v<V>, Ref&&, Ref>;

    static_assert(std::is_object_v<value> && std::same_as<std::remove_cv_t<value>, value>,
                  "sennit: a generator's value is an object without const");
    static_assert(std::is_reference_v<reference> ||
                      (std::is_object_v<reference> &&
                       std::same_as<std::remove_cv_t<reference>, reference> &&
                       std::copy_constructible<reference>),
                  "sennit: a generator gives references, or objects that can be copied");

public:
    using yielded = std::conditional_t<std::is_reference_v<reference>, reference, const reference&>;
    using promise_type = detail::generator_promise<yielded>;
    using handle = typename promise_type::handle;

    generator(handle begun_by_compiler) noexcept
        : handle_(begun_by_compiler) {} // the result of calling the function
    generator(generator&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), begun_(other.begun_) {}
    generator& operator=(generator other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(begun_, other.begun_);
        return *this;
    }
    ~generator() {
        if (handle_) handle_.destroy();
    }

    class iterator {
    public:
        using value_type = value;
        using difference_type = std::ptrdiff_t;
        iterator(iterator&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
        iterator& operator=(iterator&& other) noexcept {
            handle_ = std::exchange(other.handle_, nullptr);
            return *this;
        }
        reference operator*() const noexcept(std::is_nothrow_copy_constructible_v<reference>) {
            return static_cast<reference>(*handle_.promise().value());
        }
        iterator& operator++() {
            handle_.promise().step();
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const noexcept { return handle_.done(); }

    private:
        friend generator;
        explicit iterator(handle of) noexcept : handle_(of) {}
        handle handle_;
    };

    // Runs the function up to its first value. May be called once: a second call ends the program.
    // Throws the exceptions of the function.
    iterator begin() {
        SENNIT_CHECK(handle_ && !begun_,
                     "[SNT-314] begin() was called twice on a generator, or after it was moved "
                     "from; make a new generator for each pass");
        begun_ = true;
        handle_.resume();
        return iterator(handle_);
    }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    template <class>
    friend class detail::generator_promise;
    handle handle_;
    bool begun_ = false;
};

} // namespace sennit

template <class Ref, class V>
inline constexpr bool std::ranges::enable_view<sennit::generator<Ref, V>> = true;
