// SPDX-License-Identifier: Apache-2.0
// Compares a read of 4 KiB of a file that is in memory with pread.
//
//     bench_file_read [rounds]
//
// Each round times both forms right after each other, in alternating order. The program prints the
// medians of the times, and of the differences of the rounds.
#include <sennit/io.hpp>
#include <sennit/runtime.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t size = 4096, blocks = 256;
constexpr int reads = 20'000;

template <class Read>
double ns_per_read(Read read) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < reads; ++i) read(static_cast<std::uint64_t>(i * 7) % blocks * size);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
               .count() /
           reads;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 51;
    const std::string path =
        std::filesystem::temp_directory_path() / ("sennit-bench-" + std::to_string(::getpid()));
    sennit::runtime one({.workers = 1});
    one.run([&] {
        sennit::io::write_file(path, std::string(size * blocks, 'x'));
        const sennit::io::file from(path);
        std::array<std::byte, size> buffer;
        const auto plain = [&](std::uint64_t at) {
            if (::pread(from.native_handle(), buffer.data(), size, static_cast<off_t>(at)) !=
                static_cast<ssize_t>(size))
                std::abort();
        };
        const auto ours = [&](std::uint64_t at) {
            if (from.read_at(buffer, at) != size) std::abort();
        };
        std::vector<double> plain_ns, ours_ns, more_ns;
        for (int i = 0; i < rounds; ++i) {
            double a = 0, b = 0;
            if (i % 2 == 0) a = ns_per_read(plain);
            b = ns_per_read(ours);
            if (i % 2 != 0) a = ns_per_read(plain);
            plain_ns.push_back(a);
            ours_ns.push_back(b);
            more_ns.push_back(b - a);
        }
        std::printf("pread %.0f ns, io::file::read_at %.0f ns, difference %.0f ns\n",
                    median(plain_ns), median(ours_ns), median(more_ns));
    });
    std::filesystem::remove(path);
}
