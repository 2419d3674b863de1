// SPDX-License-Identifier: Apache-2.0
#include "../sennit/with_runtime.hpp"
#include "savina.hpp"
#include "savina_networks.hpp"
#include "savina_pools.hpp"
#include "savina_trees.hpp"

namespace lab {

std::optional<int> more_savina_actors::run(const std::string& name, const std::string& size,
                                           unsigned threads) {
    using runtime = with_runtime;
    if (name == "savina-piprecision") return measure<runtime>(savina::piprecision(size), threads);
    if (name == "savina-sor") return measure<runtime>(savina::sor(size), threads);
    if (name == "savina-uct") return measure<runtime>(savina::uct(size), threads);
    if (name == "savina-bitonicsort") return measure<runtime>(savina::bitonicsort(size), threads);
    return std::nullopt;
}

} // namespace lab
