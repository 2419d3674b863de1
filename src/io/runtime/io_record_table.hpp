// SPDX-License-Identifier: Apache-2.0
// The memory of all records of the process. Any thread. Records are made in chunks and never freed.
#pragma once

#include "io/runtime/io_record.hpp"
#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace sennit::sched {

class io_record_table {
public:
    static constexpr std::uint32_t chunk_bits = 8, chunk_size = 1u << chunk_bits;
    static constexpr std::uint32_t max_chunks = 1u << 14; // 4 million descriptors.

    // Throws std::bad_alloc.
    static io_record& take();
    static void give(io_record& unused) noexcept;
    static io_record* at(std::uint32_t index) noexcept {
        const std::uint32_t chunk = index >> chunk_bits;
        if (chunk >= max_chunks) return nullptr;
        io_record* const first = directory[chunk].load();
        return first ? first + (index & (chunk_size - 1)) : nullptr;
    }
    static std::uint32_t chunks() noexcept { return used.load(); }

private:
    static base::atomic<io_record*> directory[max_chunks];
    static base::atomic<std::uint32_t> used; // Written under the lock.
};

template <class F>
void io_record::for_each(F&& with) {
    for (std::uint32_t i = 0, all = io_record_table::chunks() * io_record_table::chunk_size;
         i < all; ++i)
        with(*io_record_table::at(i));
}

} // namespace sennit::sched
