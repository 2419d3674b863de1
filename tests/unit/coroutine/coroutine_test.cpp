// SPDX-License-Identifier: Apache-2.0
// Coroutines: values, exceptions, transfers, moves of handles, blocking, misuse.
#include "../fibers/on_workers.hpp"

#include <sennit/coroutine.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/fork_join.hpp>
#include <sennit/mutex.hpp>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

class coroutine : public on_workers {};
SENNIT_ON_WORKERS(coroutine);

using adder = sennit::coroutine<int, int>;
int add_up(adder::suspender_type& self, int value) {
    int total = 0;
    while (value != 0) value = self.suspend(total += value);
    return total;
}

void pass_values_both_ways() {
    adder sum(&add_up);
    EXPECT_EQ(sum.resume(3), 3);
    EXPECT_EQ(sum.resume(4), 7);
    EXPECT_FALSE(sum.done());
    EXPECT_EQ(sum.resume(0), 7);
    EXPECT_TRUE(sum.done());
}
TEST_P(coroutine, coroutine_passes_values_both_ways) {
    runtime.run(pass_values_both_ways);
    pass_values_both_ways(); // on a thread that is no worker
}

TEST_P(coroutine, values_may_be_move_only) {
    using text = std::unique_ptr<std::string>;
    sennit::coroutine<text, text> twice([](auto& self, text given) {
        for (int i = 0; i < 2; ++i) {
            *given += *given;
            given = self.suspend(std::move(given));
        }
        return text();
    });
    text one = twice.resume(std::make_unique<std::string>("ab"));
    EXPECT_EQ(*one, "abab");
    EXPECT_EQ(*twice.resume(std::move(one)), "abababab");
}

TEST_P(coroutine, coroutine_suspends_from_deep_recursion) {
    runtime.run([] {
        std::vector<int> seen;
        sennit::coroutine<void, int> walk([](auto& self) {
            const std::function<void(int)> down = [&](int depth) {
                if (depth == 0) return;
                down(depth - 1);
                self.suspend(depth);
            };
            down(5);
            return 0;
        });
        while (const int next = walk.resume()) seen.push_back(next);
        EXPECT_EQ(seen, (std::vector{1, 2, 3, 4, 5}));
    });
}

struct counted {
    int* alive;
    explicit counted(int& count) : alive(&count) { ++*alive; }
    ~counted() { --*alive; }
    counted(const counted&) = delete;
};

TEST_P(coroutine, destructor_unwinds_stack_of_suspended_coroutine) {
    int alive = 0;
    runtime.run([&] {
        {
            sennit::coroutine<> one([&](auto& self) {
                counted outer(alive);
                try {
                    counted inner(alive);
                    self.suspend();
                } catch (const std::exception&) {
                    ADD_FAILURE() << "the unwinding is no std::exception";
                }
            });
            one.resume();
            EXPECT_EQ(alive, 2);
        }
        EXPECT_EQ(alive, 0);
    });
}

TEST_P(coroutine, coroutine_that_is_never_resumed_takes_no_stack_and_never_runs) {
    int ran = 0;
    {
        sennit::coroutine<> one([&](auto&) { ++ran; });
    }
    EXPECT_EQ(ran, 0);
}

TEST_P(coroutine, exception_of_coroutine_travels_to_its_resumer) {
    runtime.run([] {
        sennit::coroutine<> one([](auto& self) {
            self.suspend();
            throw std::runtime_error("inside");
        });
        one.resume();
        EXPECT_THROW(one.resume(), std::runtime_error);
        EXPECT_TRUE(one.done());
    });
}

TEST_P(coroutine, raise_throws_exception_where_coroutine_is_suspended) {
    runtime.run([] {
        sennit::coroutine<void, int> one([](auto& self) {
            try {
                self.suspend(1);
            } catch (const std::out_of_range&) {
                self.suspend(2);
            }
            return 3;
        });
        EXPECT_EQ(one.resume(), 1);
        EXPECT_EQ(one.raise(std::make_exception_ptr(std::out_of_range("x"))), 2);
        EXPECT_EQ(one.resume(), 3);
        sennit::coroutine<> fresh([](auto&) {});
        EXPECT_THROW(fresh.raise(std::make_exception_ptr(std::out_of_range("x"))),
                     std::out_of_range);
        EXPECT_TRUE(fresh.done());
    });
}

