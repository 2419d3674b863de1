// SPDX-License-Identifier: Apache-2.0
// Memory of messages and actors: alignment, operators new and delete of a class, several bases.
#include "sennit/actor/memory.hpp"

#include "sennit/actor.hpp"
#include "sennit/catcher.hpp"

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace memory_tests {
namespace {

template <std::size_t N>
struct alignas(N) aligned {
    using reply = bool;
    std::array<unsigned char, N> bytes{};
    bool right() const { return reinterpret_cast<std::uintptr_t>(this) % N == 0; }
};

template <std::size_t N>
struct alignas(N) checks : sennit::actor<checks<N>, aligned<64>, aligned<256>> {
    bool on(const aligned<64>& m) { return m.right() && self_right(); }
    bool on(const aligned<256>& m) { return m.right() && self_right(); }
    bool self_right() const { return reinterpret_cast<std::uintptr_t>(this) % N == 0; }
};
struct alignas(128) open_checks : sennit::open_actor<open_checks> {
    open_checks() {
        add_handler([this](const aligned<4096>& m) {
            return m.right() && reinterpret_cast<std::uintptr_t>(this) % 128 == 0;
        });
    }
};

struct actor_memory : testing::Test {
    quiet no_letters;
    sennit::runtime runtime{{.workers = 2}};
    sennit::actor_group group{runtime};
};

TEST_F(actor_memory, handlers_see_over_aligned_messages_and_actors_aligned) {
    auto one = group.spawn<checks<64>>();
    auto other = group.spawn<checks<1024>>();
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(one.ask(aligned<64>()).get());
        EXPECT_TRUE(one.ask(aligned<256>()).get());
        EXPECT_TRUE(other.ask(aligned<256>()).get());
    }
}

TEST_F(actor_memory, open_actors_and_catchers_see_over_aligned_messages_aligned) {
    auto open = group.spawn<open_checks>();
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(open.ask(aligned<4096>()).get());
    sennit::catcher<aligned<512>> caught(runtime);
    caught.ref().tell(aligned<512>());
    EXPECT_TRUE(caught.pop().message.right());
}

TEST_F(actor_memory, unhandled_over_aligned_message_is_freed) {
    auto gone = group.spawn<checks<64>>();
    gone.stop();
    group.join();
    EXPECT_THROW(gone.ask(aligned<256>()).get(), sennit::ask_failed);
}

// ---- classes with operators new and delete

struct pool {
    static inline std::atomic<int> taken{0}, given{0};
    static inline std::atomic<std::size_t> bytes_taken{0}, bytes_given{0};
    static void* take(std::size_t bytes) {
        ++taken;
        bytes_taken += bytes;
        return std::malloc(bytes);
    }
    static void give(void* memory, std::size_t bytes) noexcept {
        ++given;
        bytes_given += bytes;
        std::free(memory);
    }
    static void reset() { taken = given = 0, bytes_taken = bytes_given = 0; }
};
struct pooled {
    int n = 0;
    static void* operator new(std::size_t bytes) { return pool::take(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
        pool::give(memory, bytes);
    }
};
struct pooled_question : pooled {
    using reply = int;
};
struct pooled_actor : sennit::actor<pooled_actor, pooled, pooled_question> {
    explicit pooled_actor(bool fails = false) {
        if (fails) throw std::runtime_error("thrown on purpose");
    }
    void on(pooled m) { sum += m.n; }
    int on(pooled_question m) { return sum + m.n; }
    static void* operator new(std::size_t bytes) { return pool::take(bytes); }
    static void* operator new(std::size_t, void* where) noexcept { return where; }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
        pool::give(memory, bytes);
    }
    int sum = 0;
};

TEST_F(actor_memory, operators_new_and_delete_of_a_class_place_its_objects) {
    pool::reset();
    auto a = group.spawn<pooled_actor>();
    EXPECT_EQ(pool::taken, 1);
    EXPECT_EQ(pool::bytes_taken, sizeof(pooled_actor));
    for (int i = 0; i < 10; ++i) a.tell(pooled{1});
    pooled_question last;
    last.n = 100;
    EXPECT_EQ(a.ask(last).get(), 110);
    a.stop();
    group.join();
    EXPECT_EQ(pool::taken, 12) << "the actor, ten messages, one question";
    EXPECT_EQ(pool::given, 12);
    EXPECT_EQ(pool::bytes_given, pool::bytes_taken);
}

TEST_F(actor_memory, operator_delete_of_a_class_frees_failed_spawn_and_undelivered_message) {
    pool::reset();
    EXPECT_THROW(group.spawn<pooled_actor>(true), std::runtime_error);
    sennit::actor_ref<pooled_actor>().tell(pooled{1});
    EXPECT_EQ(pool::taken, 2);
    EXPECT_EQ(pool::given, 2);
}

TEST_F(actor_memory, throwing_operator_new_fails_the_send) {
    struct refused {
        static void* operator new(std::size_t) { throw std::bad_alloc(); }
        static void operator delete(void*) noexcept {}
    };
    sennit::catcher<refused> caught(runtime);
    EXPECT_THROW(caught.ref().tell(refused{}), std::bad_alloc);
}

struct alignas(64) line_of_cache {
    static inline std::atomic<int> taken{0}, given{0};
    static void* operator new(std::size_t bytes, std::align_val_t alignment) {
        ++taken;
        return ::operator new(bytes, alignment);
    }
    static void operator delete(void* memory, std::align_val_t alignment) noexcept {
        ++given;
        ::operator delete(memory, alignment);
    }
    int n = 0;
};

TEST_F(actor_memory, over_aligned_class_uses_its_aligned_operator_new) {
    line_of_cache::taken = line_of_cache::given = 0;
    sennit::catcher<line_of_cache> caught(runtime);
    caught.ref().tell(line_of_cache());
    (void)caught.pop();
    while (line_of_cache::given == 0)
        std::this_thread::yield(); // the batch frees it after the handler
    EXPECT_EQ(line_of_cache::taken, 1);
}

// ---- several bases

struct virtual_base {
    virtual ~virtual_base() = default;
    virtual int twice(int n) { return 2 * n; }
    std::int64_t padding[3] = {};
};
struct ask_twice {
    using reply = int;
    int n;
};
struct actor_first : sennit::actor<actor_first, ask_twice>, virtual_base {
    int on(ask_twice m) { return twice(m.n); }
};
struct actor_last : virtual_base, sennit::actor<actor_last, ask_twice> {
    int on(ask_twice m) { return twice(m.n); }
};
struct open_last : virtual_base, sennit::open_actor<open_last> {
    open_last() { add_handler(&open_last::answer); }
    int answer(ask_twice m) { return twice(m.n); }
};
struct with_virtuals : sennit::actor<with_virtuals, ask_twice> {
    virtual ~with_virtuals() = default;
    virtual int on(ask_twice m) { return m.n + 1; }
};
template <class T>
struct templated : sennit::actor<templated<T>, ask_twice> {
    int on(ask_twice m) { return static_cast<int>(static_cast<T>(m.n)); }
};

TEST_F(actor_memory, actor_may_have_other_bases_before_and_behind) {
    EXPECT_EQ(group.spawn<actor_first>().ask(ask_twice{3}).get(), 6);
    EXPECT_EQ(group.spawn<actor_last>().ask(ask_twice{4}).get(), 8);
    EXPECT_EQ(group.spawn<open_last>().ask(ask_twice{5}).get(), 10);
    EXPECT_EQ(group.spawn<with_virtuals>().ask(ask_twice{5}).get(), 6);
    EXPECT_EQ(group.spawn<templated<unsigned char>>().ask(ask_twice{257}).get(), 1);
    group.stop(); // frees all actors: the sanitizers check that
    group.join();
}

} // namespace
} // namespace memory_tests
