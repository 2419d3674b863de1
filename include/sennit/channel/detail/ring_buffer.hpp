// SPDX-License-Identifier: Apache-2.0
// The values of a channel that no receiver has taken yet.
// Tested by tests/unit/channel.
#pragma once

#include "sennit/detail/base/no_store_merge.hpp"
#include "sennit/detail/core/slab_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace sennit::detail {

// A bounded queue in one block of memory, which is allocated once. Not thread-safe.
template <class T>
class ring_buffer {
public:
    ring_buffer() noexcept = default;
    ring_buffer(const ring_buffer&) = delete;
    ~ring_buffer() {
        while (size_ > 0) (void)pop();
        if (slots_) release(slots_, room_);
    }

    // Allocates the memory. The buffer must be empty and have none. Throws std::bad_alloc.
    void reserve(std::size_t room) {
        if (room == 0) return;
        if (room > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
        slots_ = acquire(room);
        room_ = room;
    }
    std::size_t size() const noexcept { return size_; }
    std::size_t room() const noexcept { return room_; }

    void push(T&& value) noexcept {
        std::construct_at(slots_ + wrapped(first_ + size_), std::move(value));
        ++size_;
    }
    T pop() noexcept {
        T* slot = slots_ + first_;
        T value = std::move(*slot);
        std::destroy_at(slot);
        first_ = wrapped(first_ + 1);
        base::prevent_store_merging(first_);
        --size_;
        base::prevent_store_merging(size_);
        return value;
    }
    // Moves all values into `other` and swaps the memory: this buffer continues in the memory of
    // `other`.
    void move_to(ring_buffer& other) noexcept {
        while (size_ > 0) other.push(pop());
        std::swap(slots_, other.slots_);
        std::swap(room_, other.room_);
        std::swap(first_, other.first_);
        std::swap(size_, other.size_);
    }

private:
    static constexpr bool over_aligned = alignof(T) > 16;
    static T* acquire(std::size_t room) {
        if constexpr (over_aligned)
            return static_cast<T*>(::operator new(room * sizeof(T), std::align_val_t{alignof(T)}));
        else
            return static_cast<T*>(sched::take_memory(room * sizeof(T)));
    }
    static void release(T* slots, std::size_t room) noexcept {
        if constexpr (over_aligned)
            ::operator delete(slots, std::align_val_t{alignof(T)});
        else
            sched::give_memory(slots, room * sizeof(T));
    }
    std::size_t wrapped(std::size_t index) const noexcept {
        return index >= room_ ? index - room_ : index;
    }

    T* slots_ = nullptr;
    std::size_t room_ = 0;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

} // namespace sennit::detail
