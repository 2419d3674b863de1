// SPDX-License-Identifier: Apache-2.0
// The benchmarks of Savina for Sennit's actors.
#pragma once

#include <optional>
#include <string>

namespace lab {

struct savina_actors {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads);
};
// The parallel benchmarks of savina_more.cpp, a file of their own because both files take long to
// compile.
struct more_savina_actors {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads);
};
// Those of savina_last.cpp.
struct last_savina_actors {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads);
};

} // namespace lab
