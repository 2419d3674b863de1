// SPDX-License-Identifier: Apache-2.0
#include "savina.hpp"

#include "../sennit/with_runtime.hpp"
#include "savina_parallel.hpp"
#include "savina_shared.hpp"
#include "savina_small.hpp"

namespace lab {

std::optional<int> savina_actors::run(const std::string& name, const std::string& size,
                                      unsigned threads) {
    using runtime = with_runtime;
    if (name == "savina-throughput") return measure<runtime>(savina::throughput(size), threads);
    if (name == "savina-create") return measure<runtime>(savina::create_many(size), threads);
    if (name == "savina-fib") return measure<runtime>(savina::fib(size), threads);
    if (name == "savina-chameneos") return measure<runtime>(savina::chameneos(size), threads);
    if (name == "savina-big") return measure<runtime>(savina::big(size), threads);
    if (name == "savina-dictionary")
        return measure<runtime>(savina::concurrent_dictionary(size), threads);
    if (name == "savina-list") return measure<runtime>(savina::concurrent_list(size), threads);
    if (name == "savina-buffer") return measure<runtime>(savina::bounded(size), threads);
    if (name == "savina-philosophers") return measure<runtime>(savina::philosophers(size), threads);
    if (name == "savina-barber") return measure<runtime>(savina::sleeping_barber(size), threads);
    if (name == "savina-smokers") return measure<runtime>(savina::cigarette_smokers(size), threads);
    if (name == "savina-logistic") return measure<runtime>(savina::logistic(size), threads);
    if (name == "savina-bank") return measure<runtime>(savina::bank(size), threads);
    if (name == "savina-radix") return measure<runtime>(savina::radix(size), threads);
    if (name == "savina-quicksort") return measure<runtime>(savina::quicksort(size), threads);
    if (name == "savina-sieve") return measure<runtime>(savina::sieve(size), threads);
    if (name == "savina-trapezoid") return measure<runtime>(savina::trapezoid(size), threads);
    if (name == "savina-queens") return measure<runtime>(savina::queens(size), threads);
    if (name == "savina-matmul") return measure<runtime>(savina::matmul_of_actors(size), threads);
    if (name == "savina-paths") return measure<runtime>(savina::paths(size), threads);
    return std::nullopt;
}

} // namespace lab
