// SPDX-License-Identifier: Apache-2.0
#include "sennit/io/file.hpp"

#include "io/access.hpp"
#include "io/runtime/io_file.hpp"
#include "sennit/blocking.hpp"

#include <algorithm>

namespace sennit::io {

namespace {

std::error_code code_of(std::int64_t negative) noexcept {
    return detail::code_of(static_cast<int>(negative));
}

// Transfers up to `size` bytes: with `cached` while that suffices, then with `on_disk` on a thread
// that may block. Both return 0 at the end of the file.
template <class Cached, class OnDisk>
std::size_t transfer(std::size_t size, std::error_code& failed, Cached cached, OnDisk on_disk) {
    std::size_t done = 0;
    const auto take = [&](std::ptrdiff_t n) noexcept { // Returns true if the call must continue.
        if (n > 0) done += static_cast<std::size_t>(n);
        if (n < 0 && !sys::interrupted(n)) failed = code_of(n);
        return n != 0 && !failed && done < size;
    };
    failed.clear();
    if (size == 0) return 0;
    for (;;) {
        const std::ptrdiff_t n = cached(done);
        if (sys::would_need_disk(n)) break;
        if (!take(n)) return done;
    }
    blocking([&] {
        while (take(on_disk(done))) {
        }
    });
    return done;
}

} // namespace

file::file(std::string path, const open_options& how)
    : appends_(how.append), path_(std::move(path)) {
    const sys::open_request request{how.read,     how.write,  how.create,     how.exclusive,
                                    how.truncate, how.append, how.permissions};
    descriptor_ = blocking([&] { return sys::open_file(path_.c_str(), request); });
    if (descriptor_ < 0) check(code_of(descriptor_), "open");
}

file& file::operator=(file&& from) noexcept {
    if (this != &from) {
        close();
        descriptor_ = std::exchange(from.descriptor_, -1);
        appends_ = from.appends_;
        path_ = std::move(from.path_);
    }
    return *this;
}

void file::close() noexcept {
    if (is_open()) sys::close_descriptor(std::exchange(descriptor_, -1));
}

void file::check(const std::error_code& failed, const char* operation) const {
    if (failed) throw error(failed, operation, path_.empty() ? "a closed file" : path_);
}

std::size_t file::read_at(bytes into, std::uint64_t offset, std::error_code& failed) const {
    const auto rest = [&](std::size_t done) { return into.subspan(done); };
    return transfer(
        into.size(), failed,
        [&](std::size_t done) {
            return sys::read_cached(descriptor_, rest(done).data(), rest(done).size(),
                                    offset + done);
        },
        [&](std::size_t done) {
            return sys::read_file(descriptor_, rest(done).data(), rest(done).size(), offset + done);
        });
}
std::size_t file::read_at(bytes into, std::uint64_t offset) const {
    std::error_code failed;
    const std::size_t n = read_at(into, offset, failed);
    check(failed, "read_at");
    return n;
}

std::size_t file::write_at(const_bytes from, std::uint64_t offset, std::error_code& failed) {
    const auto rest = [&](std::size_t done) { return from.subspan(done); };
    return transfer(
        from.size(), failed,
        [&](std::size_t done) {
            return sys::write_cached(descriptor_, rest(done).data(), rest(done).size(),
                                     offset + done);
        },
        [&](std::size_t done) {
            return sys::write_file(descriptor_, rest(done).data(), rest(done).size(),
                                   offset + done);
        });
}
void file::write_at(const_bytes from, std::uint64_t offset) {
    std::error_code failed;
    (void)write_at(from, offset, failed);
    check(failed, "write_at");
}

void file::append(const_bytes from) {
    if (!appends_) check(std::make_error_code(std::errc::invalid_argument), "append");
    std::error_code failed;
    (void)write_at(from, 0, failed);
    check(failed, "append");
}

std::string file::read_all() const {
    std::string all;
    // The file may grow meanwhile, or belong to /proc, where the size is 0.
    for (std::size_t wanted = static_cast<std::size_t>(size()) + 1;;
         wanted = 2 * all.size() + 4096) {
        const std::size_t had = all.size();
        all.resize(wanted);
        const std::size_t n = read_at(std::as_writable_bytes(std::span(all)).subspan(had), had);
        all.resize(had + n);
        if (all.size() < wanted) return all;
    }
}

std::uint64_t file::size() const {
    const std::int64_t size = sys::size_of_file(descriptor_);
    if (size < 0) check(code_of(size), "size");
    return static_cast<std::uint64_t>(size);
}
void file::truncate(std::uint64_t size) {
    const int result = blocking([&] { return sys::truncate_file(descriptor_, size); });
    if (result < 0) check(code_of(result), "truncate");
}
void file::sync(bool metadata) {
    const int result = blocking([&] { return sys::sync_file(descriptor_, metadata); });
    if (result < 0) check(code_of(result), "sync");
}

std::string read_file(const std::string& path) {
    return file(path).read_all();
}
void write_file(const std::string& path, const_bytes contents) {
    file(path, {.read = false, .write = true, .create = true, .truncate = true})
        .write_at(contents, 0);
}

} // namespace sennit::io
