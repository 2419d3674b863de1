// SPDX-License-Identifier: Apache-2.0
// expect-error: so they must be copyable
// A supervisor cannot make a child a second time from arguments that can only move.
#include "sennit/actor.hpp"

#include <memory>
#include <utility>

struct ping {};
struct keeper : sennit::actor<keeper, ping> {
    explicit keeper(std::shared_ptr<int>) {}
    void on(ping) {}
};
#ifdef SENNIT_EXPECT_ERROR
sennit::child<keeper> use(std::unique_ptr<int> one) {
    return sennit::child<keeper>({}, std::move(one));
}
#else
sennit::child<keeper> use(std::shared_ptr<int> one) {
    return sennit::child<keeper>({}, std::move(one));
}
#endif
