// SPDX-License-Identifier: Apache-2.0
// The values that a load may return: the stores of each atomic word, and the threads that may still
// see each store.
//
// Model. The stores of a word are totally ordered as they were executed. A load returns the newest
// store, or an older one if the reader knows no newer one. A reader knows a store that it has seen
// itself, or that another thread had seen before a release that the reader has acquired (coherence
// and happens-before of C++20, [intro.races]). A sequentially consistent load returns nothing older
// than the newest sequentially consistent store. Read-modify-write operations act on the newest
// store and continue a release sequence. A word remembers its last `history` stores.
//
// The model cannot show: loads that see stores of the future (load buffering), stores of one word
// that threads see in different orders (2+2W), a failing compare-and-swap that reads a stale value,
// words of mixed sizes.
#pragma once

#include "clock.hpp"
#include "order.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace sennit::sim {

inline constexpr unsigned history = 8;

struct word_store {
    std::uint64_t value = 0;
    clock carries{};              // the knowledge that an acquiring reader gains
    clock seen = clock_not_yet(); // for each thread, the time at which it first saw the store
    bool seq_cst = false;
    bool initial = false; // every thread may know it
};

struct word {
    const void* address = nullptr;
    std::uint32_t number = 0; // for traces: words are numbered in the order of their appearance
    std::uint32_t stores = 0; // so far; the last `history` stores are kept
    // The number of this life among all words of the execution, earlier words at this address
    // included.
    std::uint32_t life = 0;
    instant made_at = 0; // time of its construction; 0: before the execution
    std::uint8_t made_by = 0;
    bool dead = false;
    bool made_again = false; // an earlier word lay at this address
    std::array<word_store, history> kept;

    word_store& store(std::uint32_t index) noexcept { return kept[index % history]; }
    word_store& newest() noexcept { return store(stores - 1); }
};

// All words of one execution. Not thread-safe: simulated threads run one at a time.
class memory {
public:
    void begin_execution() noexcept {
        ++generation_; // outdates the whole table
        count_ = 0;
        lives_ = 0;
    }

    // Returns the word at `address`, which is created on first sight with `value` as its first
    // store.
    word& at(const void* address, std::uint64_t value);
    // Records that `thread` constructs a word at `address`.
    void construct(const void* address, std::uint64_t value, unsigned thread, instant time);
    word& destroy(const void* address);
    word* find(const void* address) noexcept; // null: no word was seen there
    std::uint32_t count() const noexcept { return count_; }

    // Returns how many stores `thread` may read; 0 stands for the newest, n for the n-th older
    // store.
    static unsigned readable(word& from, unsigned thread, const clock& known, order with) noexcept;
    // Records that `thread` has read the `age`-th older store.
    static std::uint64_t read(word& from, unsigned age, unsigned thread, clock& known,
                              order with) noexcept;
    static void write(word& to, std::uint64_t value, unsigned thread, clock& known, order with,
                      bool continues_release_sequence) noexcept;

private:
    struct entry {
        // The execution that made the entry; entries of other executions are empty.
        std::uint32_t generation = 0;
        std::uint32_t number = 0;
    };
    // Returns the entry of the word, or the empty entry that it would get.
    std::size_t slot_of(const void* address) const noexcept;
    word& find_or_insert(const void* address, bool& is_new);
    void start(word& fresh, std::uint64_t value) noexcept;
    void grow();

    std::vector<entry> table_; // open addressing, at most half full
    std::vector<word> words_;
    std::uint32_t generation_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t lives_ = 0;
};

} // namespace sennit::sim
