// SPDX-License-Identifier: Apache-2.0
// Tests environment variables and the numbers that they contain.
#include "sys/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace {

using sennit::sys::environment, sennit::sys::parse_count, sennit::sys::parse_size;

TEST(environment, environment_returns_value_of_nonempty_variable) {
    const char* name = "SENNIT_TEST_VARIABLE";
    ::unsetenv(name);
    EXPECT_EQ(environment(name), std::nullopt);
    ::setenv(name, "", 1);
    EXPECT_EQ(environment(name), std::nullopt);
    ::setenv(name, " two words ", 1);
    EXPECT_EQ(environment(name), " two words ");
    ::unsetenv(name);
}

TEST(parse_count, parse_count_accepts_digits_up_to_maximum) {
    EXPECT_EQ(parse_count("0"), 0u);
    EXPECT_EQ(parse_count("12"), 12u);
    EXPECT_EQ(parse_count("0012"), 12u);
    EXPECT_EQ(parse_count("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

TEST(parse_count, parse_count_refuses_everything_else) {
    for (const char* bad :
         {"", " ", "abc", "1a", "a1", "-1", "+1", " 1", "1 ", "1\n", "1.5", "1e3", "0x10", "1,000",
          "18446744073709551616", "99999999999999999999999999", "max", "\xc2\xb2"})
        EXPECT_EQ(parse_count(bad), std::nullopt) << '"' << bad << '"';
    EXPECT_EQ(parse_count({}), std::nullopt);
    EXPECT_EQ(parse_count(std::string_view("1\0", 2)), std::nullopt);
}

TEST(parse_size, parse_size_accepts_suffix_of_either_case) {
    EXPECT_EQ(parse_size("4096"), 4096u);
    EXPECT_EQ(parse_size("64k"), 64u << 10);
    EXPECT_EQ(parse_size("64K"), 64u << 10);
    EXPECT_EQ(parse_size("2m"), 2u << 20);
    EXPECT_EQ(parse_size("2M"), 2u << 20);
    EXPECT_EQ(parse_size("1g"), 1u << 30);
    EXPECT_EQ(parse_size("1G"), 1u << 30);
    EXPECT_EQ(parse_size("0K"), 0u);
}

TEST(parse_size, parse_size_refuses_numbers_beyond_64_bits) {
    EXPECT_EQ(parse_size("17179869183G"), std::uint64_t{17'179'869'183} << 30);
    EXPECT_EQ(parse_size("17179869184G"), std::nullopt);
    EXPECT_EQ(parse_size("18014398509481983K"), std::uint64_t{18'014'398'509'481'983} << 10);
    EXPECT_EQ(parse_size("18014398509481984K"), std::nullopt);
}

TEST(parse_size, parse_size_refuses_garbage) {
    for (const char* bad : {"", "K", "kK", "1T", "1KB", "1kk", "1 K", "K1", "-1K", "+1K", "1.5M",
                            "99999999999999999G"})
        EXPECT_EQ(parse_size(bad), std::nullopt) << '"' << bad << '"';
}

} // namespace
