// SPDX-License-Identifier: Apache-2.0
// Photon (PhotonLibOS): its threads, which are fibers, on one vcpu for each thread of the system.
// The vcpus have no event engine, since no workload waits for files. A stack has 16 KiB. One page
// of it is the guard, and up to another page is left out, to spread the stacks over the caches.
//
// The library moves no thread by itself unless stealing is switched on, and with stealing, waits do
// not end here, or crash. With several vcpus, a new thread therefore goes to the vcpu with the
// fewest threads that can run, and stays there. A thread that stays on its own vcpu, as all do with
// one vcpu, runs immediately (`thread_yield_to`, as in the library's own work pool). It has then
// often ended before it is joined, and a tree is walked depth first.
#include "fibers/main.hpp"
#include "fibers/scaling.hpp"

#include <photon/common/alog.h>
#include <photon/common/lockfree_queue.h>
#include <photon/thread/go.h>
#include <photon/thread/stack-allocator.h>
#include <photon/thread/thread.h>

#include <chrono>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <new>
#include <thread>

namespace {

// A guard page for each stack would exceed the kernel's limit on mappings.
inline void use_stacks_without_guard_pages() {
    photon::set_photon_thread_stack_allocator(
        {[](void*, std::size_t size) { return std::malloc(size); }, nullptr},
        {[](void*, void* stack, std::size_t) { std::free(stack); }, nullptr});
}

class vcpus {
public:
    explicit vcpus(unsigned count) : all_(count), started_(count) {
        set_log_output(log_output_stderr);
        for (unsigned i = 1; i < count; ++i)
            others_.emplace_back([this, i] {
                begin(i);
                over_.wait(1);
                photon::vcpu_fini();
            });
        begin(0);
        started_.wait();
    }
    ~vcpus() {
        over_.signal(others_.size());
        for (auto& other : others_) other.join();
        photon::vcpu_fini();
    }
    // The vcpu for one more thread, which does not count yet. The calling thread is runnable, but
    // about to yield.
    photon::vcpu_base* best() const {
        photon::vcpu_base* found = photon::get_vcpu();
        if (all_.size() == 1) return found;
        std::uint64_t fewest = runnable(found) - 1;
        for (photon::vcpu_base* one : all_)
            if (const std::uint64_t there = runnable(one); there < fewest)
                found = one, fewest = there;
        return found;
    }

private:
    void begin(unsigned i) {
        if (photon::vcpu_init() < 0) throw std::runtime_error("no vcpu");
        all_[i] = photon::get_vcpu();
        started_.count_down();
    }
    static std::uint64_t runnable(photon::vcpu_base* one) {
        return photon::get_info(photon::INFO_RUNNABLE_THREAD_NUM, one);
    }

    std::vector<photon::vcpu_base*> all_;
    std::latch started_;
    std::vector<std::thread> others_;
    photon::semaphore over_;
};

struct fibers_of_photon {
    static constexpr std::size_t stack_size = 16 * 1024; // the smallest that the library allows
    static inline std::optional<vcpus> where;

    explicit fibers_of_photon(unsigned threads) {
        photon::use_pooled_stack_allocator();
        where.emplace(threads);
    }
    fibers_of_photon(unsigned threads, lab::many_blocked) {
        use_stacks_without_guard_pages();
        where.emplace(threads);
    }
    ~fibers_of_photon() { where.reset(); }
    template <class F>
    auto run(F f) {
        return f();
    }

    struct fiber {
        photon::thread* thread = nullptr;
        void join() const { photon::thread_join(reinterpret_cast<photon::join_handle*>(thread)); }
    };
    template <class F>
    static fiber start(F f) {
        photon::vcpu_base* const to = where->best();
        photon::thread* const made = photon::thread_create(
            [](void*) -> void* {
                F* const function = photon::thread_reserved_space<F>(photon::CURRENT);
                (*function)();
                function->~F();
                return nullptr;
            },
            nullptr, stack_size, sizeof(F), photon::THREAD_JOINABLE);
        if (!made) throw std::bad_alloc();
        new (photon::thread_reserved_space<F>(made)) F(std::move(f));
        if (to == photon::get_vcpu())
            photon::thread_yield_to(made);
        else
            photon::thread_migrate(made, to);
        return {made};
    }
    static constexpr bool nothing_interrupts = true; // no transfer
    static void yield() { photon::thread_yield(); }

    // The library reads its own clock, which may be half a millisecond late, and counts in whole
    // microseconds.
    template <class D>
    static void sleep_for(D duration) {
        photon::__update_now();
        photon::thread_usleep(microseconds(duration) + 1);
    }

    using mutex = photon::mutex;
    struct condition_variable : photon::condition_variable {
        template <class Ready>
        void wait(std::unique_lock<mutex>& lock, Ready ready) {
            photon::condition_variable::wait(*lock.mutex(), ready);
        }
    };

    class semaphore {
    public:
        void acquire() { tokens_.wait(1); }
        void release() { tokens_.signal(1); }

    private:
        photon::semaphore tokens_;
    };

    // The semaphore has more tokens than waiters.
    class event {
    public:
        void wait() { tokens_.wait(1); }
        template <class D>
        bool wait_for(D duration) {
            return tokens_.wait(1, microseconds(duration)) == 0;
        }
        void set() { tokens_.signal(std::uint64_t{1} << 40); }

    private:
        photon::semaphore tokens_;
    };
    template <class D>
    static bool wait_for(event& gate, D duration) {
        return gate.wait_for(duration);
    }

    template <class T>
    class rendezvous {
    public:
        void push(T value) { values_.send(value); }
        T pop() { return values_.recv().first; }

    private:
        photon::channel<T> values_;
    };
    template <class T>
    class buffered { // rounds the capacity up to a power of two
        using channel = photon::common::FlexRingChannel<FlexLockfreeMPMCRingQueue<T>>;

    public:
        explicit buffered(std::size_t capacity) : values_(channel::create(capacity)) {
            if (!values_) throw std::bad_alloc();
        }
        ~buffered() { channel::destroy(values_); }
        buffered(const buffered&) = delete;
        void push(T value) { values_->template send<PhotonPause>(value); }
        T pop() { return values_->recv(); }

    private:
        channel* values_;
    };

private:
    template <class D>
    static std::uint64_t microseconds(D duration) {
        return static_cast<std::uint64_t>(
            std::chrono::ceil<std::chrono::microseconds>(duration).count());
    }
};

} // namespace

int main(int argc, char** argv) {
    return lab::program<lab::fibers<fibers_of_photon>, lab::scaling<fibers_of_photon>>(argc, argv);
}
