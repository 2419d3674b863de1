// SPDX-License-Identifier: Apache-2.0
#include "sys/stack.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/check.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace sennit::sys {

namespace {

constexpr int madv_guard_install = 102; // MADV_GUARD_INSTALL; older headers lack the name
constexpr std::size_t first_slab = 4;   // in stacks: a small runtime maps little
constexpr std::size_t largest_slab = 64;
// The tops of neighbouring stacks are staggered; otherwise all hot frames of many contexts would
// fall into the same sets of the first-level cache. A step is larger than a context and its first
// frame. A context that blocks has at least the remaining 1.5 KB of the page.
constexpr std::size_t stagger_step = 640;
constexpr std::size_t stagger_steps = 4;
static_assert(stagger_step % stack_alignment == 0);

std::size_t page_size() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t whole_pages(std::size_t bytes) noexcept {
    const std::size_t page = page_size();
    return (bytes + page - 1) / page * page;
}

std::size_t checked_size(std::size_t wanted) {
    if (wanted < min_stack_size || wanted > max_stack_size)
        throw std::invalid_argument(
            "sennit: [SNT-018] a stack size must be from 16 KiB to 1 GiB, not " +
            std::to_string(wanted) + " bytes");
    return whole_pages(wanted);
}

guard_kind probe_guards() noexcept {
    const char* refused = std::getenv("SENNIT_NO_MADV_GUARD");
    if (refused && std::strcmp(refused, "1") == 0) return guard_kind::mprotect;
    const std::size_t page = page_size();
    void* scratch =
        ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (scratch == MAP_FAILED) return guard_kind::mprotect;
    const bool known = ::madvise(scratch, page, madv_guard_install) == 0;
    ::munmap(scratch, page);
    return known ? guard_kind::madvise : guard_kind::mprotect;
}

// Guards by mprotect cost two mappings each; all stack sources of the process share this budget.
std::size_t read_protected_limit() noexcept {
    std::size_t mappings = 65'530;
    if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
        if (std::fscanf(file, "%zu", &mappings) != 1) mappings = 65'530;
        std::fclose(file);
    }
    return mappings / 4; // guards: at most half of all mappings
}
// The first caller reads the limit, and several threads may do so concurrently. No thread waits for
// another, because the other thread may be missing in a child of fork().
std::size_t protected_limit() noexcept {
    static constinit base::atomic<std::size_t> limit{0};
    if (limit.load() == 0) limit.store(read_protected_limit());
    return limit.load();
}
base::atomic<std::size_t> all_protected{0};

} // namespace

stack_source::stack_source(std::size_t usable_size, std::size_t beside)
    : usable_(checked_size(usable_size)), beside_(whole_pages(beside)),
      stride_(usable_ + beside_ + guard_size), guards_(probe_guards()) {}

stack_source::~stack_source() {
    SENNIT_CHECK(live_ == 0, "[SNT-901] stacks are still in use while their memory is freed; this "
                             "is a bug in Sennit: please report it");
    for (const slab& one : slabs_) ::munmap(one.memory, one.stacks * stride_ + guard_size);
    all_protected.fetch_sub(protected_);
}

void stack_source::add_slab() {
    std::size_t count =
        slabs_.empty() ? first_slab : std::min(slabs_.back().stacks * 2, largest_slab);
    if (slabs_.size() == slabs_.capacity()) slabs_.reserve(2 * slabs_.size() + 16);
    // so that give() never allocates
    if (idle_.capacity() < made_ + count) idle_.reserve(2 * (made_ + count));
    void* memory = MAP_FAILED;
    for (;; count /= 2) { // if address space is short, one stack may still fit
        if (count == 0) throw std::bad_alloc();
        memory = ::mmap(nullptr, count * stride_ + guard_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory != MAP_FAILED) break;
    }
    // Touching one page must cost one page. A refusal is harmless.
    ::madvise(memory, count * stride_ + guard_size, MADV_NOHUGEPAGE);
    slabs_.push_back({static_cast<std::byte*>(memory), count});
    made_ += count;
    fresh_ = count;
    // the other guards are made when the stack below them is first taken
    guard(static_cast<std::byte*>(memory));
}

stack stack_source::carve(const slab& from, std::size_t index) const noexcept {
    std::byte* low = from.memory + index * stride_ + guard_size;
    return {low, low + usable_ - (1 + index % stagger_steps) * stagger_step,
            low + usable_ + beside_};
}

void stack_source::guard(std::byte* region) noexcept {
    if (guards_ == guard_kind::madvise && ::madvise(region, guard_size, madv_guard_install) == 0)
        return;
    if (all_protected.fetch_add(1) < protected_limit() &&
        ::mprotect(region, guard_size, PROT_NONE) == 0) {
        ++protected_;
        return;
    }
    all_protected.fetch_sub(1);
    ++unguarded_;
}

stack stack_source::take() {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) {
        if (fresh_ == 0) add_slab();
        const slab& last = slabs_.back();
        const stack made = carve(last, last.stacks - fresh_);
        --fresh_;
        guard(made.end);
        ++live_;
        return made;
    }
    const stack found = idle_.back();
    idle_.pop_back();
    ++live_;
    return found;
}

void stack_source::give(stack used) noexcept {
    std::lock_guard lock(mutex_);
    idle_.push_back(used);
    --live_;
}

void stack_source::trim() noexcept {
    std::lock_guard lock(mutex_);
    for (const stack& one : idle_)
        // Keeps guards. A refusal leaves the pages in place.
        ::madvise(one.low, usable_ + beside_, MADV_DONTNEED);
}

std::size_t stack_source::live() const noexcept {
    std::lock_guard lock(mutex_);
    return live_;
}

std::size_t stack_source::cached() const noexcept {
    std::lock_guard lock(mutex_);
    return idle_.size();
}

std::size_t stack_source::unguarded() const noexcept {
    std::lock_guard lock(mutex_);
    return unguarded_;
}

std::size_t touched_bytes(stack of) noexcept {
    const std::size_t page = page_size();
    unsigned char resident[2048]; // pages of 8 MiB
    std::size_t touched = 0;
    for (std::byte* at = of.low; at < of.high; at += sizeof resident * page) {
        const auto bytes = std::min(static_cast<std::size_t>(of.high - at), sizeof resident * page);
        if (::mincore(at, bytes, resident) != 0) continue;
        for (std::size_t i = 0; i < (bytes + page - 1) / page; ++i)
            touched += (resident[i] & 1) * page;
    }
    return touched;
}

} // namespace sennit::sys
