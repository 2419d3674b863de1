// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: a parallel algorithm needs random access to the elements and their number
// expect-error: sennit: a parallel algorithm cannot write to a std::vector<bool>
// expect-error: sennit: this parallel algorithm takes the options or nothing, a range or two iter
// expect-error: sennit: this parallel algorithm takes the options or nothing, the elements, an outp
// expect-error: sennit: this parallel algorithm takes the options or nothing, two ranges or two it
// expect-error: sennit: this parallel algorithm takes the options or nothing, a range whose elemen
// expect-error: sennit: par::reduce takes the elements, init, an operation
// expect-error: sennit: par::inclusive_scan takes the options or nothing, the elements, an output
// expect-error: sennit: par::radix_sort takes the options or nothing, a range or two iterators
// expect-error: sennit: par::rotate takes the options or nothing, a range and an iterator
// expect-error: sennit: par::histogram takes the options or nothing, the elements, the number of
// expect-error: sennit: par::collect_reduce takes the options or nothing, a range, a key and
// expect-error: sennit: par::for_each_index takes the options or nothing, two or three
// expect-error: sennit: par::view takes the options or nothing, and a range with random
// expect-error: sennit: par::partition_copy takes the options or nothing, the elements, two
// expect-error: sennit: par::partial_sort_copy takes the options or nothing, the elements,
// expect-error: sennit: par::search_n takes the options or nothing, a range or two
// expect-error: sennit: par::rotate_copy takes the options or nothing, a range and an
// expect-error: sennit: par::transform_inclusive_scan takes the options or nothing, the
// expect-error: sennit: par::transform_exclusive_scan takes the options or nothing, the
// Each refused call of a parallel algorithm says what the algorithm needs.
#include "sennit/par.hpp"

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace par = sennit::par;

struct item {
    int key;
};

void use(std::vector<int>& numbers, std::vector<bool>& flags, std::vector<std::string>& texts,
         std::vector<item>& items, std::vector<std::unique_ptr<int>>& boxes) {
    const auto odd = [](int number) { return number % 2 != 0; };
    par::transform(numbers, numbers, odd);
    par::sort(items, {}, &item::key);
    (void)par::equal(numbers, numbers);
    (void)par::max(numbers);
    (void)par::count(flags, true);
    (void)par::reduce(texts, std::string());
    par::inclusive_scan(numbers, numbers);
    (void)par::min_element(boxes, {}, [](const auto& box) { return *box; });
#ifdef SENNIT_EXPECT_ERROR
    std::list<int> list(4);
    (void)par::find(list, 1);
    par::transform(numbers, flags, odd);
    par::sort(items);
    par::copy_if(texts, numbers, [](const std::string&) { return true; });
    (void)par::equal(numbers, texts);
    (void)par::max(boxes);
    (void)par::reduce(texts, 0);
    par::inclusive_scan(texts, numbers);
    par::radix_sort(texts);
    par::rotate(numbers, 3);
    (void)par::histogram(texts, 4);
    (void)par::collect_reduce(numbers, &std::string::size);
    par::for_each_index(par::index_extents<2>{3, 4}, odd);
    (void)par::view(3);
    par::partition_copy(texts, texts, numbers, [](const std::string&) { return true; });
    par::partial_sort_copy(items, items);
    (void)par::search_n(numbers, 3, std::string());
    par::rotate_copy(numbers, 3, numbers);
    par::transform_inclusive_scan(numbers, items, std::plus<>(), odd);
    par::transform_exclusive_scan(numbers, numbers, texts, std::plus<>(), odd);
#endif
}
