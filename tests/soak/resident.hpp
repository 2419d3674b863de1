// SPDX-License-Identifier: Apache-2.0
// The memory and the threads of this process.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#ifdef SENNIT_SLOW_TESTS
constexpr bool memory_is_shadowed = true; // a sanitizer keeps freed memory
#else
constexpr bool memory_is_shadowed = false;
#endif

inline long resident_kib() {
    long pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return pages * (::sysconf(_SC_PAGESIZE) / 1024);
}

inline long thread_count() {
    long threads = 0;
    if (std::FILE* file = std::fopen("/proc/self/stat", "re")) {
        // The name, the second field, has no space in these tests.
        if (std::fscanf(file,
                        "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                        "%*d %ld",
                        &threads) != 1)
            threads = 0;
        std::fclose(file);
    }
    return threads;
}

// The memory that the program has allocated and not freed, without what the allocator keeps.
inline std::size_t allocated_kib() {
    const struct mallinfo2 now = ::mallinfo2();
    return (now.uordblks + now.hblkhd) / 1024;
}
