// SPDX-License-Identifier: Apache-2.0
// The workloads of files with sennit::io::file, in fibers.
#include "../sennit/with_runtime.hpp"
#include "files/main.hpp"
#include "main.hpp"

#include <sennit/io/file.hpp>
#include <sennit/nursery.hpp>

namespace {

struct with_fiber_files : with_runtime {
    using with_runtime::with_runtime;
    // excerpt files
    template <class F>
    static void each(std::int64_t count, F f) {
        sennit::nursery all;
        for (std::int64_t i = 0; i < count; ++i) all.start([&f, i] { f(i); });
        all.join();
    }
    struct file {
        sennit::io::file from;
        explicit file(const std::string& path) : from(path) {}
        std::size_t read(std::span<std::byte> into, std::uint64_t offset) const {
            return from.read_at(into, offset);
        }
    };
    // excerpt end
};

} // namespace

std::optional<int> lab::run_files(const std::string& name, const std::string& size,
                                  unsigned threads) {
    return files<with_fiber_files>::run(name, size, threads);
}
