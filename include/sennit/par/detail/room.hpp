// SPDX-License-Identifier: Apache-2.0
// sort_room: uninitialised memory for the elements of an algorithm that does not work in place.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace sennit::par::detail {

// Null if the memory is refused.
template <class T>
class sort_room {
public:
    sort_room() noexcept = default;
    explicit sort_room(std::size_t n) noexcept
        : memory_(n > static_cast<std::size_t>(-1) / sizeof(T)
                      ? nullptr
                      : ::operator new(n * sizeof(T), std::align_val_t(alignof(T)), std::nothrow)) {
    }
    sort_room(sort_room&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
    sort_room& operator=(sort_room&& other) noexcept {
        std::swap(memory_, other.memory_);
        return *this;
    }
    ~sort_room() { ::operator delete(memory_, std::align_val_t(alignof(T))); }

    T* get() const noexcept { return static_cast<T*>(memory_); }

private:
    void* memory_ = nullptr;
};

} // namespace sennit::par::detail
