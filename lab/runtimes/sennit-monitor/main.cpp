// SPDX-License-Identifier: Apache-2.0
// Sennit's monitors, between fibers. `create` creates and joins an active object.
#include "control/main.hpp"
#include "../sennit/with_runtime.hpp"

#include <sennit/active.hpp>
#include <sennit/monitor.hpp>

#include <tuple>

struct with_monitors : with_fibers {
    using with_fibers::with_fibers;
    struct one : sennit::monitor {};
    template <class... M>
    [[gnu::noinline]] static void member(M&... all) {
        auto in = sennit::enter<&with_monitors::member<M...>>(all...);
    }

    template <class... M>
    class group {
    public:
        void call() {
            std::apply([](auto&... each) { member(each...); }, all_);
        }
        template <class F>
        void hold(F f) {
            std::apply(
                [&](auto&... each) {
                    auto in = sennit::enter(each...);
                    f();
                },
                all_);
        }
        void wait() { changed_.wait(); }
        [[gnu::noinline]] void signal() {
            std::apply(
                [&](auto&... each) {
                    auto in = sennit::enter(each...);
                    changed_.signal();
                },
                all_);
        }
        void accept() {
            std::apply(
                [](auto&... each) {
                    sennit::waitfor(sennit::accept<&with_monitors::member<M...>>(each...));
                },
                all_);
        }

    private:
        std::tuple<M...> all_;
        sennit::condition changed_ =
            std::apply([](auto&... each) { return sennit::condition(each...); }, all_);
    };
    template <std::size_t k>
    using monitors =
        std::conditional_t<k == 1, group<one>,
                           std::conditional_t<k == 2, group<one, one>, group<one, one, one, one>>>;

    struct empty : sennit::monitor {
        void run() {}
    };
    static void create_one() { sennit::active<empty> here; }
};

int main(int argc, char** argv) {
    return lab::program<lab::control<with_monitors>>(argc, argv);
}
