// SPDX-License-Identifier: Apache-2.0
// Files, and copies from files and streams to streams.
#include "support.hpp"

#include <sennit/task.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

class files : public with_workers {
protected:
    files()
        : folder(fs::temp_directory_path() / ("sennit-files-" + std::to_string(::getpid()) + "-" +
                                              std::to_string(GetParam()))) {
        fs::create_directory(folder);
    }
    ~files() override { fs::remove_all(folder); }
    std::string at(const char* name) const { return folder / name; }

    const fs::path folder;
};
SENNIT_IO_FOR_WORKERS(files);

constexpr io::open_options to_write{.write = true, .create = true, .truncate = true};

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
    return text;
}
io::bytes bytes_in(std::string& text) {
    return std::as_writable_bytes(std::span(text));
}
// Drops the cached pages of a file.
void drop_cache(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    ::fsync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
}

TEST_P(files, bytes_that_were_written_are_read) {
    runtime.run([&] {
        const std::string text = pattern(300'000);
        io::write_file(at("a"), text);
        EXPECT_EQ(io::read_file(at("a")), text);
        io::file one(at("a"));
        EXPECT_EQ(one.size(), text.size());
        std::string some(1000, '\0');
        EXPECT_EQ(one.read_at(bytes_in(some), 12345), 1000u);
        EXPECT_EQ(some, text.substr(12345, 1000));
        EXPECT_EQ(one.read_at(bytes_in(some), text.size() - 10), 10u);
        EXPECT_EQ(some.substr(0, 10), text.substr(text.size() - 10));
        EXPECT_EQ(one.read_at(bytes_in(some), text.size()), 0u);
        EXPECT_EQ(one.read_at({}, 0), 0u);
    });
}

TEST_P(files, bytes_that_are_not_cached_are_read) {
    runtime.run([&] {
        const std::string text = pattern(1'000'000);
        io::write_file(at("a"), text);
        for (int i = 0; i < 3; ++i) {
            drop_cache(at("a"));
            EXPECT_EQ(io::read_file(at("a")), text);
        }
    });
}

TEST_P(files, writes_at_offsets_leave_holes_and_truncate_cuts) {
    runtime.run([&] {
        io::file one(at("a"), to_write);
        one.write_at("end", 5);
        one.write_at("b", 0);
        one.sync();
        one.sync(true);
        EXPECT_EQ(one.read_all(), std::string("b\0\0\0\0end", 8));
        one.truncate(2);
        EXPECT_EQ(one.read_all(), std::string("b\0", 2));
        io::write_file(at("a"), "x");
        EXPECT_EQ(io::read_file(at("a")), "x");
    });
}

TEST_P(files, appends_of_many_fibers_are_whole) {
    runtime.run([&] {
        io::file log(at("log"), {.read = false, .write = true, .create = true, .append = true});
        {
            sennit::nursery all;
            for (int i = 0; i < 20; ++i)
                all.start([&] {
                    for (int k = 0; k < 50; ++k) log.append("0123456789abcdef\n");
                });
            all.join();
        }
        const std::string text = io::read_file(at("log"));
        EXPECT_EQ(text.size(), 20u * 50 * 17);
        for (std::size_t i = 0; i < text.size(); i += 17)
            ASSERT_EQ(text.substr(i, 17), "0123456789abcdef\n");
    });
}

TEST_P(files, errors_name_the_path) {
    runtime.run([&] {
        try {
            (void)io::read_file(at("none"));
            FAIL();
        } catch (const io::error& refused) {
            EXPECT_EQ(refused.code(), std::errc::no_such_file_or_directory);
            EXPECT_NE(std::string(refused.what()).find(at("none")), std::string::npos);
        }
        io::write_file(at("a"), "text");
        EXPECT_THROW(io::file(at("a"), {.write = true, .create = true, .exclusive = true}),
                     io::error);
        io::file reader(at("a"));
        std::error_code failed;
        EXPECT_EQ(reader.write_at(io::bytes_of("x"), 0, failed), 0u);
        EXPECT_EQ(failed, std::errc::bad_file_descriptor);
        EXPECT_THROW(reader.append("x"), io::error);
        EXPECT_THROW(reader.truncate(0), io::error);
        io::file folder_itself(folder);
        std::string some(10, '\0');
        (void)folder_itself.read_at(bytes_in(some), 0, failed);
        EXPECT_EQ(failed, std::errc::is_a_directory);
        io::file closed;
        EXPECT_THROW((void)closed.read_all(), io::error);
        closed.close();
    });
}

TEST_P(files, moved_file_keeps_its_descriptor) {
    runtime.run([&] {
        io::write_file(at("a"), "a");
        io::write_file(at("b"), "b");
        io::file one(at("a")), other(at("b"));
        one = std::move(other);
        EXPECT_EQ(one.read_all(), "b");
        EXPECT_EQ(one.path(), at("b"));
        const io::file third(std::move(one));
        EXPECT_EQ(third.read_all(), "b");
    });
}

// The size of such a file is 0, and its system answers no question about the cache.
TEST_P(files, file_of_the_kernel_is_read_whole) {
    runtime.run(
        [] { EXPECT_NE(io::read_file("/proc/self/status").find("Threads:"), std::string::npos); });
}

TEST_P(files, file_goes_to_a_socket) {
    runtime.run([&] {
        const std::string text = pattern(3'000'000);
        io::write_file(at("a"), text);
        for (const bool cached : {true, false}) {
            if (!cached) drop_cache(at("a"));
            auto [mine, theirs] = tcp_pair();
            std::string got;
            sennit::nursery all;
            all.start([&, &from = theirs] { got = read_rest(from); });
            const io::file one(at("a"));
            EXPECT_EQ(io::copy(one, mine), text.size());
            mine.shutdown_write();
            all.join();
            EXPECT_EQ(got, text);
        }
    });
}

TEST_P(files, part_of_a_file_goes_to_sockets_and_pipes) {
    runtime.run([&] {
        const std::string text = pattern(5000);
        io::write_file(at("a"), text);
        const io::file one(at("a"));
        auto [mine, theirs] = io::socket_pair();
        EXPECT_EQ(io::copy(one, mine, 100, 50), 50u);
        EXPECT_EQ(io::copy(one, mine, 4990), 10u);
        EXPECT_EQ(io::copy(one, mine, 5000), 0u);
        EXPECT_EQ(read_text(theirs, 60), text.substr(100, 50) + text.substr(4990));
        auto [from, to] = io::make_pipe();
        EXPECT_EQ(io::copy(one, to), 5000u);
        EXPECT_EQ(read_text(from, 5000), text);
        // A file that sendfile refuses, on some kernels.
        const io::file status("/proc/self/status");
        EXPECT_EQ(io::copy(status, mine, 0, 5), 5u);
        EXPECT_EQ(read_text(theirs, 5), "Name:");
    });
}

TEST_P(files, copy_to_a_closed_peer_is_an_error_and_no_signal) {
    runtime.run([&] {
        io::write_file(at("a"), pattern(100'000));
        const io::file one(at("a"));
        auto [mine, theirs] = io::socket_pair();
        theirs.close();
        EXPECT_THROW(io::copy(one, mine), io::error);
    });
}

TEST_P(files, copy_is_a_proxy) {
    runtime.run([] {
        auto [client, front] = tcp_pair();
        auto [back, server] = tcp_pair();
        const std::string text = pattern(500'000);
        sennit::nursery all;
        all.start([&, &from = front, &to = back] {
            EXPECT_EQ(io::copy(from, to), text.size());
            to.shutdown_write();
        });
        all.start([&, &to = client] {
            to.write(text);
            to.shutdown_write();
        });
        EXPECT_EQ(read_rest(server), text);
        all.join();
        server.write("0123456789");
        EXPECT_EQ(io::copy(back, front, 4), 4u);
        EXPECT_EQ(read_text(client, 4), "0123");
    });
}

TEST_P(files, calls_work_in_a_task_and_a_thread) {
    const std::string path = at("a");
    runtime.run([&] {
        sennit::block_on([](const std::string& to) -> sennit::task<void> {
            io::write_file(to, "from a task");
            EXPECT_EQ(io::read_file(to), "from a task");
            co_return;
        }(path));
    });
    EXPECT_EQ(io::read_file(path), "from a task");
}

} // namespace
