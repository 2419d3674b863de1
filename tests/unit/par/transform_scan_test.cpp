// SPDX-License-Identifier: Apache-2.0
// Tests par::transform_inclusive_scan and transform_exclusive_scan against their serial forms.
#include "oracle.hpp"

#include <functional>
#include <numeric>

namespace {

namespace par = sennit::par;

TEST(par_transform_scan, agrees_with_serial_scan) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        const auto square = [](int v) {
            oracle::yield_at(static_cast<std::size_t>(v));
            return static_cast<unsigned>(v) * static_cast<unsigned>(v);
        };
        std::vector<unsigned> out(n);
        std::vector<unsigned> expected(n);
        const auto result = par::transform_inclusive_scan(values, out, std::plus<>(), square);
        EXPECT_EQ(result.in, values.end());
        EXPECT_EQ(result.out, out.end());
        std::transform_inclusive_scan(values.begin(), values.end(), expected.begin(), std::plus<>(),
                                      square);
        EXPECT_EQ(out, expected);
        par::transform_inclusive_scan(values, out, std::plus<>(), square, 5u);
        std::transform_inclusive_scan(values.begin(), values.end(), expected.begin(), std::plus<>(),
                                      square, 5u);
        EXPECT_EQ(out, expected);
        par::transform_exclusive_scan(values.begin(), values.end(), out.begin(), out.end(), 5u,
                                      std::plus<>(), square);
        std::transform_exclusive_scan(values.begin(), values.end(), expected.begin(), 5u,
                                      std::plus<>(), square);
        EXPECT_EQ(out, expected);
    });
}

TEST(par_transform_scan, keeps_order_of_an_operation_that_is_not_commutative) {
    on_workers([] {
        const auto values = oracle::random_ints(2000, 10);
        std::vector<std::string> out(values.size() / 2); // a bounded output
        const auto append = [](std::string a, const std::string& b) { return std::move(a += b); };
        const auto text = [](int v) { return std::to_string(v); };
        const auto result =
            par::transform_exclusive_scan(values, out, std::string(">"), append, text);
        EXPECT_EQ(result.in - values.begin(), static_cast<std::ptrdiff_t>(out.size()));
        std::string expected = ">";
        for (std::size_t i = 0; i != out.size(); ++i) {
            ASSERT_EQ(out[i], expected);
            expected += text(values[i]);
        }
    });
}

} // namespace
