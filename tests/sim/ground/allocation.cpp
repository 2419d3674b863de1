// SPDX-License-Identifier: Apache-2.0
// operator new for the explorer's program: counts the allocations of simulated threads.
#include "ground.hpp"

#include "explorer/world.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::size_t live = 0;
bool refused = false; // true: simulated threads get no memory

struct alignas(16) header {
    void* block;
    bool counted;
};

void* allocate(std::size_t size, std::size_t alignment) {
    if (alignment < alignof(header)) alignment = alignof(header);
    const bool counted = !sennit::sim::explorers_own::active && sennit::sim::world::running();
    if (counted && refused) throw std::bad_alloc();
    void* block = std::malloc(size + alignment + sizeof(header));
    if (!block) throw std::bad_alloc();
    const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof(header);
    const std::uintptr_t result = (first + alignment - 1) / alignment * alignment;
    live += counted;
    *(reinterpret_cast<header*>(result) - 1) = {block, counted};
    return reinterpret_cast<void*>(result);
}

void release(void* memory) noexcept {
    if (!memory) return;
    const header found = *(static_cast<header*>(memory) - 1);
    live -= found.counted;
    std::free(found.block);
}

} // namespace

namespace sennit::sim {
std::size_t live_allocations() noexcept {
    return live;
}
void refuse_memory(bool from_now_on) noexcept {
    refused = from_now_on;
}
} // namespace sennit::sim

void* operator new(std::size_t size) {
    return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    release(memory);
}
