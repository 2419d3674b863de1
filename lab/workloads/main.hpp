// SPDX-License-Identifier: Apache-2.0
// The workloads of forks, and the program that runs them.
//
// A runtime supplies a class with a constructor from the number of threads and these members:
//
//   run(f)                   calls f where forks are possible, and returns the result of f
//   both(f, g), all(f, g, h, i), sum<Most>(count, f)
//                            the forms of a fork that the workloads need; Most is an upper bound of
//                            count, or 0 if there is none
#pragma once

#include "fib.hpp"
#include "matmul.hpp"
#include "nqueens.hpp"
#include "program.hpp"
#include "skynet.hpp"
#include "uts.hpp"

namespace lab {

template <class R>
struct forks {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "fib") return measure<R>(fib<R>(size), threads);
        if (name == "skynet") return measure<R>(skynet<R>(size), threads);
        if (name == "nqueens") return measure<R>(nqueens<R>(size), threads);
        if (name == "matmul") return measure<R>(matmul<R>(size), threads);
        if (name == "uts") return measure<R>(uts<R>(size), threads);
        return std::nullopt;
    }
};

template <class R>
int main_for(int argc, char** argv) {
    return program<forks<R>>(argc, argv);
}

// The workloads of cilk/main.hpp, graph/main.hpp, algorithms/main.hpp, tasks/tasks.toml,
// io/server.hpp and files/main.hpp, in source files of their own: the exit status, or nothing if
// the name is not among them.
std::optional<int> run_forks(const std::string& name, const std::string& size, unsigned threads);
std::optional<int> run_cilk(const std::string& name, const std::string& size, unsigned threads);
std::optional<int> run_graph(const std::string& name, const std::string& size, unsigned threads);
std::optional<int> run_algorithms(const std::string& name, const std::string& size,
                                  unsigned threads);
std::optional<int> run_tasks(const std::string& name, const std::string& size, unsigned threads);
std::optional<int> run_io(const std::string& name, const std::string& size, unsigned threads);
std::optional<int> run_files(const std::string& name, const std::string& size, unsigned threads);

using workload_table = std::optional<int> (*)(const std::string& name, const std::string& size,
                                              unsigned threads);
template <workload_table Run>
struct elsewhere {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        return Run(name, size, threads);
    }
};

template <class R>
int main_with_cilk(int argc, char** argv) {
    return program<forks<R>, elsewhere<run_cilk>>(argc, argv);
}
// For programs that have the workloads of algorithms/main.hpp and graph/main.hpp, too.
template <class R>
int main_with_all_tables(int argc, char** argv) {
    return program<forks<R>, elsewhere<run_cilk>, elsewhere<run_graph>, elsewhere<run_algorithms>>(
        argc, argv);
}

} // namespace lab
