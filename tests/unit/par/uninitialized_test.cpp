// SPDX-License-Identifier: Apache-2.0
// Tests the algorithms that construct and destroy objects in raw memory: every object that begins
// to live ends exactly once.
#include "oracle.hpp"

#include <sennit/nursery.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>

namespace {

namespace par = sennit::par;

// Counts the living objects, and throws at the construction with a given value.
struct tracked {
    static inline std::atomic<int> alive{0};
    static inline std::atomic<int> bad{-1};

    int value;
    tracked() : tracked(17) {}
    explicit tracked(int number) : value(number) {
        if (number == bad.load()) throw std::runtime_error("bad value");
        ++alive;
    }
    tracked(const tracked& other) : tracked(other.value) {}
    tracked(tracked&& other) : tracked(std::exchange(other.value, -2)) {}
    ~tracked() { --alive; }
};

template <class T>
class raw_room {
public:
    explicit raw_room(std::size_t n) : at_(std::allocator<T>().allocate(n + 1)), n_(n) {}
    ~raw_room() { std::allocator<T>().deallocate(at_, n_ + 1); }
    std::span<T> all() const { return {at_, n_}; }

private:
    T* at_;
    std::size_t n_;
};

TEST(par_uninitialized, constructs_and_destroys_each_object_once) {
    oracle::on_sizes([](std::size_t n) {
        const auto numbers = oracle::random_ints(n, 1000);
        std::vector<tracked> values(numbers.begin(), numbers.end());
        const int before = tracked::alive.load();
        const auto count = static_cast<int>(n);
        raw_room<tracked> room(n);
        const auto result = par::uninitialized_copy(values, room.all());
        EXPECT_EQ(result.in, values.end());
        EXPECT_EQ(result.out, room.all().end());
        EXPECT_TRUE(std::ranges::equal(room.all(), numbers, {}, &tracked::value));
        EXPECT_EQ(tracked::alive.load(), before + count);
        EXPECT_EQ(par::destroy(room.all()), room.all().end());
        EXPECT_EQ(tracked::alive.load(), before);
        par::uninitialized_move(values, room.all());
        EXPECT_TRUE(std::ranges::equal(room.all(), numbers, {}, &tracked::value));
        EXPECT_TRUE(std::ranges::all_of(values, [](const tracked& t) { return t.value == -2; }));
        par::destroy(room.all());
        par::uninitialized_fill(room.all(), tracked(5));
        EXPECT_TRUE(std::ranges::all_of(room.all(), [](const auto& t) { return t.value == 5; }));
        par::destroy(room.all());
        par::uninitialized_value_construct(room.all());
        EXPECT_TRUE(std::ranges::all_of(room.all(), [](const auto& t) { return t.value == 17; }));
        par::destroy(room.all().begin(), room.all().end());
        par::uninitialized_default_construct(room.all());
        EXPECT_EQ(tracked::alive.load(), before + count);
        par::destroy(room.all());
        EXPECT_EQ(tracked::alive.load(), before);
        raw_room<int> zeros(n);
        par::uninitialized_default_construct(zeros.all());
        par::uninitialized_fill(zeros.all(), 9);
        par::uninitialized_value_construct(zeros.all());
        EXPECT_TRUE(std::ranges::all_of(zeros.all(), [](int v) { return v == 0; }));
    });
}

TEST(par_uninitialized, exception_destroys_constructed_objects) {
    on_workers([] {
        std::vector<int> numbers(5000);
        par::iota(numbers, 0);
        for (int bad : {0, 1, 700, 4999}) {
            tracked::bad = bad;
            raw_room<tracked> room(numbers.size());
            EXPECT_THROW(par::uninitialized_copy(numbers, room.all()), std::runtime_error);
            EXPECT_EQ(tracked::alive.load(), 0) << bad;
        }
        tracked::bad = -1;
    });
}

TEST(par_uninitialized, cancellation_destroys_constructed_objects) {
    on_workers([] {
        std::vector<int> numbers(200'000);
        par::iota(numbers, 0);
        raw_room<tracked> room(numbers.size());
        sennit::nursery children;
        children.start([&] {
            const auto cancelling = std::views::transform(numbers, [&](int v) {
                if (v == 1000) children.cancel();
                return v;
            });
            EXPECT_THROW(par::uninitialized_copy(cancelling, room.all()), sennit::cancelled);
        });
        children.join();
        EXPECT_EQ(tracked::alive.load(), 0);
    });
}

} // namespace
