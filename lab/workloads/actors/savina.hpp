// SPDX-License-Identifier: Apache-2.0
// Benchmarks of the Savina suite (Imam and Sarkar, AGERE 2014): the task of each benchmark, its
// size, its answer, and the unit that it counts as tasks. The parameters and the random numbers are
// the suite's, so that answers can be compared. The programs are not the suite's. Where the suite's
// own answer is a sum of floating-point numbers that arrive in any order, the answer here is
// rounded.
#pragma once

#include "sizes.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace lab::savina {

// The suite's random numbers: 16 bits, of which the lowest alternates.
class random {
public:
    explicit random(std::int64_t seed) : value_(static_cast<std::uint64_t>(seed)) {}
    std::int64_t next() {
        value_ = (value_ * 1309 + 13849) & 0xFFFF;
        return static_cast<std::int64_t>(value_);
    }
    std::int64_t below(std::int64_t end) { return next() % end; }
    double fraction() { return 1.0 / static_cast<double>(next() + 1); }

private:
    std::uint64_t value_;
};
inline std::int64_t sum_of_random(std::int64_t seed, std::int64_t count) {
    random numbers(seed);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += numbers.next();
    return sum;
}
// The result depends on all rounds, so no compiler can omit the loop.
inline std::int64_t idle_loop(std::int64_t rounds) {
    asm volatile("" : "+r"(rounds)); // no compiler computes the sum beforehand
    random numbers(rounds);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < rounds; ++i) sum += numbers.next();
    return sum;
}

// `Actors` actors each do n operations. The answer is the number of operations.
template <std::int64_t Actors>
struct each_of : actor_workload {
    using actor_workload::actor_workload;
    static constexpr std::int64_t actors = Actors;
    std::int64_t expected() const { return Actors * n; }
    std::int64_t tasks() const { return Actors * n; }
};

// ---- small benchmarks

// savina-throughput: 60 actors receive n messages each, in turns. For each message they compute
// sin²(37.2).
using throughput_size = each_of<60>;
// savina-create: n actors are created, each for one such computation.
inline constexpr double angle = 37.2, squared_sine = 0.22910191538134758;
inline bool computes(double at) {
    const double sine = std::sin(at);
    return std::abs(sine * sine - squared_sine) < 1e-12;
}

// savina-fib: an actor for each call of the naive recursion. The answer is the n-th Fibonacci
// number.
struct fib_size : actor_workload {
    explicit fib_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 1, 40);
    }
    std::int64_t expected() const {
        std::int64_t a = 0, b = 1;
        for (std::int64_t i = 0; i < n; ++i) a = std::exchange(b, a + b);
        return a;
    }
    std::int64_t tasks() const { return 2 * expected() - 1; } // actors
};

// savina-chameneos: 100 creatures of three colours meet in pairs, n times in all. Each creature
// counts its meetings, so the answer, the sum of all counts, is 2 n.
inline constexpr std::int64_t creatures = 100;
struct chameneos_size : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t expected() const { return 2 * n; }
};

// savina-big: 120 actors send n pings each to random actors, and wait for each answer. The answer
// is the number of answers that came from the actor that was asked.
using big_size = each_of<120>;

// ---- benchmarks of sharing

// savina-dictionary: an actor owns a map of 524,287 numbers, and 20 actors ask it n times each. One
// question in ten writes. The answer is the number of answers, if the map has its expected size at
// the end.
inline constexpr std::int64_t dictionary_keys = 524'287, write_percent = 10, size_percent = 1;
using dictionary_size = each_of<20>;

