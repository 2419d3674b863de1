// SPDX-License-Identifier: Apache-2.0
// sort_room: uninitialised memory for the elements of an algorithm that does not work in place.
#pragma once

#include <cstddef>
#include <new>

namespace sennit::par::detail {

// Uninitialised room for elements; null if the memory is refused.
template <class T>
class sort_room {
public:
    explicit sort_room(std::size_t n) noexcept
        : memory_(n > static_cast<std::size_t>(-1) / sizeof(T)
                      ? nullptr
                      : ::operator new(n * sizeof(T), std::align_val_t(alignof(T)), std::nothrow)) {
    }
    ~sort_room() { ::operator delete(memory_, std::align_val_t(alignof(T))); }
    sort_room(const sort_room&) = delete;

    T* get() const noexcept { return static_cast<T*>(memory_); }

private:
    void* memory_;
};

} // namespace sennit::par::detail