// The coroutine and its resumer each have a record of exceptions in flight.
TEST_P(coroutine, coroutine_suspends_inside_catch_block_and_resumes_inside_another) {
    runtime.run([] {
        sennit::coroutine<> one([](auto& self) {
            try {
                throw 1;
            } catch (int value) {
                self.suspend();
                EXPECT_EQ(value, 1);
                EXPECT_TRUE(std::current_exception());
            }
            EXPECT_FALSE(std::current_exception());
        });
        one.resume();
        EXPECT_FALSE(std::current_exception());
        try {
            throw 2;
        } catch (int) {
            one.resume();
            try {
                throw;
            } catch (int value) {
                EXPECT_EQ(value, 2);
            }
        }
    });
}

TEST_P(coroutine, coroutines_transfer_control_in_a_circle) {
    runtime.run([] {
        std::string order;
        std::array<std::unique_ptr<sennit::coroutine<int, int>>, 3> ring;
        for (std::size_t i = 0; i < ring.size(); ++i)
            ring[i] = std::make_unique<sennit::coroutine<int, int>>(
                [&ring, &order, i](auto& self, int ball) {
                    while (ball > 0) {
                        order += static_cast<char>('a' + i);
                        ball = self.transfer(*ring[(i + 1) % 3], ball - 1);
                    }
                    return 100 + static_cast<int>(i); // the answer of the coroutine that ends
                });
        EXPECT_EQ(ring[0]->resume(7), 101);
        EXPECT_EQ(order, "abcabca");
        EXPECT_TRUE(ring[1]->done());
        EXPECT_FALSE(ring[0]->done());
    });
}

