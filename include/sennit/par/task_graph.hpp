// SPDX-License-Identifier: Apache-2.0
// par::task_graph: a graph of functions that is built once and run many times, in parallel and in
// the order of its edges.
//
//     sennit::par::task_graph g;
//     auto raw = g.add(load);                                         // node<image>
//     auto soft = g.add([](const image& i) { return blur(i); }, raw); // gets the result of `raw`
//     g.add(log_done).after(raw, soft);                               // order only
//     g.run();
//
// Use it for a fixed structure of dependent steps that runs repeatedly. For a tree of calls use
// `fork_join`, for independent elements `par::for_each`, for steps that are known only while the
// program runs `future`. A loop or a branch is C++ code inside a node, which may run another graph.
//
// Guarantees. A node starts when all its predecessors have ended. It may wait in any call of
// Sennit, fork, loop, or run another graph; its worker then does other work, and never runs another
// node on top of it. A node that is ready and not started holds no stack. A system call in a node
// blocks its worker, unless it is wrapped in `sennit::blocking`.
// Exceptions. The first exception of a node cancels the run: nodes that have not started are
// dropped, and the blocked calls of running nodes throw `cancelled`. When all nodes have ended,
// `run` throws the exception of the lowest node, in the order of `add`, that threw.
// Cancellation. The start of a node is a point of cancellation. A run is a scope of its own:
// `cancel` ends the run and the graphs that its nodes run, and not the run around it. A nursery or
// with_timeout around `run` cancels the run. `run` then throws `cancelled`, unless all nodes had
// ended.
// Thread safety: `cancel` may be called from any thread while the graph lives. All other members
// are for one thread at a time, and not for use during a run. Different graphs may run at the same
// time.
//
// Cost on one worker: 5 ns for a node of a chain, 6 ns for a node of a wavefront, 30 ns for a node
// with four random predecessors (docs/internals/decisions/0053-task-graphs.md). Building takes
// about 50 ns for a node. A node takes about 60 bytes besides its function and result, an edge 12
// bytes. A run allocates memory only where more than 64 groups of nodes are ready at once.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/base/result.hpp"
#include "sennit/par/tokens.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sennit::par {

class task_graph;
template <class R>
class node;

// Figures of a measured run; see task_graph::report.
struct graph_report {
    std::chrono::nanoseconds work;          // the sum of the times of all nodes
    std::chrono::nanoseconds span;          // the sum of the times along the critical path
    std::vector<std::string> critical_path; // the names of its nodes, in order
    // The speed-up that no number of workers can exceed.
    double parallelism() const noexcept {
        return span.count() == 0
                   ? 1.0
                   : static_cast<double>(work.count()) / static_cast<double>(span.count());
    }
};

namespace detail {

class graph_core; // src/par/graph_core.hpp

using node_function = void (*)(void* body);
struct node_kind {
    node_function call;
    void (*destroy)(void* body) noexcept;
};

// The result of a node's last run.
template <class R>
class node_result {
public:
    node_result() noexcept {}
    ~node_result() { clear(); }
    node_result(const node_result&) = delete;

    template <class F>
    void store(F&& function) {
        clear();
        sennit::detail::store_result<R>(static_cast<void*>(&value_), std::forward<F>(function));
        full_ = true;
    }
    bool full() const noexcept { return full_; }
    std::remove_reference_t<R>& get() noexcept {
        if constexpr (std::is_reference_v<R>)
            return *value_;
        else
            return value_;
    }

private:
    void clear() noexcept {
        if (std::exchange(full_, false)) std::destroy_at(&value_);
    }
    union {
        sennit::detail::stored_t<R> value_;
    };
    bool full_ = false;
};
template <>
class node_result<void> {
public:
    template <class F>
    void store(F&& function) {
        std::forward<F>(function)();
    }
};

// The argument that a successor receives for a predecessor with result R: none for void.
template <class R>
auto argument_of(node_result<R>* from) noexcept {
    if constexpr (std::is_void_v<R>)
        return std::tuple<>();
    else if constexpr (std::is_reference_v<R>)
        return std::tuple<R>(static_cast<R>(from->get()));
    else
        return std::tuple<const R&>(from->get());
}
template <class... R>
using arguments_of = decltype(std::tuple_cat(argument_of(std::declval<node_result<R>*>())...));

template <class F, class Arguments>
struct applied : std::false_type {};
template <class F, class... A>
struct applied<F, std::tuple<A...>> : std::bool_constant<std::is_invocable_v<F&, A...>> {};
template <class F, class... R>
concept takes_results_of = applied<F, arguments_of<R...>>::value;

// True for the arguments that task_graph::add accepts behind its function.
template <class F, class... Rest>
inline constexpr bool may_add = false;
template <class F, class... R>
inline constexpr bool may_add<F, node<R>...> = takes_results_of<F, R...>;
template <class F, class... R>
inline constexpr bool may_add<F, uses, node<R>...> = takes_results_of<F, R...>;

template <class F, class... R>
using node_result_t = decltype(std::apply(std::declval<F&>(), std::declval<arguments_of<R...>>()));

template <class F, class... R>
struct node_body {
    using result_type = node_result_t<F, R...>;

