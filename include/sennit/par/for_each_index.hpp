// SPDX-License-Identifier: Apache-2.0
// par::for_each_index, par::for_each_tile: visit the indices of a two- or three-dimensional space,
// tile by tile, in parallel.
//
//     sennit::par::for_each_index({height, width}, [&](std::size_t y, std::size_t x) {
//         image[y * width + x] = shade(y, x);
//     });
//     sennit::par::for_each_tile({n, n}, {64, 64}, [&](const sennit::par::tile<2>& t) {
//         for (std::size_t i = t.first[0]; i != t.last[0]; ++i)
//             for (std::size_t j = t.first[1]; j != t.last[1]; ++j)
//                 to[j * n + i] = from[i * n + j];
//     });
//
// Use for_each_index for loops over pixels, matrices and grids. Use for_each_tile where the body
// has loops of its own, which the compiler may vectorise, or where it sets something up for each
// tile. The extents are those of std::mdspan: the last one is that of the innermost loop.
//
// Guarantees, exceptions and cancellation as for `par::for_each`, with tiles as elements: an
// exception is that of the lowest tile that throws. Tiles are visited row by row, and the indices
// of a tile, too. A tile is not divided. `min_grain` and `max_grain` count tiles: chunks have at
// least and at most so many. Write the options with their type, `par::with{.max_grain = 4}`. Cost:
// that of `par::for_each_n` over the tiles, and a division for each tile.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

#include <array>
#include <cstddef>

namespace sennit::par {

// The numbers of indices of a space, or of a tile, by dimension.
template <std::size_t Rank>
using index_extents = std::array<std::size_t, Rank>;

// The indices `first[d]` to `last[d]`, without `last[d]`, for each dimension d.
template <std::size_t Rank>
struct tile {
    index_extents<Rank> first;
    index_extents<Rank> last;
};

namespace detail {

template <std::size_t Rank>
struct tiling {
    index_extents<Rank> extents;
    index_extents<Rank> size; // of a tile, in indices
    index_extents<Rank> tiles{};
    std::size_t count = 1;

    tiling(const index_extents<Rank>& space, const index_extents<Rank>& of_tile) noexcept
        : extents(space), size(of_tile) {
        for (std::size_t d = 0; d != Rank; ++d) {
            size[d] = std::max<std::size_t>(size[d], 1);
            tiles[d] = extents[d] / size[d] + (extents[d] % size[d] != 0);
            count *= tiles[d];
        }
    }

