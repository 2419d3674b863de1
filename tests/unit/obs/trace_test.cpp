// SPDX-License-Identifier: Apache-2.0
// Tests traces. Each test traces in its own process, because tracing begins with the first runtime
// of a process.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace {

// Runs `body` in a process that traces, and returns the contents of the trace file.
template <class Body>
std::string trace_of(Body body) {
    const std::string path = (std::filesystem::temp_directory_path() /
                              ("sennit-trace-" + std::to_string(::getpid()) + ".json"))
                                 .string();
    // The child of a threadsafe death test is another process with another id. The environment
    // therefore passes the file's name.
    const char* inherited = std::getenv("SENNIT_TRACE_TEST");
    ::setenv("SENNIT_TRACE_TEST", inherited ? inherited : path.c_str(), 1);
    const auto traced = [&] {
        ::setenv("SENNIT_TRACE", std::getenv("SENNIT_TRACE_TEST"), 1);
        body();
        std::_Exit(0);
    };
    EXPECT_EXIT(traced(), testing::ExitedWithCode(0), "");
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    std::filesystem::remove(path);
    ::unsetenv("SENNIT_TRACE_TEST");
    return text.str();
}

class trace_death_test : public testing::Test {
protected:
    void SetUp() override {
#ifdef SENNIT_NO_TRACE_HOOKS
        GTEST_SKIP() << "this library cannot trace";
#endif
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }
};

#ifdef SENNIT_NO_TRACE_HOOKS
TEST(trace, library_without_hooks_refuses_to_trace) {
    ::setenv("SENNIT_TRACE", "trace.json", 1);
    try {
        sennit::runtime refused({.workers = 1});
        ADD_FAILURE() << "the runtime was created";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(
            error.what(),
            "sennit: [SNT-023] SENNIT_TRACE is set, but this library was built with "
            "SENNIT_TRACE_HOOKS=OFF; unset it, or build the library with SENNIT_TRACE_HOOKS=ON");
    }
    ::unsetenv("SENNIT_TRACE");
}
#endif

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

// A worker parks while the other one computes, so it has scanned that worker's queue before.
TEST_F(trace_death_test, sleep_shows_counts_of_idle_worker) {
    const std::string text = trace_of([] {
        sennit::runtime runtime({.workers = 2, .max_spare_workers = 0});
        runtime.run([&] {
            while (runtime.metrics().parks == 0) {
            }
        });
    });
    const std::regex sleep(R"("name":"asleep","args":\{"steal requests":\d+,"scans":[1-9]\d*,)"
                           R"("barriers":\d+\}\})");
    EXPECT_TRUE(std::regex_search(text, sleep)) << text;
}

TEST_F(trace_death_test, trace_shows_fibers_waits_and_wake_ups) {
    const std::string text = trace_of([] {
        sennit::runtime runtime({.workers = 1});
        runtime.run([] {
            sennit::event go;
            std::atomic<bool> begun = false;
            sennit::fiber waiter({.name = "wai\"ter"}, [&] {
                begun = true;
                go.wait();
            });
            // With one worker, the waiter has blocked by then.
            while (!begun) sennit::this_fiber::yield();
            go.set();
            waiter.join();
        });
    });
    EXPECT_EQ(text.rfind("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", 0), 0u) << text;
    EXPECT_EQ(text.substr(text.size() - 4), "\n]}\n");
    EXPECT_EQ(count(text, "\"name\":\"worker 0\""), 1u) << text;
    // One slice before the wait, one after it.
    EXPECT_EQ(count(text, "\"name\":\"wai\\\"ter "), 2u) << text;
    EXPECT_EQ(count(text, "\"name\":\"waits for event\""), 1u) << text;
    EXPECT_GE(count(text, "\"name\":\"wakes "), 1u) << text;
}

