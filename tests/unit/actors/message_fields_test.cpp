// SPDX-License-Identifier: Apache-2.0
// The fields that a message may have. A check at compile time finds each field that refers to the
// sender's memory, and accepts all other fields.
#include "sennit/actor/message.hpp"

#include <gtest/gtest.h>

#include <any>
#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace {

template <class M>
constexpr bool refers = sennit::detail::struct_refers<M>();

struct pair_of {
    int x, y;
};
struct two_of {
    pair_of a[2];
    std::tuple<> none;
};
struct holds_array {
    int a[2];
    int b;
};

// clang-format off
struct base { int id; };
struct empty_base {};
struct derived : base { std::string text; };
struct tagged : empty_base { int a; };
struct only_base : base {};
struct array_only { char text[3]; };
struct many_elements { char text[30]; };
struct matrix { float of[2][2]; };
struct nameless_union { int kind; union { int i; float f; }; };
struct named_union { int kind; union { int i; float f; } either; };
struct bits { int a : 3; int b : 4; };
struct nested { pair_of a; pair_of b; };
struct of_one { pair_of a; };
struct anything { std::function<void()> f; std::any x; std::optional<int> o; };
struct owners { std::unique_ptr<int> p; std::vector<int> v; std::variant<int, std::string> w; };
struct shared { std::shared_ptr<int> p; std::chrono::nanoseconds t; std::exception_ptr e; };
struct tuples { std::tuple<int, int> t; std::pair<int, std::string> p; };
struct constant { const int a; std::string b; };
struct no_address { [[no_unique_address]] std::allocator<int> a; int b; };

struct last_of_six { int a, b, c, d, e; char* p; };
struct behind_array { int a[2]; char* p; };
struct before_array { char* p; int a[2]; };
struct array_of_pointers { const char* p[2][2]; };
struct behind_std_array { std::array<int, 3> a; int* p; };
struct behind_matrix { float of[2][2]; int n; char text[4]; double* p; };
struct behind_anything { std::function<void()> f; std::any x; int* p; };
struct view_behind_vector { std::vector<int> v; std::string_view w; };
struct span_behind_array { bool a; int b[3]; std::string c; std::span<int> d; };
struct behind_aggregate { holds_array a; int b[2]; char* p; };
struct behind_array_of_aggregates { holds_array a[2]; char* p; };
struct behind_tuple { std::tuple<int, int> t; std::pair<int, std::string> p; int* q; };
using large_array = std::array<int, 8192>;
using array_of_views = std::array<std::string_view, 8192>;
struct behind_array_of_one { bool x; int a[1]; void* p; };

struct has_pointer { int* p; int n; };
struct in_a_struct { has_pointer i; };
struct two_deep { int a; in_a_struct i; };
struct in_an_array_of_structs { has_pointer i[2]; int a, b, c, d; };
struct in_an_optional { std::optional<std::string_view> s; };
struct in_a_variant { std::variant<int, const char*> v; };
struct in_a_wrapper { std::reference_wrapper<int> r; };
struct in_a_std_array { std::array<has_pointer, 2> a; };
using in_a_pair = std::pair<int, const char*>;
using in_a_tuple = std::tuple<int, in_a_struct>;
using reference_in_a_tuple = std::tuple<int&>;
using in_an_optional_pair = std::optional<const std::pair<int, const has_pointer>>;

struct allowed { int* p; };
struct holds_allowed { allowed a; std::optional<allowed> b; std::pair<int, const char16_t*> c; };
struct composed {
    std::optional<std::pair<int, std::string>> a;
    std::variant<std::monostate, nested> b;
    two_of c;
};
struct of_containers {
    std::vector<int*> a;
    std::unique_ptr<has_pointer> b;
    std::function<int*(int*)> c;
};
// clang-format on

} // namespace
template <>
inline constexpr bool sennit::allow_share<allowed> = true;
template <>
inline constexpr bool sennit::allow_share<const char16_t*> = true;
namespace {

TEST(message_fields, type_without_references_is_a_message) {
    EXPECT_FALSE(refers<derived>);
    EXPECT_FALSE(refers<tagged>);
    EXPECT_FALSE(refers<only_base>);
    EXPECT_FALSE(refers<array_only>);
    EXPECT_FALSE(refers<many_elements>);
    EXPECT_FALSE(refers<matrix>);
    EXPECT_FALSE(refers<nameless_union>);
    EXPECT_FALSE(refers<named_union>);
    EXPECT_FALSE(refers<bits>);
    EXPECT_FALSE(refers<nested>);
    EXPECT_FALSE(refers<of_one>);
    EXPECT_FALSE(refers<anything>);
    EXPECT_FALSE(refers<owners>);
    EXPECT_FALSE(refers<shared>);
    EXPECT_FALSE(refers<tuples>);
    EXPECT_FALSE(refers<constant>);
    EXPECT_FALSE(refers<no_address>);
    EXPECT_FALSE(refers<large_array>);
    EXPECT_FALSE(refers<composed>);
    EXPECT_FALSE(refers<of_containers>); // the check does not look into containers
}

TEST(message_fields, allow_share_permits_a_type_in_any_field) {
    EXPECT_FALSE(refers<allowed>);
    EXPECT_FALSE(refers<holds_allowed>);
}

TEST(message_fields, check_finds_reference_in_any_field) {
    EXPECT_TRUE(refers<last_of_six>);
    EXPECT_TRUE(refers<behind_array>);
    EXPECT_TRUE(refers<before_array>);
    EXPECT_TRUE(refers<array_of_pointers>);
    EXPECT_TRUE(refers<behind_std_array>);
    EXPECT_TRUE(refers<behind_matrix>);
    EXPECT_TRUE(refers<behind_anything>);
    EXPECT_TRUE(refers<view_behind_vector>);
    EXPECT_TRUE(refers<span_behind_array>);
    EXPECT_TRUE(refers<behind_aggregate>);
    EXPECT_TRUE(refers<behind_array_of_aggregates>);
    EXPECT_TRUE(refers<behind_tuple>);
    EXPECT_TRUE(refers<behind_array_of_one>);
    EXPECT_TRUE(refers<array_of_views>);
}

TEST(message_fields, check_finds_reference_in_nested_types) {
    EXPECT_TRUE(refers<in_a_struct>);
    EXPECT_TRUE(refers<two_deep>);
    EXPECT_TRUE(refers<in_an_array_of_structs>);
    EXPECT_TRUE(refers<in_an_optional>);
    EXPECT_TRUE(refers<in_a_variant>);
    EXPECT_TRUE(refers<in_a_wrapper>);
    EXPECT_TRUE(refers<std::reference_wrapper<int>>);
    EXPECT_TRUE(refers<in_a_std_array>);
    EXPECT_TRUE(refers<in_a_pair>);
    EXPECT_TRUE(refers<in_a_tuple>);
    EXPECT_TRUE(refers<reference_in_a_tuple>);
    EXPECT_TRUE(refers<in_an_optional_pair>);
}

} // namespace
