// SPDX-License-Identifier: Apache-2.0
#include "io/runtime/io_record_table.hpp"

#include "sennit/detail/sys/atfork.hpp"

#include <memory>
#include <mutex>
#include <new>

namespace sennit::sched {

namespace {
constinit base::spin_lock table_lock; // Guards the list of free records and the list of chunks.
const base::atfork_lock hold_table(table_lock);
constinit io_record* first_free = nullptr;
} // namespace

constinit base::atomic<io_record*> io_record_table::directory[max_chunks]{};
constinit base::atomic<std::uint32_t> io_record_table::used{0};

io_record& io_record_table::take() {
    for (;;) {
        {
            std::lock_guard guard(table_lock);
            if (io_record* one = first_free) {
                first_free = one->next_free_;
                return *one;
            }
        }
        void* const memory =
            ::operator new(sizeof(io_record) * chunk_size, std::align_val_t{alignof(io_record)});
        std::lock_guard guard(table_lock);
        const std::uint32_t number = used.load_rlx(); // Written under the lock.
        if (number == max_chunks) {
            ::operator delete(memory, std::align_val_t{alignof(io_record)});
            throw std::bad_alloc();
        }
        auto* const first = static_cast<io_record*>(memory);
        for (std::uint32_t k = chunk_size; k-- > 0;) {
            // SAFETY: each element is made once, and never ends.
            io_record* one = ::new (first + k) io_record();
            one->index_ = (number << chunk_bits) + k;
            one->next_free_ = first_free;
            first_free = one;
        }
        directory[number].store(first);
        used.store(number + 1);
    }
}

void io_record_table::give(io_record& unused) noexcept {
    std::lock_guard guard(table_lock);
    unused.next_free_ = first_free;
    first_free = &unused;
}

} // namespace sennit::sched