TEST_F(trace_death_test, trace_shows_names_of_tasks_and_places_of_fibers_and_tasks) {
    const std::string text = trace_of([] {
        sennit::runtime runtime({.workers = 1});
        runtime.run([] {
            sennit::event go;
            const auto waits = [&go]() -> sennit::task<> { co_await go.async_wait(); };
            sennit::future<void> named = sennit::spawn({.name = "session"}, waits);
            sennit::future<void> unnamed = sennit::spawn(waits);
            sennit::fiber opener({.name = "opener"}, [&go] { go.set(); });
            opener.join();
            named.get();
            unnamed.get();
        });
    });
    // A slice each before and after the wait, which the join of the fiber does not run first.
    EXPECT_GE(count(text, "\"name\":\"session "), 1u) << text;
    EXPECT_GE(count(text, "\"name\":\"task "), 1u) << text;
    const std::regex place("\"name\":\"(session|task|opener) [0-9]+\",\"args\":\\{\"made at\":"
                           "\"[^\"]*\\+0x[0-9a-f]+\\)?\"\\}\\}");
    std::map<std::string, int> found;
    for (std::sregex_iterator at(text.begin(), text.end(), place), end; at != end; ++at)
        ++found[(*at)[1].str()];
    EXPECT_EQ(found.size(), 3u) << text;
}

class trace_of_policy_death_test : public trace_death_test,
                                   public testing::WithParamInterface<sennit::scheduling> {};
INSTANTIATE_TEST_SUITE_P(all, trace_of_policy_death_test,
                         testing::Values(sennit::scheduling::stealing, sennit::scheduling::sharing,
                                         sennit::scheduling::round_robin));

// While tracing is on, the scheduler does not take its fast paths, because they emit no events. The
// fibers must still run in the order of the fast paths.
TEST_P(trace_of_policy_death_test, trace_shows_every_run_of_alternating_fibers) {
    const std::string text = trace_of([] {
        sennit::runtime runtime({.workers = 1, .policy = GetParam()});
        runtime.run([] {
            sennit::event go;
            int begun = 0;
            const auto turns = [&] {
                ++begun;
                go.wait();
                for (int i = 0; i < 5; ++i) sennit::this_fiber::yield();
            };
            sennit::fiber left({.name = "left"}, turns), right({.name = "right"}, turns);
            while (begun < 2) sennit::this_fiber::yield();
            go.set();
            left.join();
            right.join();
        });
    });
    std::string order;
    const std::regex slice("\"name\":\"(l|r)(eft|ight) ");
    for (std::sregex_iterator at(text.begin(), text.end(), slice), end; at != end; ++at)
        order += (*at)[1];
    EXPECT_TRUE(order.ends_with("lrlrlrlrlrlr") || order.ends_with("rlrlrlrlrlrl")) << order << '\n'
                                                                                    << text;
    EXPECT_EQ(order.size(), 14u) << order
                                 << ": each fiber runs once before the wait, six times after it\n"
                                 << text;
    EXPECT_GE(count(text, "\"name\":\"wakes "), 2u) << text;
}

TEST_F(trace_death_test, every_slice_ends_and_time_never_goes_back) {
    const std::string text = trace_of([] {
        sennit::runtime runtime({.workers = 3});
        runtime.run([] {
            sennit::channel<int> numbers(2);
            sennit::fiber consumer([&] {
                for (int i : numbers)
                    (void)sennit::fork_join([i] { return i; }, [i] { return -i; });
            });
            for (int i = 0; i < 1000; ++i) numbers.push(i);
            numbers.close();
        });
    });
    std::map<std::string, int> open;
    std::map<std::string, double> latest;
    const std::regex line("\"ph\":\"([BEi])\".*\"tid\":([0-9]+),\"ts\":([0-9.]+)");
    std::istringstream lines(text);
    for (std::string one; std::getline(lines, one);) {
        std::smatch part;
        if (!std::regex_search(one, part, line)) continue;
        const std::string tid = part[2];
        open[tid] += part[1] == "B" ? 1 : part[1] == "E" ? -1 : 0;
        EXPECT_TRUE(open[tid] == 0 || open[tid] == 1) << one;
        EXPECT_GE(std::stod(part[3]), latest[tid]) << one;
        latest[tid] = std::stod(part[3]);
    }
    EXPECT_GE(open.size(), 1u);
    for (const auto& [tid, left] : open) EXPECT_EQ(left, 0) << "track " << tid;
}

