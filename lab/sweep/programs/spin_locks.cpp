// SPDX-License-Identifier: Apache-2.0
// A lock that guards eight words, under contention of 1, 2, 4 … threads that do nothing else: the
// nanoseconds of one lock and unlock. Locks: test-and-test-and-set that yields to the system after
// 64 pauses; test-and-set with pauses that double; a ticket lock; an MCS lock; std::mutex.
//
//     spin_locks [MOST_THREADS]
#include "measure.hpp"

#include <atomic>
#include <mutex>
#include <thread>

using namespace sweep;

namespace {

class alignas(128) test_and_set {
public:
    void lock() {
        for (unsigned round = 0; word_.exchange(1, std::memory_order_acquire) != 0; ++round)
            while (word_.load(std::memory_order_relaxed) != 0) {
                if (round++ < 64)
                    relax();
                else
                    sched_yield();
            }
    }
    void unlock() { word_.store(0, std::memory_order_release); }

private:
    std::atomic<unsigned> word_{0};
};

class alignas(128) backoff {
public:
    void lock() {
        for (unsigned pauses = 1; word_.exchange(1, std::memory_order_acquire) != 0;
             pauses = std::min(2 * pauses, 256u))
            for (unsigned i = 0; i < pauses; ++i) relax();
    }
    void unlock() { word_.store(0, std::memory_order_release); }

private:
    std::atomic<unsigned> word_{0};
};

class alignas(128) ticket {
public:
    void lock() {
        const std::uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
        for (std::uint32_t now; (now = serving_.load(std::memory_order_acquire)) != mine;)
            for (std::uint32_t i = 0; i < 8 * (mine - now); ++i) relax();
    }
    void unlock() {
        serving_.store(serving_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

private:
    std::atomic<std::uint32_t> next_{0};
    alignas(128) std::atomic<std::uint32_t> serving_{0};
};

class alignas(128) mcs {
public:
    void lock() {
        node& me = mine();
        me.next.store(nullptr, std::memory_order_relaxed);
        me.waits.store(true, std::memory_order_relaxed);
        node* const before = tail_.exchange(&me, std::memory_order_acq_rel);
        if (!before) return;
        before->next.store(&me, std::memory_order_release);
        while (me.waits.load(std::memory_order_acquire)) relax();
    }
    void unlock() {
        node& me = mine();
        node* next = me.next.load(std::memory_order_acquire);
        if (!next) {
            node* expected = &me;
            if (tail_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) return;
            while (!(next = me.next.load(std::memory_order_acquire))) relax();
        }
        next->waits.store(false, std::memory_order_release);
    }

private:
    struct alignas(128) node {
        std::atomic<node*> next{nullptr};
        std::atomic<bool> waits{false};
    };
    static node& mine() {
        static thread_local node one;
        return one;
    }

    std::atomic<node*> tail_{nullptr};
};

template <class Lock>
double pair_ns(const std::vector<unsigned>& list, unsigned threads) {
    Lock lock;
    alignas(128) std::uint64_t guarded[8] = {};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> total{0};
    std::vector<std::thread> all;
    const std::int64_t start = now_ns();
    for (unsigned i = 0; i < threads; ++i)
        all.emplace_back([&, i] {
            pin(list, i);
            std::uint64_t n = 0;
            for (; !stop.load(std::memory_order_relaxed); ++n) {
                const std::lock_guard guard(lock);
                for (auto& word : guarded) ++word;
            }
            total.fetch_add(n);
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
    for (std::thread& one : all) one.join();
    return static_cast<double>(now_ns() - start) / static_cast<double>(total.load());
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<unsigned> list = processors();
    const unsigned most = count(argc, argv, 1, static_cast<unsigned>(list.size()));
    for (unsigned threads = 1; threads <= most; threads *= 2)
        row("spin_locks")
            .add("threads", threads)
            .add("test_and_set_ns", pair_ns<test_and_set>(list, threads))
            .add("backoff_ns", pair_ns<backoff>(list, threads))
            .add("ticket_ns", pair_ns<ticket>(list, threads))
            .add("mcs_ns", pair_ns<mcs>(list, threads))
            .add("std_mutex_ns", pair_ns<std::mutex>(list, threads))
            .print();
}
