// SPDX-License-Identifier: Apache-2.0
// Memory for stacks: many stacks of one size, carved out of large mappings, with a guard between
// any two.
//
// The first touch of a page costs 1 to 11 us, so a returned stack keeps its pages and is the next
// to be taken. A slab is one mapping of many stacks. Guards made with MADV_GUARD_INSTALL (Linux
// 6.13) split no mapping, so a million guarded stacks fit under the kernel's limit of 65,530
// mappings. On older kernels, mprotect makes guards for up to half of that limit; further stacks
// lack some guards (`unguarded` counts the missing ones). SENNIT_NO_MADV_GUARD=1 in the environment
// makes a source behave as on an older kernel.
// behave as on an older kernel.
#pragma once

#include "sys/mutex.hpp"

#include <cstddef>
#include <mutex>
#include <vector>

namespace sennit::sys {

inline constexpr std::size_t stack_alignment = 128; // alignment in bytes of a stack's upper end

// Frames occupy [low, high), and the stack's other data [high, end). Guards lie right below and
// right above.
struct stack {
    std::byte* low = nullptr;
    std::byte* high = nullptr;
    std::byte* end = nullptr;
};

enum class guard_kind { madvise, mprotect, none };

inline constexpr std::size_t min_stack_size = std::size_t{16} << 10;
inline constexpr std::size_t max_stack_size = std::size_t{1} << 30;
// Address space in bytes. A frame of up to this size cannot jump over the guard.
inline constexpr std::size_t guard_size = std::size_t{64} << 10;

// Thread-safe, except for construction and destruction.
class stack_source {
public:
    // `usable_size` in bytes, rounded up to pages, and `beside`, also rounded up to pages: bytes
    // above each stack, which may use the rest of the stack's uppermost page as well. Throws
    // std::invalid_argument outside the limits above.
    explicit stack_source(std::size_t usable_size, std::size_t beside = 0);
    ~stack_source(); // all stacks must be back
    stack_source(const stack_source&) = delete;

    // Throws std::bad_alloc if the system refuses memory; the source is then unchanged.
    stack take();
    void give(stack used) noexcept;

    // Returns the pages of all idle stacks to the system. The next use of such a stack pays for
    // first touches again.
    void trim() noexcept;

    guard_kind guards() const noexcept { return guards_; }
    std::size_t usable_size() const noexcept { return usable_; }
    std::size_t live() const noexcept;
    std::size_t cached() const noexcept;
    std::size_t unguarded() const noexcept;

private:
    struct slab {
        std::byte* memory;
        std::size_t stacks;
    };
    void add_slab();
    stack carve(const slab& from, std::size_t index) const noexcept;
    void guard(std::byte* region) noexcept;

    const std::size_t usable_;
    const std::size_t beside_;
    const std::size_t stride_;
    guard_kind guards_;
    mutable mutex mutex_;
    std::vector<slab> slabs_;
    std::size_t made_ = 0;    // stacks in all slabs
    std::vector<stack> idle_; // last in, first out
    std::size_t fresh_ = 0;   // stacks of the last slab that were never taken
    std::size_t live_ = 0;
    std::size_t protected_ = 0; // guards made by mprotect
    std::size_t unguarded_ = 0;
};

// Bytes of the stack that are backed by memory: its high-water mark in pages.
std::size_t touched_bytes(stack of) noexcept;

} // namespace sennit::sys