// The blocking call waits in a channel, as its fiber, but on a thread that is not a worker. For the
// fiber, the trace must show only the blocking call.
TEST_F(trace_death_test, trace_shows_only_blocking_call_of_its_caller) {
    const std::string text = trace_of([] {
        sennit::runtime runtime({.workers = 2});
        runtime.run([] {
            sennit::nursery all;
            for (int i = 0; i < 200; ++i)
                all.start([] {
                    sennit::blocking([] {
                        sennit::channel<int> nobody;
                        int ignored = 0;
                        (void)nobody.pop_for(ignored, std::chrono::microseconds(1));
                    });
                });
            all.join();
        });
    });
    EXPECT_GE(count(text, "\"name\":\"waits for blocking\""), 1u);
    EXPECT_EQ(count(text, "waits for channel"), 0u)
        << "a thread that is not a worker emitted a wait";
}

TEST_F(trace_death_test, full_trace_keeps_last_events_and_reports_loss) {
    const std::string text = trace_of([] {
        sennit::runtime runtime({.workers = 1});
        runtime.run([] {
            for (int i = 0; i < 100'000; ++i) sennit::fiber([] {}).join();
            sennit::fiber({.name = "last"}, [] {}).join();
        });
    });
    EXPECT_EQ(count(text, "older events were dropped"), 1u);
    EXPECT_EQ(count(text, "\"name\":\"last "), 1u);
}

TEST_F(trace_death_test, trace_is_json_in_any_locale_and_with_any_names) {
    const std::string text = trace_of([] {
        for (const char* comma :
             {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"}) // Any of these locales.
            if (std::setlocale(LC_ALL, comma)) break;
        sennit::runtime runtime({.workers = 1});
        runtime.run([] {
            for (const char* name : {"caf\xe9", "\xc3\xa9t\xc3\xa9", "\xe2\x82",
                                     "\xc0\x80\xed\xa0\x80", "\xf0\x9f\xa7\xb6!"})
                sennit::fiber({.name = name}, [] {}).join();
        });
    });
    EXPECT_FALSE(std::regex_search(text, std::regex("\"ts\":[0-9.]*,[0-9]"))) << text;
    EXPECT_EQ(count(text, "\"name\":\"caf? "), 1u) << text;
    EXPECT_EQ(count(text, "\"name\":\"\xc3\xa9t\xc3\xa9 "), 1u) << text;
    EXPECT_EQ(count(text, "\"name\":\"????? "), 1u) << text;
    EXPECT_EQ(count(text, "\"name\":\"\xf0\x9f\xa7\xb6! "), 1u) << text;
}

TEST_F(trace_death_test, unwritable_trace_file_is_refused_at_start) {
    const auto start = [] {
        ::setenv("SENNIT_TRACE", "/no/such/folder/trace.json", 1);
        try {
            sennit::runtime runtime({.workers = 1});
        } catch (const std::system_error& error) {
            std::_Exit(error.code() == std::errc::no_such_file_or_directory ? 0 : 1);
        }
        std::_Exit(2);
    };
    EXPECT_EXIT(start(), testing::ExitedWithCode(0), "");
}

TEST_F(trace_death_test, nodes_of_task_graphs_appear_by_name) {
    const std::string text = trace_of([] {
        sennit::runtime one({.workers = 1});
        one.run([] {
            sennit::par::task_graph g;
            auto load = g.add([] {}).name("load");
            g.add([] {}, load);
            g.run();
        });
    });
    const auto load = text.find("\"name\":\"load\"");
    ASSERT_NE(load, text.npos) << text;
    EXPECT_NE(text.find("\"name\":\"node 1\"", load), text.npos) << text;
}

} // namespace