    tile<Rank> at(std::size_t number) const noexcept {
        tile<Rank> result{};
        for (std::size_t d = Rank; d-- > 0; number /= tiles[d]) {
            result.first[d] = number % tiles[d] * size[d];
            result.last[d] = std::min(extents[d], result.first[d] + size[d]);
        }
        return result;
    }
};

// Calls `body(first, last)` for each tile.
template <std::size_t Rank, class F>
void run_tiles(const with& options, const index_extents<Rank>& extents,
               const index_extents<Rank>& size, F& f) {
    const tiling<Rank> tiles(extents, size);
    run_chunks(options, tiles.count,
               [tiles, call = shared_callable{f}](std::size_t from, std::size_t to) {
                   own_copy<F> body = call.call;
                   for (; from != to; ++from) std::invoke(body, tiles.at(from));
               });
}

// Rows of up to 1024 indices, so that the innermost loop is long, and its tile stays in the cache.
template <std::size_t Rank>
index_extents<Rank> row_tiles(const index_extents<Rank>& extents) noexcept {
    index_extents<Rank> size;
    size.fill(1);
    constexpr std::size_t longest = 1024;
    size[Rank - 1] = std::min(extents[Rank - 1], longest);
    return size;
}

// `t` is a copy, which the writes of the body cannot change.
template <class F>
void visit_indices(F& f, const tile<2> t) {
    own_copy<F> body = f;
    for (std::size_t i = t.first[0]; i != t.last[0]; ++i)
        for (std::size_t j = t.first[1]; j != t.last[1]; ++j) std::invoke(body, i, j);
}
template <class F>
void visit_indices(F& f, const tile<3> t) {
    own_copy<F> body = f;
    for (std::size_t i = t.first[0]; i != t.last[0]; ++i)
        for (std::size_t j = t.first[1]; j != t.last[1]; ++j)
            for (std::size_t k = t.first[2]; k != t.last[2]; ++k) std::invoke(body, i, j, k);
}

// Braces without a type are extents, never options.
template <class Options>
concept options_for_loop = std::convertible_to<const Options&, with>;

template <class F, std::size_t Rank>
concept visits_indices = (Rank == 2 && std::invocable<F&, std::size_t, std::size_t>) ||
                         (Rank == 3 && std::invocable<F&, std::size_t, std::size_t, std::size_t>);

template <std::size_t Rank, class F>
void run_indices(const with& options, const index_extents<Rank>& extents,
                 const index_extents<Rank>& size, F& f) {
    const auto visit = [body = shared_callable{f}](const tile<Rank>& t) {
        visit_indices(body.call, t);
    };
    run_tiles(options, extents, size, visit);
}

struct for_each_index_calls {
    template <options_for_loop Options, class F>
        requires visits_indices<F, 2>
    void operator()(const Options& options, const index_extents<2>& extents, F&& f) const {
        run_indices<2>(options, extents, row_tiles(extents), f);
    }
    template <options_for_loop Options, class F>
        requires visits_indices<F, 2>
    void operator()(const Options& options, const index_extents<2>& extents,
                    const index_extents<2>& size, F&& f) const {
        run_indices<2>(options, extents, size, f);
    }
    template <options_for_loop Options, class F>
        requires visits_indices<F, 3>
    void operator()(const Options& options, const index_extents<3>& extents, F&& f) const {
        run_indices<3>(options, extents, row_tiles(extents), f);
    }
    template <options_for_loop Options, class F>
        requires visits_indices<F, 3>
    void operator()(const Options& options, const index_extents<3>& extents,
                    const index_extents<3>& size, F&& f) const {
        run_indices<3>(options, extents, size, f);
    }
    template <class F>
        requires visits_indices<F, 2>
    void operator()(const index_extents<2>& extents, F&& f) const {
        (*this)(automatic, extents, f);
    }
    template <class F>
        requires visits_indices<F, 2>
    void operator()(const index_extents<2>& extents, const index_extents<2>& size, F&& f) const {
        (*this)(automatic, extents, size, f);
    }
    template <class F>
        requires visits_indices<F, 3>
    void operator()(const index_extents<3>& extents, F&& f) const {
        (*this)(automatic, extents, f);
    }
    template <class F>
        requires visits_indices<F, 3>
    void operator()(const index_extents<3>& extents, const index_extents<3>& size, F&& f) const {
        (*this)(automatic, extents, size, f);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::for_each_index takes the options or nothing, two or three "
                      "extents, the extents of a tile or nothing, and a function of as many "
                      "indices (std::size_t)");
    }
};

struct for_each_tile_calls {
    template <options_for_loop Options, class F>
        requires std::invocable<F&, const tile<2>&>
    void operator()(const Options& options, const index_extents<2>& extents,
                    const index_extents<2>& size, F&& f) const {
        run_tiles<2>(options, extents, size, f);
    }
    template <options_for_loop Options, class F>
        requires std::invocable<F&, const tile<3>&>
    void operator()(const Options& options, const index_extents<3>& extents,
                    const index_extents<3>& size, F&& f) const {
        run_tiles<3>(options, extents, size, f);
    }
    template <class F>
        requires std::invocable<F&, const tile<2>&>
    void operator()(const index_extents<2>& extents, const index_extents<2>& size, F&& f) const {
        (*this)(automatic, extents, size, f);
    }
    template <class F>
        requires std::invocable<F&, const tile<3>&>
    void operator()(const index_extents<3>& extents, const index_extents<3>& size, F&& f) const {
        (*this)(automatic, extents, size, f);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::for_each_tile takes the options or nothing, two or three "
                      "extents, the extents of a tile, and a function of a const par::tile<2>& or "
                      "par::tile<3>&");
    }
};

} // namespace detail

// for_each_index(extents, body), for_each_index(extents, tile, body), both with options in front.
// Calls body(i, j) or body(i, j, k) for each index of the space. Without a tile, a tile is up to
// 1024 indices of the last dimension; an extent of 0 in a tile counts as 1. Blocks until all
// indices are visited. Throws the exception of the lowest tile that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::for_each_index_calls> for_each_index{};

// for_each_tile(extents, tile, body), also with options in front. Calls body(t) for each tile of
// the space; tiles at the end of a dimension may be smaller. Blocks and throws like for_each_index.
inline constexpr detail::algorithm<detail::for_each_tile_calls> for_each_tile{};

} // namespace sennit::par
