// SPDX-License-Identifier: Apache-2.0
// The data of a workload: an array that begins on a page, so that its place in memory is the same
// in all programs. Its elements can be written through a constant array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace lab {

template <class T>
class pages {
public:
    explicit pages(std::size_t size)
        : data_(static_cast<T*>(::operator new(size * sizeof(T), page))), size_(size) {
        std::fill_n(data_.get(), size, T{});
    }
    T* data() const { return data_.get(); }
    T* end() const { return data_.get() + size_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) const { return data_.get()[i]; }

private:
    static constexpr std::align_val_t page{4096};
    struct release {
        void operator()(T* data) const { ::operator delete(data, page); }
    };
    std::unique_ptr<T, release> data_;
    std::size_t size_;
};

} // namespace lab
