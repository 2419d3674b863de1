// SPDX-License-Identifier: Apache-2.0
// nqueens: counts all ways to place n queens on a board, with one task for each legal move. The
// board is passed by value.
#pragma once

#include "runtime_base.hpp"

namespace lab {

template <class R>
struct nqueens {
    static constexpr const char* name = "nqueens";
    static constexpr int largest = 16;
    static constexpr std::array<std::int64_t, largest + 1> answers = {
        1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
    // The number of nodes of the search tree, the root included. A node is a partial board on which
    // no queen attacks another queen.
    static constexpr std::array<std::int64_t, largest + 1> nodes = {
        1,    2,     3,      6,      17,      54,       153,       552,       2057,
        8394, 35539, 166926, 856189, 4674890, 27358553, 171129072, 1141190303};

    int n;
    explicit nqueens(const std::string& size) : n(static_cast<int>(parse_size(size, 1, largest))) {}

    template <std::size_t N>
    using board = std::array<char, N>;

    template <std::size_t N>
    static bool legal(const board<N>& queens, int column, char row) {
        for (int x = 0; x < column; ++x) {
            const int other = queens[static_cast<std::size_t>(x)];
            if (row == other || row == other - (column - x) || row == other + (column - x))
                return false;
        }
        return true;
    }

    // Writes the rows in which a queen may stand in this column, and returns their number. The loop
    // is unrolled, so that the processor can predict the branches of each row separately. LLVM
    // unrolls it without a pragma, also in the Rust programs. GCC does not, and the pragma reduces
    // the time to 0.88.
    template <std::size_t N>
    [[gnu::always_inline]] static std::size_t moves_at(int column, const board<N>& queens,
                                                       std::array<char, N>& moves) {
        std::size_t count = 0;
#pragma GCC unroll 16
        for (char row = 0; row < static_cast<char>(N); ++row)
            if (legal<N>(queens, column, row)) moves[count++] = row;
        return count;
    }

    // excerpt nqueens
    template <std::size_t N>
    [[gnu::noinline]] static std::int64_t node(int column, board<N> queens) {
        if (column == static_cast<int>(N)) return 1;
        std::array<char, N> moves;
        const std::size_t count = moves_at<N>(column, queens, moves);
        return R::template sum<N>(count, [&](std::size_t i) {
            board<N> next = queens;
            next[static_cast<std::size_t>(column)] = moves[i];
            return node<N>(column + 1, next);
        });
    }
    // excerpt end

    template <std::size_t... N>
    static std::int64_t dispatch(int n, std::index_sequence<N...>) {
        std::int64_t result = -1;
        ((static_cast<int>(N) + 1 == n ? void(result = node<N + 1>(0, board<N + 1>{})) : void()),
         ...);
        return result;
    }
    std::int64_t run() const { return dispatch(n, std::make_index_sequence<largest>{}); }
    std::int64_t expected() const { return answers[static_cast<std::size_t>(n)]; }
    std::int64_t tasks() const { return nodes[static_cast<std::size_t>(n)]; }
};

} // namespace lab
