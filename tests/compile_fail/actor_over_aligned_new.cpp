// SPDX-License-Identifier: Apache-2.0
// expect-error: needs the one with std::align_val_t
// A message is over-aligned, and its class declares only the operator new that cannot align.
#include "sennit/actor.hpp"

#include <cstddef>
#include <new>

struct alignas(64) line {
#ifdef SENNIT_EXPECT_ERROR
    static void* operator new(std::size_t bytes) { return ::operator new(bytes); }
#else
    static void* operator new(std::size_t bytes, std::align_val_t alignment) {
        return ::operator new(bytes, alignment);
    }
#endif
    static void operator delete(void* memory, std::align_val_t alignment) {
        ::operator delete(memory, alignment);
    }
};

void use(sennit::any_ref to) {
    to.tell(line());
}
