// SPDX-License-Identifier: Apache-2.0
#include "../sennit/with_runtime.hpp"
#include "savina.hpp"
#include "savina_banks.hpp"

namespace lab {

std::optional<int> last_savina_actors::run(const std::string& name, const std::string& size,
                                           unsigned threads) {
    using runtime = with_runtime;
    if (name == "savina-filterbank") return measure<runtime>(savina::filterbank(size), threads);
    if (name == "savina-astar") return measure<runtime>(savina::astar(size), threads);
    if (name == "savina-facloc") return measure<runtime>(savina::facloc(size), threads);
    return std::nullopt;
}

} // namespace lab
