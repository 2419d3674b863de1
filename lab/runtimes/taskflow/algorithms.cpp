// SPDX-License-Identifier: Apache-2.0
// The algorithms of taskflow, each as a flow of one task.
#include "algorithms/main.hpp"

#include <functional>

#include <taskflow/algorithm/find.hpp>
#include <taskflow/algorithm/reduce.hpp>
#include <taskflow/algorithm/scan.hpp>
#include <taskflow/algorithm/sort.hpp>
#include <taskflow/algorithm/transform.hpp>
#include <taskflow/taskflow.hpp>

namespace {

struct taskflow_algorithms {
    tf::Executor executor;
    explicit taskflow_algorithms(unsigned threads) : executor(threads) {}

    template <class Add>
    void run_flow(const Add& add) {
        tf::Taskflow flow;
        add(flow);
        executor.run(flow).wait();
    }

    void sort(lab::numbers& v) {
        run_flow([&](tf::Taskflow& flow) { flow.sort(v.begin(), v.end()); });
    }
    void scan(const lab::numbers& in, lab::numbers& out) {
        run_flow([&](tf::Taskflow& flow) {
            flow.inclusive_scan(in.begin(), in.end(), out.begin(), std::plus<>());
        });
    }
    lab::number reduce(const lab::numbers& in) {
        lab::number sum = 0;
        run_flow(
            [&](tf::Taskflow& flow) { flow.reduce(in.begin(), in.end(), sum, std::plus<>()); });
        return sum;
    }
    void transform(const lab::numbers& in, lab::numbers& out) {
        run_flow([&](tf::Taskflow& flow) {
            flow.transform(in.begin(), in.end(), out.begin(), lab::changed);
        });
    }
    std::size_t find(const lab::numbers& in, lab::number wanted) {
        lab::numbers::const_iterator found;
        run_flow([&](tf::Taskflow& flow) {
            flow.find_if(in.begin(), in.end(), found,
                         [wanted](lab::number v) { return v == wanted; });
        });
        return static_cast<std::size_t>(found - in.begin());
    }
};

} // namespace

std::optional<int> lab::run_algorithms(const std::string& name, const std::string& size,
                                       unsigned threads) {
    return algorithms<taskflow_algorithms>::run(name, size, threads);
}
