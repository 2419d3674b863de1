// SPDX-License-Identifier: Apache-2.0
// lease_pool: objects that tasks borrow, such as buffers, connections and random generators, of
// which each belongs to one borrower until it is given back.
//
//     sennit::lease_pool<buffer> buffers([] { return buffer(1 << 20); });
//     sennit::par::for_each(files, [&](const file& f) {
//         auto lease = buffers.borrow();     // ours until the end of the block
//         compress(f, *lease);
//     });
//
// Use it for scratch memory and other state that is expensive to make, instead of thread_local
// objects. A reference that follows the thread is wrong here: a fiber that suspends may continue on
// another worker, while the first worker runs another fiber that gets the same object. A lease is
// exclusive across suspension and migration. To limit the number of objects use a
// `counting_semaphore` beside it; for a value of one fiber use `fiber_local`; to count use
// `counter`.
//
// Guarantees. `borrow` never waits for another borrower: it makes an object when none is free. A
// worker usually borrows the object that it gave back last, whose memory is in the cache. At most
// as many objects exist as leases were out at the same time, apart from races between a `borrow`
// and a return on different workers. Objects live until the pool ends. `for_each` and `combine`
// need that no lease is out, which is checked.
// Thread safety: `borrow` and the return of a lease may be called concurrently by fibers and
// threads. A lease may be moved to, and returned by, another fiber or thread. Blocking: a spin lock
// for a moment, when the worker's own slot is empty at a borrow, or full at a return. Cost: two
// exchanges, about 10 ns together.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

struct lease_node {
    lease_node* next = nullptr; // in the list of free objects; guarded by the pool's lock
};

// The type-independent part of a pool: a slot for each worker, and a list of the other free
// objects. Explored by tests/sim/scenarios/lease_pool.cpp.
class lease_slots {
public:
    lease_slots(); // throws std::bad_alloc
    ~lease_slots();
    lease_slots(const lease_slots&) = delete;

    // Takes a free object. Null: there is none, and the caller makes one and calls `add`.
    lease_node* take() noexcept;
    // Counts a new object, which the caller has borrowed.
    void add() noexcept;
    // Gives an object back.
    void put(lease_node& object) noexcept;
    // Returns the list of all objects, which then belong to the caller; ends the program if one is
    // borrowed. `put_all` gives the list back.
    lease_node* take_all(const char* message) noexcept;
    void put_all(lease_node* list) noexcept;

private:
    struct alignas(base::destructive_distance) slot {
        base::atomic<lease_node*> object{nullptr};
    };
    lease_node* take_elsewhere() noexcept;

    const unsigned mask_;
    const std::unique_ptr<slot[]> slots_;
    base::spin_lock lock_; // guards the two members below
    lease_node* free_ = nullptr;
    std::size_t objects_ = 0;
};

} // namespace detail

template <class T>
class lease_pool {
    static_assert(std::is_object_v<T>, "sennit: a lease_pool holds objects");
    struct node : detail::lease_node {
        template <class F>
        explicit node(F& make) : value(std::invoke(make)) {}
        T value;
    };

public:
    using value_type = T;

    // The right to use an object of the pool. Gives the object back when it ends. Movable; a
    // moved-from lease holds no object.
    class lease {
    public:
        lease() noexcept = default;
        lease(lease&& other) noexcept
            : pool_(other.pool_), node_(std::exchange(other.node_, nullptr)) {}
        lease& operator=(lease&& other) noexcept {
            std::swap(pool_, other.pool_);
            std::swap(node_, other.node_);
            return *this;
        }
        ~lease() {
            if (node_) pool_->slots_.put(*node_);
        }
        T& operator*() const noexcept { return node_->value; }
        T* operator->() const noexcept { return std::addressof(node_->value); }
        explicit operator bool() const noexcept { return node_ != nullptr; }

    private:
        friend lease_pool;
        lease(lease_pool& pool, node& mine) noexcept : pool_(&pool), node_(&mine) {}
        lease_pool* pool_ = nullptr;
        node* node_ = nullptr;
    };

    // Creates a pool without objects. `make()` makes each object, in the borrower; it may be called
    // concurrently. Throws std::bad_alloc.
    lease_pool()
        requires std::default_initializable<T>
        : make_([] { return T(); }) {}
    template <class F>
        requires std::is_invocable_r_v<T, F&>
    explicit lease_pool(F make) : make_(std::move(make)) {}
    template <class F>
    explicit lease_pool(F) {
        static_assert(base::refused<F>,
                      "sennit: lease_pool takes a function that returns an object of the pool and "
                      "takes no arguments; it may be called concurrently");
    }
    // Destroys the objects. Ends the program with a message if a lease is out.
    ~lease_pool() {
        detail::lease_node* all = slots_.take_all(
            "[SNT-087] a lease_pool was destroyed while an object of it is borrowed; end all "
            "leases first");
        while (all) delete static_cast<node*>(std::exchange(all, all->next));
    }
    lease_pool(const lease_pool&) = delete;
    lease_pool& operator=(const lease_pool&) = delete;

    // Returns a lease of a free object, or of a new one. Throws std::bad_alloc and the exceptions
    // of `make`, which leave the pool unchanged.
    [[nodiscard]] lease borrow() {
        if (detail::lease_node* free = slots_.take()) [[likely]]
            return lease(*this, *static_cast<node*>(free));
        auto* fresh = new node(make_);
        slots_.add();
        return lease(*this, *fresh);
    }

    // Calls `function(T&)` for each object, in no particular order. Ends the program with a message
    // if a lease is out. Another thread must not use the pool meanwhile. Rethrows the exceptions of
    // the function.
    template <class F>
        requires std::invocable<F&, T&>
    void for_each(F&& function) {
        struct all_objects {
            explicit all_objects(detail::lease_slots& of)
                : slots(of),
                  first(of.take_all("[SNT-088] lease_pool::for_each or combine was called while an "
                                    "object is borrowed; end all leases first")) {}
            ~all_objects() { slots.put_all(first); }
            detail::lease_slots& slots;
            detail::lease_node* const first;
        } all(slots_);
        for (detail::lease_node* one = all.first; one; one = one->next)
            std::invoke(function, static_cast<node*>(one)->value);
    }
    // Returns the combination of all objects by `operation(T, const T&)`, in no particular order; a
    // new object if there are none. T is copied once. Like `for_each` otherwise.
    template <class F>
        requires std::copy_constructible<T> && std::is_invocable_r_v<T, F&, T, const T&>
    T combine(F&& operation) {
        const T* first = nullptr;
        std::size_t count = 0;
        for_each([&](T& one) {
            if (count++ == 0) first = std::addressof(one);
        });
        if (!first) return std::invoke(make_);
        T sum(*first);
        for_each([&](const T& one) {
            if (std::addressof(one) != first) sum = std::invoke(operation, std::move(sum), one);
        });
        return sum;
    }

private:
    detail::lease_slots slots_;
    std::function<T()> make_;
};

} // namespace sennit
