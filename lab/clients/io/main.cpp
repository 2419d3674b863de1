// SPDX-License-Identifier: Apache-2.0
// The client of the family `io`: it starts the server of a runtime, is its load, and measures it.
//
//     lab-client-io SERVER [ARGUMENTS...] WORKLOAD SIZE THREADS
//
// The server is the command without the word `lab-client-io`; workloads/io/server.hpp says what it
// does. The client is one thread over epoll, the same for every runtime. It connects, runs a tenth
// of the requests to warm up (none with LAB_NO_WARMUP, or if connections wait), and all of them
// under the clock. It prints the line of JSON of lab/README.md. `cpu_seconds` and `peak_rss_kib`
// are the server's.
#include "http_load.hpp"
#include "load.hpp"
#include "processors.hpp"
#include "runtime_base.hpp"
#include "server_process.hpp"
#include "tls_load.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace io = lab::io;

struct workload {
    std::size_t connections; // Made before the clock starts.
    // Runs a load of that size, and returns the further figures of the line.
    std::function<std::string(const io::server_process&, io::connections&, std::uint64_t size)> run;
    // Prepares a load that has connections of its own, before the clock starts.
    std::function<void(const io::server_process&)> begin{};
    bool warms_up = true;
    std::size_t more_connections = 0; // That `run` makes, at most.
};

workload echo(std::size_t connections) {
    return {connections,
            [](const io::server_process&, io::connections& over, std::uint64_t requests) {
                io::times all = io::closed_loop{.requests = requests}.run(over);
                return io::percentiles(all, "rtt_us");
            }};
}

// Each request forks 256 leaves of 0.8 us at 3 GHz: 205 us of work.
workload fork(std::size_t connections) {
    return {connections,
            [](const io::server_process&, io::connections& over, std::uint64_t requests) {
                io::times all = io::closed_loop{.requests = requests,
                                                .steps = lab::steps_per_microsecond * 4 / 5,
                                                .reply = &io::reply_of_fork}
                                    .run(over);
                return io::percentiles(all, "rtt_us");
            }};
}

// A tenth of the requests computes for 5 ms at 3 GHz. The rate gives each worker work for 30 % of
// its time.
workload mixed(unsigned threads) {
    constexpr double load = 0.3, heavy_part = 0.1, heavy_seconds = 0.005;
    const io::open_loop all{.requests = 0,
                            .per_second = load * threads / (heavy_part * heavy_seconds),
                            .heavy_part = heavy_part,
                            .heavy_steps = static_cast<std::uint64_t>(heavy_seconds * 1e6 *
                                                                      lab::steps_per_microsecond)};
    return {64, [all](const io::server_process&, io::connections& over, std::uint64_t requests) {
                io::open_loop load_of_run = all;
                load_of_run.requests = requests;
                io::open_loop::result times = load_of_run.run(over);
                char further[96];
                std::snprintf(
                    further, sizeof further, ", \"heavy_us_p50\": %.3f, \"late_us_p99\": %.3f",
                    io::percentile_us(times.heavy, 0.5), io::percentile_us(times.late, 0.99));
                return io::percentiles(times.light, "light_us") + further;
            }};
}

workload storm() {
    return {64, [](const io::server_process&, io::connections& over, std::uint64_t connections) {
                io::times all = io::storm{connections}.run(over);
                return io::percentiles(all, "connection_us");
            }};
}

workload idle(std::size_t connections) {
    return {.connections = 100,
            .run =
                [](const io::server_process& server, io::connections& over, std::uint64_t more) {
                    const io::idle::result found = io::idle{more}.run(over, server);
                    char figures[96];
                    std::snprintf(figures, sizeof figures,
                                  ", \"idle_bytes\": %.1f, \"idle_switches\": %llu", found.bytes,
                                  static_cast<unsigned long long>(found.switches));
                    return std::string(figures);
                },
            .warms_up = false,
            .more_connections = connections};
}

// The connections are made anew for each load.
workload http(std::size_t depth) {
    return {0, [depth](const io::server_process& server, io::connections&, std::uint64_t requests) {
                io::times all =
                    io::http_load{.requests = requests, .connections = 64, .depth = depth}.run(
                        server.port());
                return io::percentiles(all, "rtt_us");
            }};
}

