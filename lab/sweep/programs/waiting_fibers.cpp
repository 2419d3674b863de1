// SPDX-License-Identifier: Apache-2.0
// Fibers that wait most of the time. The figure is the wall time divided by the operations of all
// fibers.
//
//     waiting_fibers WORKERS timers FIBERS SLEEPS
//         each fiber sleeps again and again, 50 to 499 us each
//     waiting_fibers WORKERS forks PAIRS QUESTIONS WORK_NS
//         one fiber of each pair asks the other over rendezvous channels, inside a fork, while a
//         sibling of WORK_NS is pending: the suspended fiber's fork can only be stolen
#include "counters.hpp"

#include <sennit/channel.hpp>
#include <sennit/fiber.hpp>
#include <sennit/fork_join.hpp>
#include <sennit/this_fiber.hpp>

#include <atomic>
#include <memory>
#include <string_view>

using namespace sweep;

namespace {

unsigned sleep_us(unsigned fiber, unsigned sleep) {
    return 50 + (fiber * 37 + sleep * 101) % 450;
}

void join_all(std::vector<sennit::fiber>& all) {
    for (sennit::fiber& one : all) one.join();
}

void sleep_often(unsigned fibers, unsigned sleeps) {
    std::vector<sennit::fiber> all;
    for (unsigned f = 0; f < fibers; ++f)
        all.emplace_back([=] {
            for (unsigned i = 0; i < sleeps; ++i)
                sennit::this_fiber::sleep_for(std::chrono::microseconds(sleep_us(f, i)));
        });
    join_all(all);
}

struct question_and_answer {
    sennit::channel<std::uint64_t> question, answer;
};

void ask(question_and_answer& over, unsigned questions, std::uint64_t steps) {
    std::atomic<std::uint64_t> sink{0};
    for (unsigned i = 0; i < questions; ++i) {
        auto [a, b] = sennit::fork_join(
            [&] {
                const std::uint64_t seen = compute(steps, i);
                over.question.push(i);
                return seen ^ *over.answer.pop();
            },
            [=] { return compute(steps, i + 1); });
        if ((a ^ b) == 42) sink.fetch_add(1, std::memory_order_relaxed);
    }
}

void ask_inside_forks(unsigned pairs, unsigned questions, std::uint64_t steps) {
    std::vector<std::unique_ptr<question_and_answer>> channels;
    std::vector<sennit::fiber> all;
    for (unsigned p = 0; p < pairs; ++p) {
        channels.push_back(std::make_unique<question_and_answer>());
        question_and_answer& mine = *channels.back();
        all.emplace_back([&mine, questions] {
            for (unsigned i = 0; i < questions; ++i) mine.answer.push(*mine.question.pop());
        });
        all.emplace_back([&mine, questions, steps] { ask(mine, questions, steps); });
    }
    join_all(all);
}

double mean_sleep_us(unsigned fibers, unsigned sleeps) {
    double sum = 0;
    for (unsigned f = 0; f < fibers; ++f)
        for (unsigned i = 0; i < sleeps; ++i) sum += sleep_us(f, i);
    return sum / (static_cast<double>(fibers) * sleeps);
}

} // namespace

int main(int argc, char** argv) {
    const unsigned workers = count(argc, argv, 1, 2);
    const bool timers = argc <= 2 || std::string_view(argv[2]) == "timers";
    const unsigned fibers = count(argc, argv, 3, 8), each = count(argc, argv, 4, 100);
    const double work_ns = number(argc, argv, 5, 1000);
    const std::uint64_t steps = steps_for_ns(work_ns);
    sennit::runtime runtime({.workers = workers});
    const auto before = runtime.metrics();
    const std::int64_t start = now_ns();
    runtime.run([&] {
        if (timers)
            sleep_often(fibers, each);
        else
            ask_inside_forks(fibers, each, steps);
    });
    const double took_us = us_since(start), operations = static_cast<double>(fibers) * each;
    row result("waiting_fibers");
    result.add("threads", workers)
        .add("what", timers ? "timers" : "forks")
        .add("unit", "ns")
        .add("of", timers ? "a sleep" : "a question")
        .add("time", took_us * 1e3 / operations)
        .add("ideal", timers ? mean_sleep_us(fibers, each) * 1e3 / fibers
                             : 2 * work_ns / std::min(workers, 2 * fibers));
    add_counters(result, before, runtime.metrics(), operations).print();
}
