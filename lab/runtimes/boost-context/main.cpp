// SPDX-License-Identifier: Apache-2.0
// Boost.Context: fcontext in the form of its class `fiber`, with a stack of the default size. A
// fiber of the workloads is one such context in a queue. A fiber that yields moves to the end of
// the queue and jumps to the first context. This runtime has no channels, locks or timers.
#include "control/main.hpp"
#include "fibers/main.hpp"

#include <boost/context/fiber.hpp>

#include <deque>
#include <memory>
#include <utility>

struct with_boost_context {
    explicit with_boost_context(unsigned) {}
    template <class F>
    auto run(F f) {
        return f();
    }
    using fiber_type = boost::context::fiber;

    class suspended {
    public:
        void resume() { body_ = std::move(body_).resume(); }

    private:
        fiber_type body_{[](fiber_type&& back) {
            for (;;) back = std::move(back).resume();
            return std::move(back);
        }};
    };
    [[gnu::noinline]] static void create_one() {
        fiber_type one([](fiber_type&& back) { return std::move(back); });
    }
};

struct fibers_of_boost_context {
    explicit fibers_of_boost_context(unsigned) {}
    template <class F>
    auto run(F f) {
        return f();
    }

    using context = boost::context::fiber;
    inline static std::deque<context> ready; // in the order in which they run

    struct life {
        bool ended = false;
        context joiner;
    };

    class fiber {
    public:
        fiber() = default;
        explicit fiber(std::shared_ptr<life> its) : its_(std::move(its)) {}
        void join() {
            if (!its_->ended) leave([this](context left) { its_->joiner = std::move(left); });
        }

    private:
        std::shared_ptr<life> its_;
    };

    template <class F>
    static fiber start(F f) {
        auto its = std::make_shared<life>();
        ready.emplace_back([f = std::move(f), its](context&&) mutable {
            f();
            its->ended = true;
            return its->joiner ? std::move(its->joiner) : next();
        });
        return fiber(std::move(its));
    }
    static void yield() {
        if (!ready.empty()) leave([](context left) { ready.push_back(std::move(left)); });
    }

private:
    static context next() {
        context first = std::move(ready.front());
        ready.pop_front();
        return first;
    }
    // Leaves the calling context. Calls `keep` with that context, on the stack of the next one.
    template <class Keep>
    static void leave(Keep keep) {
        (void)next().resume_with([keep](context&& left) {
            keep(std::move(left));
            return context();
        });
    }
};

int main(int argc, char** argv) {
    return lab::program<lab::control<with_boost_context>, lab::fibers<fibers_of_boost_context>>(
        argc, argv);
}