// savina-list: an actor owns a sorted linked list, and 20 actors ask it n times each. Of a hundred
// questions, ten insert, one asks for the length, and the remaining ones ask whether the list has a
// number. The answer is the length of the list.
struct list_size : each_of<20> {
    using each_of::each_of;
    enum class question { length, insert, contains };
    random numbers_of(std::int64_t worker) const { return random(worker + n + 11); }
    static question next(random& numbers) {
        const std::int64_t drawn = numbers.below(100);
        if (drawn < size_percent) return question::length;
        return drawn < size_percent + write_percent ? question::insert : question::contains;
    }
    std::int64_t expected() const {
        std::int64_t length = 0;
        for (std::int64_t worker = 0; worker < actors; ++worker) {
            random numbers = numbers_of(worker);
            for (std::int64_t i = 0; i < n; ++i) {
                const auto what = next(numbers);
                if (what != question::length) numbers.next(); // the number in question
                if (what == question::insert) ++length;
            }
        }
        return length;
    }
};

// savina-buffer: 40 producers of n items each, a buffer of 50, 40 consumers. An item costs 2,500
// logarithms on either side. The answer is the number of items that arrived with the right content.
using buffer_size_of = each_of<40>;
inline constexpr double item_value = -11482.378824363414;
inline double item() {
    random numbers(25);
    double sum = 0;
    for (int i = 0; i < 2'500; ++i) sum += std::log(numbers.fraction() + 0.01);
    return sum;
}
inline bool is_item(double value) {
    return std::abs(value - item_value) < 1e-6;
}

// savina-philosophers: 20 philosophers eat n times each. One arbitrator knows the forks, and a
// philosopher whose request is denied asks again. The answer is the number of meals.
using philosophers_size = each_of<20>;

// savina-barber: n customers, a waiting room for 1,000, a barber. A customer that finds the room
// full comes again. The answer is the number of haircuts.
inline constexpr std::int64_t waiting_room = 1'000, barber_rounds = 1'000;

// savina-smokers: n times, an arbiter starts one of 200 smokers at random. The answer is the number
// of times that a smoker smoked.
inline constexpr std::int64_t smokers = 200, smoke_rounds = 1'000;

// savina-logistic: ten actors compute n terms of the logistic map each, and ask another actor for
// each step. The answer is the sum of the last terms, times 10⁹.
struct logistic_size : actor_workload {
    using actor_workload::actor_workload;
    static constexpr std::int64_t series = 10;
    static double rate(std::int64_t i) { return 3.46 + 0.0025 * static_cast<double>(i); }
    static double first(std::int64_t i) { return 0.0025 * static_cast<double>(i); }
    static double step(double rate, double x) { return rate * x * (1 - x); }
    static std::int64_t answer(double sum) { return std::llround(sum * 1e9); }
    std::int64_t expected() const {
        double sum = 0;
        for (std::int64_t i = 0; i < series; ++i) {
            double x = first(i);
            for (std::int64_t term = 0; term < n; ++term) x = step(rate(i), x);
            sum += x;
        }
        return answer(sum);
    }
    std::int64_t tasks() const { return series * n; } // questions
};

// savina-bank: n transfers between 1,000 accounts. The giving account asks the taking account.
// Amounts are whole, so the sum over all accounts must not change. If it has not changed, the
// answer is the number of transfers.
inline constexpr std::int64_t accounts = 1'000, in_account = 1'000'000, max_transfer = 1'000;

// ---- parallel benchmarks

// savina-radix: n numbers pass through 60 actors, each of which sorts by one bit. The answer is the
// sum of the numbers, if they arrive in order.
struct radix_size : actor_workload {
    using actor_workload::actor_workload;
    static constexpr std::int64_t seed = 2'048, bits = 60;
    std::int64_t expected() const { return sum_of_random(seed, n); }
    std::int64_t tasks() const { return (bits + 1) * n; }
};

// savina-quicksort: n numbers, with an actor for each part of more than 2,048 numbers. The answer
// is the sum of the numbers, if they are in order.
struct quicksort_size : actor_workload {
    using actor_workload::actor_workload;
    static constexpr std::int64_t seed = 1'024, leaf = 2'048;
    std::int64_t expected() const { return sum_of_random(seed, n); }
};

// savina-sieve: finds the primes below n with actors that keep 1,000 primes each. The answer is the
// number of primes.
struct sieve_size : actor_workload {
    explicit sieve_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 3, 10'000'000);
    }
    static constexpr std::int64_t kept = 1'000;
    std::int64_t expected() const {
        std::vector<bool> composite_numbers(static_cast<std::size_t>(n));
        std::int64_t count = 0;
        for (std::int64_t i = 2; i < n; ++i) {
            if (composite_numbers[static_cast<std::size_t>(i)]) continue;
            ++count;
            for (std::int64_t j = i * i; j < n; j += i)
                composite_numbers[static_cast<std::size_t>(j)] = true;
        }
        return count;
    }
    std::int64_t tasks() const { return n / 2; } // numbers that are sent to the first
};