    template <class G>
    node_body(G&& given, node_result<R>*... from)
        : function(std::forward<G>(given)), inputs(from...) {}

    static void call(void* body) {
        auto& me = *static_cast<node_body*>(body);
        me.result.store([&me]() -> result_type {
            return std::apply(
                [&me](auto*... from) -> result_type {
                    return std::apply(me.function, std::tuple_cat(argument_of(from)...));
                },
                me.inputs);
        });
    }
    static void destroy(void* body) noexcept { std::destroy_at(static_cast<node_body*>(body)); }
    static constexpr node_kind kind{&node_body::call, &node_body::destroy};

    F function;
    [[no_unique_address]] std::tuple<node_result<R>*...> inputs;
    [[no_unique_address]] node_result<result_type> result;
};

template <class T>
inline constexpr bool is_node = false;
template <class R>
inline constexpr bool is_node<node<R>> = true;
template <class T>
concept node_range =
    std::ranges::input_range<T> && is_node<std::remove_cvref_t<std::ranges::range_reference_t<T>>>;
template <class T>
concept node_or_nodes = is_node<std::remove_cvref_t<T>> || node_range<T>;

} // namespace detail

// A node of a graph: a small object that can be copied, valid as long as the graph lives. R is the
// type of the result of its function.
template <class R>
class node {
public:
    // Adds order edges: this node starts when the given nodes, or the nodes of the given ranges,
    // have ended. Throws std::bad_alloc. Ends the program if a node belongs to another graph.
    template <detail::node_or_nodes... Before>
    node after(const Before&... earlier) const {
        (link(earlier, [this](std::uint32_t other) { add_edge(other, index_); }), ...);
        return *this;
    }
    // Adds order edges: the given nodes start when this node has ended.
    template <detail::node_or_nodes... After>
    node before(const After&... later) const {
        (link(later, [this](std::uint32_t other) { add_edge(index_, other); }), ...);
        return *this;
    }
    // Sets the name, which reports, messages and DOT files use instead of `node 7`. Throws
    // std::bad_alloc.
    node name(std::string_view text) const;

    // Returns the result of the last run. For use after a run, and in nodes that start after this
    // node. The reference is valid until the node runs again. Ends the program if there is no
    // result.
    decltype(auto) result() const
        requires(!std::is_void_v<R>)
    {
        check_result(result_->full());
        return (result_->get());
    }

    // The position in the order of `add`, from 0.
    std::uint32_t index() const noexcept { return index_; }

private:
    friend class task_graph;
    template <class>
    friend class node;
    node(task_graph& graph, std::uint32_t index, detail::node_result<R>* result) noexcept
        : graph_(&graph), index_(index), result_(result) {}

    template <class Other, class Add>
    void link(const Other& other, Add add) const {
        if constexpr (detail::is_node<Other>) {
            check_same_graph(other.graph_);
            add(other.index_);
        } else {
            for (const auto& one : other) link(one, add);
        }
    }
    void add_edge(std::uint32_t from, std::uint32_t to) const;
    void check_same_graph(const task_graph* other) const noexcept;
    void check_result(bool there) const noexcept;

    task_graph* graph_;
    std::uint32_t index_;
    detail::node_result<R>* result_;
};

class task_graph {
public:
    // Creates a graph without nodes. Throws std::bad_alloc.
    task_graph();
    // Destroys the functions and results. The graph must not be running.
    ~task_graph();
    task_graph(const task_graph&) = delete;
    task_graph& operator=(const task_graph&) = delete;