// The resumer records in the handle where the body is suspended. It must not write there when the
// coroutine has moved to another handle.
TEST_P(coroutine, handle_may_be_moved_while_its_coroutine_runs) {
    runtime.run([] {
        std::vector<sennit::coroutine<void, int>> all;
        sennit::coroutine<void, int> swapped([](auto& self) {
            for (int i = 100;; ++i) self.suspend(i);
            return 0;
        });
        all.emplace_back([&](auto& self) {
            for (int i = 0;; ++i) {
                if (i % 2 == 0) {
                    std::vector<sennit::coroutine<void, int>> elsewhere(
                        std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
                    // Frees the memory of the handle that was resumed.
                    all.swap(elsewhere);
                }
                if (i == 5) std::swap(all[0], swapped);
                self.suspend(i);
            }
            return 0;
        });
        for (int i = 0; i < 6; ++i) EXPECT_EQ(all[0].resume(), i);
        EXPECT_EQ(all[0].resume(), 100);
        EXPECT_EQ(swapped.resume(), 6);
        EXPECT_EQ(all[0].resume(), 101);
        EXPECT_EQ(swapped.resume(), 7);
    });
}

// After a coroutine has received control by a transfer, or has passed it on, its next resumer finds
// it where it is now suspended, not where it was before.
TEST_P(coroutine, coroutine_may_be_resumed_after_transfers_and_moves) {
    runtime.run([] {
        using part = sennit::coroutine<void, std::string>;
        auto second = std::make_unique<part>([](auto& self) {
            for (int i = 0;; ++i) self.suspend("second " + std::to_string(i));
            return std::string();
        });
        auto first = std::make_unique<part>([&](auto& self) {
            self.suspend("first");
            self.transfer(*second);
            self.suspend("first again");
            self.transfer(*second);
            return std::string("first's end");
        });
        EXPECT_EQ(first->resume(), "first");
        EXPECT_EQ(second->resume(), "second 0");
        EXPECT_EQ(first->resume(), "second 1");
        first = std::make_unique<part>(std::move(*first));
        EXPECT_EQ(second->resume(), "second 2");
        EXPECT_EQ(first->resume(), "first again");
        EXPECT_EQ(first->resume(), "second 3");
        second = std::make_unique<part>(std::move(*second));
        EXPECT_EQ(second->resume(), "second 4");
        EXPECT_EQ(first->resume(), "first's end");
        EXPECT_TRUE(first->done());
        EXPECT_EQ(second->resume(), "second 5");
    });
}

TEST_P(coroutine, transfer_returns_to_coroutine_whose_handle_was_moved) {
    runtime.run([] {
        using part = sennit::coroutine<void, int>;
        std::unique_ptr<part> first;
        part second([&](auto& self) {
            for (;;) {
                // The resumer of `first` still waits for an answer.
                first = std::make_unique<part>(std::move(*first));
                self.transfer(*first);
            }
            return 0;
        });
        first = std::make_unique<part>([&](auto& self) {
            for (int i = 0;; ++i) {
                self.transfer(second);
                self.suspend(i);
            }
            return 0;
        });
        for (int i = 0; i < 4; ++i) EXPECT_EQ(first->resume(), i);
    });
}

TEST_P(coroutine, coroutine_resumes_inner_coroutine_in_a_chain) {
    runtime.run([] {
        sennit::coroutine<void, int> inner([](auto& self) {
            for (int i = 1;; ++i) self.suspend(i);
            return 0;
        });
        sennit::coroutine<void, int> squares([&](auto& self) {
            for (;;) {
                const int i = inner.resume();
                self.suspend(i * i);
            }
            return 0;
        });
        EXPECT_EQ(squares.resume(), 1);
        EXPECT_EQ(squares.resume(), 4);
        EXPECT_EQ(squares.resume(), 9);
    });
}

TEST_P(coroutine, other_fibers_and_threads_resume_coroutine) {
    adder sum(&add_up);
    int total = 0;
    for (int i = 1; i <= 30; ++i) {
        if (i % 3 == 0)
            std::thread([&] { EXPECT_EQ(sum.resume(i), total += i); }).join();
        else
            runtime.run(
                [&] { sennit::fiber([&] { EXPECT_EQ(sum.resume(i), total += i); }).join(); });
    }
}

// A coroutine that blocks blocks its resumer as a whole. The resumer may continue on another
// thread.
TEST_P(coroutine, coroutine_that_blocks_blocks_its_resumer) {
    runtime.run([] {
        sennit::mutex lock;
        sennit::event begun;
        std::vector<int> order;
        std::unique_lock held(lock);
        sennit::fiber resumer([&] {
            sennit::coroutine<> one([&](auto& self) {
                for (int i = 0; i < 3; ++i) {
                    begun.set();
                    {
                        std::lock_guard guard(lock);
                        order.push_back(i);
                        // Yields inside the coroutine, where forks and locks belong to the resumer.
                        sennit::this_fiber::yield();
                    }
                    auto [a, b] = sennit::fork_join([&] { return i; }, [&] { return i + 1; });
                    EXPECT_EQ(a + 1, b);
                    self.suspend();
                }
            });
            for (int i = 0; i < 4; ++i) one.resume();
            EXPECT_TRUE(one.done());
        });
        begun.wait();
        EXPECT_TRUE(order.empty());
        held.unlock();
        resumer.join();
        EXPECT_EQ(order, (std::vector{0, 1, 2}));
    });
}

TEST_P(coroutine, hundreds_of_coroutines_live_at_the_same_time) {
    runtime.run([] {
        std::vector<sennit::coroutine<void, int>> all;
        for (int i = 0; i < 300; ++i)
            all.emplace_back([i](auto& self) {
                for (int k = 0;; ++k) self.suspend(i + k);
                return 0;
            });
        for (int k = 0; k < 3; ++k)
            for (int i = 0; i < 300; ++i)
                EXPECT_EQ(all[static_cast<std::size_t>(i)].resume(), i + k);
    });
}

class coroutine_death_test : public testing::Test {
protected:
    void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(coroutine_death_test, misuse_ends_the_program_with_a_message) {
    EXPECT_DEATH(
        {
            sennit::coroutine<> one([](auto&) {});
            one.resume();
            one.resume();
        },
        "sennit: \\[SNT-304\\] a coroutine was resumed after its end");
    EXPECT_DEATH(
        {
            sennit::coroutine<>* self = nullptr;
            sennit::coroutine<> one([&](auto&) { self->resume(); });
            self = &one;
            one.resume();
        },
        "\\[SNT-305\\] a coroutine was resumed while it runs");
    EXPECT_DEATH(
        {
            std::unique_ptr<sennit::coroutine<>> one;
            one = std::make_unique<sennit::coroutine<>>([&](auto&) { one.reset(); });
            one->resume();
        },
        "\\[SNT-311\\] a coroutine was destroyed while it runs");
    EXPECT_DEATH(
        {
            sennit::coroutine<> one([](auto& self) {
                try {
                    self.suspend();
                } catch (...) {
                    self.suspend();
                }
            });
            one.resume();
        },
        "\\[SNT-303\\] a coroutine's body suspended while the coroutine is destroyed");
    EXPECT_DEATH(sennit::runtime({.workers = 1}).run([] {
        sennit::coroutine<> one(
            [](auto& self) { sennit::fork_join([&] { self.suspend(); }, [] {}); });
        one.resume();
    }),
                 "\\[SNT-302\\] a coroutine is suspended inside a fork");
}

} // namespace