// savina-trapezoid: 100 actors integrate a function from 1 to 5 with n trapezoids. The answer is a
// million times the integral.
struct trapezoid_size : actor_workload {
    explicit trapezoid_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 1'000'000, max_messages);
    }
    static constexpr std::int64_t workers = 100;
    static constexpr double low = 1, high = 5;
    static double value(double x) {
        return std::sin(x * x * x - 1) / (x + 1) * std::sqrt(1 + std::exp(std::sqrt(2 * x)));
    }
    static std::int64_t answer(double integral) { return std::llround(integral * 1e6); }
    std::int64_t expected() const { return 271'081; }
};

// savina-queens: 20 actors place n queens. A board with less than four queens makes a message of
// each square that is left in the next row. A board with four queens is finished in place. The
// answer is the number of solutions.
struct queens_size : actor_workload {
    explicit queens_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 1, 14);
    }
    static constexpr std::int64_t workers = 20, threshold = 4;
    std::int64_t expected() const {
        static constexpr std::int64_t known[] = {1,  1,   0,   0,     2,      10,     4,      40,
                                                 92, 352, 724, 2'680, 14'200, 73'712, 365'596};
        return known[n];
    }
    std::int64_t tasks() const { return expected(); } // solutions
};

// savina-matmul: 20 actors multiply n × n numbers by quadrants down to 128. a[i][j] is i, and
// b[i][j] is j. The answer is the sum of all elements.
struct matmul_size : actor_workload {
    explicit matmul_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 1, 2'048);
        if ((n & (n - 1)) != 0)
            throw std::invalid_argument("size must be a power of two, not '" + size + "'");
    }
    static constexpr std::int64_t workers = 20, leaf = 128;
    std::int64_t expected() const {
        const std::int64_t numbers = n * (n - 1) / 2;
        return n * numbers * numbers;
    }
    std::int64_t tasks() const { // quadrants
        std::int64_t all = 1, level = 1;
        for (std::int64_t side = n; side > leaf; side /= 2) all += level *= 4;
        return all;
    }
};

// savina-paths: all shortest paths between n nodes, by Floyd and Warshall, in blocks of 50 × 50
// with an actor for each block. The answer is the sum of the distances.
struct paths_size : actor_workload {
    explicit paths_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 100, 300);
        if (n % 100 != 0)
            throw std::invalid_argument("size must be one of 100, 200, 300, not '" + size + "'");
    }
    static constexpr std::int64_t block = 50, longest_edge = 100;
    std::int64_t blocks() const { return n / block; } // in a row
    std::int64_t expected() const { return n == 100 ? 74'952 : n == 200 ? 201'200 : 401'700; }
    std::int64_t tasks() const { return n * blocks() * blocks(); } // rounds of all blocks
    std::vector<std::int64_t> graph() const {                      // undirected
        random numbers(n);
        std::vector<std::int64_t> edges(static_cast<std::size_t>(n * n));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = i + 1; j < n; ++j) {
                const std::int64_t length = numbers.below(longest_edge) + 1;
                edges[static_cast<std::size_t>(i * n + j)] =
                    edges[static_cast<std::size_t>(j * n + i)] = length;
            }
        return edges;
    }
};

} // namespace lab::savina
