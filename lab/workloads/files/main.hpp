// SPDX-License-Identifier: Apache-2.0
// io-files-1, io-files-16: so many fibers read blocks of 4 KiB of one file, whose contents are in
// memory. Size is the number of reads of all fibers. A fiber checks both ends of each block.
//
// A runtime supplies a class with a constructor from the number of threads and these members:
//
//   run(f)                   calls f in the runtime, and returns the result of f
//   each(count, f)           calls f(i) for each i below count in a fiber of its own, and waits
//   file                     a class: file(path), and read(bytes, offset), which returns their
//                            number; several fibers call it at a time
#pragma once

#include "../fibers/count.hpp"
#include "../program.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace lab {

// A file of `blocks` blocks, which begin and end with their number plus one. It is removed with
// this object.
class block_file {
public:
    static constexpr std::size_t words = 512, blocks = 1024;
    using block = std::array<std::uint64_t, words>;

    block_file() {
        std::ofstream to(path_, std::ios::binary);
        for (std::uint64_t i = 0; i < blocks; ++i) {
            block next{};
            next.front() = next.back() = i + 1;
            // SAFETY: bytes of plain words.
            to.write(reinterpret_cast<const char*>(next.data()), sizeof next);
        }
        to.close();
        if (!to) throw std::runtime_error("cannot write " + path_ + ": is the disk full?");
    }
    ~block_file() {
        std::error_code gone;
        std::filesystem::remove(path_, gone);
    }
    block_file(const block_file&) = delete;
    block_file& operator=(const block_file&) = delete;
    const std::string& path() const noexcept { return path_; }

private:
    std::string path_ =
        std::filesystem::temp_directory_path() / ("lab-io-files-" + std::to_string(::getpid()));
};

// excerpt files
template <class R>
struct file_reads : counted {
    std::int64_t fibers;
    block_file contents;
    file_reads(const std::string& size, std::int64_t of_fibers)
        : counted(size), fibers(of_fibers) {}

    std::int64_t run() const {
        typename R::file from(contents.path());
        std::atomic<std::int64_t> right{0};
        R::each(fibers, [&](std::int64_t number) {
            const std::int64_t reads = n / fibers + (number < n % fibers ? 1 : 0);
            block_file::block into;
            std::int64_t found = 0;
            for (std::int64_t i = 0; i < reads; ++i) {
                const std::uint64_t at =
                    static_cast<std::uint64_t>(number * 61 + i * 7) % block_file::blocks;
                const std::size_t size =
                    from.read(std::as_writable_bytes(std::span(into)), at * sizeof into);
                found += size == sizeof into && into.front() == at + 1 && into.back() == at + 1;
            }
            right += found;
        });
        return right;
    }
};
// excerpt end

template <class R>
struct files {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "io-files-1") return measure<R>(file_reads<R>(size, 1), threads);
        if (name == "io-files-16") return measure<R>(file_reads<R>(size, 16), threads);
        return std::nullopt;
    }
};

} // namespace lab
