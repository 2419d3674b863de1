// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: a parallel algorithm needs random access to the elements and their number
// expect-error: sennit: this parallel algorithm takes the options or nothing, a range or two
// expect-error: sennit: par::for_each_n calls the function with an index
// expect-error: sennit: par::for_each_n takes an iterator, a number, and a function
// expect-error: sennit: fork_each calls the function with an index
// expect-error: sennit: fork_each calls the function with one element of the range
// expect-error: sennit: fork_each<Count> calls the function with an index
// expect-error: sennit: fork_each\(count, function, out\) writes the results to a random access
// expect-error: sennit: fork_reduce joins two values of init's type
// expect-error: sennit: fork_reduce calls `transform` with a std::size_t
// Each refused call of a loop says what the loop needs.
#include "sennit/fork_each.hpp"
#include "sennit/fork_reduce.hpp"
#include "sennit/par.hpp"

#include <functional>
#include <list>
#include <string>
#include <vector>

void use(std::vector<int>& numbers, int count) {
    const auto nothing = [] {};
    const auto one = [](int number) { return number; };
    const auto index = [](std::size_t i) { return i; };
    std::plus<> add;
    sennit::par::for_each(numbers, one);
    sennit::par::for_each(sennit::par::grain{4}, numbers.begin(), numbers.end(), one);
    sennit::par::for_each({.max_workers = 4}, numbers.data(), numbers.data() + count, one);
    sennit::par::for_each_n(count, index);
    sennit::par::for_each_n(sennit::par::grain{4}, 3u, index);
    sennit::par::for_each_n(numbers.begin(), count, one);
    sennit::par::for_each_n({}, numbers.begin(), count, one);
    (void)sennit::par::transform_reduce(numbers, 0L, add, one);
    (void)sennit::par::transform_reduce(sennit::par::deterministic, numbers.begin(), numbers.end(),
                                        0L, std::plus<>(), one);
    (void)sennit::fork_each(count, index);
    (void)sennit::fork_each(numbers, one);
    sennit::fork_each(count, index, numbers.begin());
    (void)sennit::fork_each<3>(index);
    (void)sennit::fork_reduce(3, 0, add, index);
#ifdef SENNIT_EXPECT_ERROR
    std::list<int> list(4);
    sennit::par::for_each(list, one);
    sennit::par::for_each(numbers, nothing);
    sennit::par::for_each_n(count, nothing);
    sennit::par::for_each_n(numbers.begin(), count, nothing);
    (void)sennit::par::transform_reduce(list.begin(), list.end(), 0L, add, one);
    sennit::fork_each(count, nothing);
    sennit::fork_each(numbers, nothing);
    sennit::fork_each<3>(nothing);
    sennit::fork_each(count, index, list.begin());
    (void)sennit::fork_reduce(
        3, std::string(), [](int, int) { return 1; }, [](std::size_t) { return std::string(); });
    (void)sennit::fork_reduce(3, std::string(), add, index);
#else
    nothing();
#endif
}
