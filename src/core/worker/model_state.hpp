// SPDX-License-Identifier: Apache-2.0
// State that a model keeps for each worker, or for each runtime. The core makes it and destroys it
// (model_hooks.hpp), and knows nothing else of it.
#pragma once

namespace sennit::sched {

struct model_state {
    model_state() = default;
    model_state(const model_state&) = delete;
    virtual ~model_state() = default;
};

} // namespace sennit::sched