// With or without a handshake for each request.
workload tls(bool handshakes) {
    const auto load = std::make_shared<std::unique_ptr<io::tls_load>>();
    return {.connections = 0,
            .run =
                [=](const io::server_process&, io::connections&, std::uint64_t requests) {
                    io::times all =
                        handshakes ? (*load)->handshakes(requests) : (*load)->echo(requests);
                    return io::percentiles(all, handshakes ? "connection_us" : "rtt_us");
                },
            .begin =
                [=](const io::server_process& server) {
                    *load = std::make_unique<io::tls_load>(server.port(), 16);
                }};
}

workload workload_named(const std::string& name, std::size_t size, unsigned threads) {
    if (name == "io-echo-1") return echo(1);
    if (name == "io-echo-16") return echo(16);
    if (name == "io-echo-256") return echo(256);
    if (name == "io-echo-1024") return echo(1024);
    if (name == "io-limit-16") return echo(16); // The limit is the server's.
    if (name == "io-limit-256") return echo(256);
    if (name == "io-mixed" || name == "io-mixed-aside") return mixed(threads);
    if (name == "io-fork-1") return fork(1);
    if (name == "io-fork-16") return fork(16);
    if (name == "io-accept") return storm();
    if (name == "io-http") return http(1);
    if (name == "io-http-pipelined") return http(16);
    if (name == "io-tls-16") return tls(false);
    if (name == "io-tls-handshake") return tls(true);
    if (name == "io-idle") return idle(size);
    throw std::invalid_argument("no workload is called '" + name + "'");
}

// Client and server each have a descriptor for each connection, and a few others.
void allow_descriptors(std::size_t connections) {
    constexpr std::size_t others = 64;
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (connections + others > limit.rlim_max)
        throw std::runtime_error(
            std::to_string(connections) + " connections need " +
            std::to_string(connections + others) +
            " descriptors in the client, and as many in the server; the system allows " +
            std::to_string(limit.rlim_max) +
            " to a process: take a smaller size, or raise the limit (ulimit -Hn)");
}

int measure(const std::vector<std::string>& command) {
    const std::string& name = command[command.size() - 3];
    const std::int64_t requests = lab::parse_size(command[command.size() - 2], 1, 999'999'999);
    const auto threads = static_cast<unsigned>(lab::parse_size(command.back(), 1, 1024));
    workload what = workload_named(name, static_cast<std::size_t>(requests), threads);
    allow_descriptors(what.connections + what.more_connections);
    const io::processors usable(threads);
    usable.use_those_of_server();
    io::server_process server(command);
    usable.use_those_of_client();
    std::string figures;
    double seconds = 0, cpu = 0;
    {
        io::connections over(server.port(), what.connections);
        if (what.begin) what.begin(server);
        if (what.warms_up && !std::getenv("LAB_NO_WARMUP"))
            what.run(server, over,
                     std::max<std::uint64_t>(static_cast<std::uint64_t>(requests) / 10,
                                             what.connections));
        const double cpu_before = server.cpu_seconds();
        const io::clock::time_point start = io::clock::now();
        figures = what.run(server, over, static_cast<std::uint64_t>(requests));
        seconds = std::chrono::duration<double>(io::clock::now() - start).count();
        cpu = server.cpu_seconds() - cpu_before;
        what = {}; // Closes the connections of the load.
    }
    const long peak = server.peak_rss_kib();
    server.end();
    const auto count = static_cast<long long>(requests);
    std::printf("{\"answer\": %lld, \"expected\": %lld, \"seconds\": %.9f, \"cpu_seconds\": %.6f, "
                "\"tasks\": %lld, \"peak_rss_kib\": %ld, \"server_cpu_us\": %.4f%s}\n",
                count, count, seconds, cpu, count, peak, cpu * 1e6 / static_cast<double>(requests),
                figures.c_str());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 5)
            throw std::invalid_argument("usage: SERVER [ARGUMENTS...] WORKLOAD SIZE "
                                        "THREADS");
        return measure({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
