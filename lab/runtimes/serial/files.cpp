// SPDX-License-Identifier: Apache-2.0
// The workloads of files with plain calls of pread; the fibers are calls, one after the other.
#include "files/main.hpp"
#include "main.hpp"
#include "plain.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>

namespace {

struct plain_files : serial {
    using serial::serial;
    template <class F>
    static void each(std::int64_t count, F f) {
        for (std::int64_t i = 0; i < count; ++i) f(i);
    }
    // excerpt files
    class file {
    public:
        explicit file(const std::string& path) : at_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
            if (at_ < 0) throw std::system_error(errno, std::generic_category(), path);
        }
        ~file() { ::close(at_); }
        file(const file&) = delete;
        file& operator=(const file&) = delete;
        std::size_t read(std::span<std::byte> into, std::uint64_t offset) const {
            const ssize_t n = ::pread(at_, into.data(), into.size(), static_cast<off_t>(offset));
            return n < 0 ? 0 : static_cast<std::size_t>(n);
        }

    private:
        int at_;
    };
    // excerpt end
};

} // namespace

std::optional<int> lab::run_files(const std::string& name, const std::string& size,
                                  unsigned threads) {
    return files<plain_files>::run(name, size, threads);
}