    // Adds a node. It starts after all `inputs` and calls `function` with their results, by
    // reference to const, in the same order; an input of type void only orders. The function is
    // called once in each run. Does not block. Throws std::bad_alloc and the exceptions of copying
    // the function; the graph is unchanged then.
    template <class F, class... R>
        requires detail::takes_results_of<std::decay_t<F>, R...>
    auto add(F&& function, const node<R>&... inputs) {
        return add_node<F, R...>(nullptr, std::forward<F>(function), inputs...);
    }
    // Adds a node that starts only when a token is free.
    template <class F, class... R>
        requires detail::takes_results_of<std::decay_t<F>, R...>
    auto add(F&& function, uses limit, const node<R>&... inputs) {
        return add_node<F, R...>(limit.which_, std::forward<F>(function), inputs...);
    }
    // Explains a call that the other overloads refuse.
    template <class F, class... Rest>
        requires(!detail::may_add<std::decay_t<F>, Rest...>)
    base::refused_call add(F&&, const Rest&...) {
        static_assert(base::refused<F>,
                      "sennit: task_graph::add takes a function, then par::uses(tokens) if wanted, "
                      "then nodes; it calls the function with `const R&` for each node whose "
                      "result R is not void");
        return {};
    }

    // Runs every node once and blocks the calling fiber or thread until all have ended; on a thread
    // that is no worker the nodes run on the default runtime. The first run after a change prepares
    // the graph. Throws std::invalid_argument if the graph has a cycle, std::bad_alloc, and the
    // exceptions named in the head of this file. Ends the program if the graph is running.
    void run();
    // Runs the given nodes and everything that follows from them. Their other predecessors keep the
    // results of earlier runs. Blocks and throws like `run`. The last run must have succeeded.
    template <class... R>
        requires(sizeof...(R) != 0)
    void run_from(const node<R>&... first) {
        (first.check_same_graph(this), ...);
        const std::uint32_t starts[] = {first.index_...};
        run_from(std::span<const std::uint32_t>(starts));
    }
    // Cancels the present run, if there is one. Does not block.
    void cancel() noexcept;

    // Makes the following runs measure the time of each node, which costs about 50 ns a node.
    // Throws std::bad_alloc.
    void measure(bool on = true);
    // Returns figures of the last run, which must have been measured. The time of a node contains
    // the time for which it was blocked. Throws std::bad_alloc.
    graph_report report() const;
    // Writes the graph in the language DOT of Graphviz, with the times of a measured run. Throws
    // the exceptions of the stream.
    void write_dot(std::ostream& out) const;

    // The number of nodes.
    std::size_t size() const noexcept;

private:
    template <class>
    friend class node;

    template <class F, class... R>
    auto add_node(tokens* limit, F&& function, const node<R>&... inputs) {
        using body_type = detail::node_body<std::decay_t<F>, R...>;
        (inputs.check_same_graph(this), ...);
        const std::uint32_t from[] = {inputs.index_..., 0};
        void* place = allocate(sizeof(body_type), alignof(body_type));
        auto* body = ::new (place) body_type(std::forward<F>(function), inputs.result_...);
        const std::uint32_t index = publish(body, body_type::kind, {from, sizeof...(R)}, limit);
        return node<typename body_type::result_type>(*this, index, std::addressof(body->result));
    }
    void* allocate(std::size_t bytes, std::size_t alignment);
    // Destroys the body if it throws.
    std::uint32_t publish(void* body, const detail::node_kind& kind,
                          std::span<const std::uint32_t> inputs, tokens* limit);
    void add_edge(std::uint32_t from, std::uint32_t to);
    void set_name(std::uint32_t index, std::string_view text);
    void run_from(std::span<const std::uint32_t> first);
    void check_same_graph(const task_graph* other) const noexcept;
    void check_result(bool there, std::uint32_t index) const noexcept;

    std::unique_ptr<detail::graph_core> core_;
};

template <class R>
node<R> node<R>::name(std::string_view text) const {
    graph_->set_name(index_, text);
    return *this;
}
template <class R>
void node<R>::add_edge(std::uint32_t from, std::uint32_t to) const {
    graph_->add_edge(from, to);
}
template <class R>
void node<R>::check_same_graph(const task_graph* other) const noexcept {
    graph_->check_same_graph(other);
}
template <class R>
void node<R>::check_result(bool there) const noexcept {
    if (!there) graph_->check_result(there, index_);
}

} // namespace sennit::par
