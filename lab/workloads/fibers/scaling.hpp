// SPDX-License-Identifier: Apache-2.0
// The workloads that show the gain and the cost of a second worker, for a class as of main.hpp.
#pragma once

#include "create_block.hpp"
#include "each.hpp"
#include "main.hpp"
#include "pairs.hpp"
#include "pool.hpp"
#include "skynet_blocking.hpp"

namespace lab {

template <class R>
struct scaling {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "skynet-rendezvous") return measure<R>(skynet_rendezvous<R>(size), threads);
        if constexpr (requires(typename R::fiber one) { one.detach(); })
            if (name == "skynet-receive") return measure<R>(skynet_receive<R>(size), threads);
        if (name == "pairs") return measure<R>(pairs<R>(size), threads);
        if (name == "mutex-each") return measure<R>(mutex_each<R>(size, threads), threads);
        if (name == "channel-each") return measure<R>(channel_each<R>(size, threads), threads);
        if (name == "fiber-create-block") return measure<R>(fiber_create_block<R>(size), threads);
        if (name == "pool-0") return measure<R>(pool<R>(size, 0), threads);
        if (name == "pool-200ns")
            return measure<R>(pool<R>(size, steps_per_microsecond / 5), threads);
        if (name == "pool-1us") return measure<R>(pool<R>(size, steps_per_microsecond), threads);
        if (name == "pool-5us")
            return measure<R>(pool<R>(size, 5 * steps_per_microsecond), threads);
        return std::nullopt;
    }
};

} // namespace lab
