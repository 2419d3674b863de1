// SPDX-License-Identifier: Apache-2.0
// The places at which a preemption can matter: those at which threads meet.
//
// Consider a thread that is preempted before an operation with which no other thread's operation
// conflicts. It might as well be preempted before its next operation: the operations commute, and
// as many preemptions are used, or fewer. So only *shared* places are choice points. A place is
// shared if, in some execution, an operation there touched a word that another thread touched, too,
// and one of the two wrote. Every operation that may wait, or that wakes, is a choice point in any
// case.
//
// The explorer learns the shared places. A search that finds a new one begins again; so when the
// search has ended, no execution of it has shown an unshared place to be shared. Then no execution
// within its bounds can. Proof: take the first operation of such an execution that conflicts with
// an earlier one at an unshared place. Up to there no operation at such places conflicts. So moving
// each preemption on to the next shared place yields an execution that was searched. Both
// operations happen in that execution, too, so it has shown the place. (This is a persistent-set
// argument in the sense of Godefroid, with the sets learned as in dynamic partial-order reduction.
// Preemptions move on, never back, which keeps the bound on them complete.)
//
// Some effects are not operations on a word and yet visible to other threads: the clock's time, the
// construction and end of words, and plain data beside `barrier_all_threads`, which publishes it.
// Such an effect counts as a touch at the place of the thread's last operation. Threads that wait
// for each other's `sim::var` need operations between them; races on such variables are found in
// any order.
//
// Touches count from an execution's first decision on, because the part before it is equal in all
// executions. So the words that existed by then have equal numbers in all executions, and a place
// is distinguished for each of them. For younger words it is one place.
// words that were there by then have the same numbers in all, and a place is told apart for each of
// them; for younger words it is one place.
#pragma once

#include "order.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace sennit::sim {

class places {
public:
    struct entry {
        const void* key = nullptr;
        std::uint32_t word = 0;
        bool shared = false;
        bool in_list = true; // false: no thread is preempted in this file
    };
    static constexpr std::uint32_t time = 0, barriers = 1, first_word = 2; // the touched object

    explicit places(const char* preempt_in) : preempt_in_(preempt_in) {} // see `bounds`
    // Returns the place's entry for an old word, or for word 0; valid until the next call.
    entry& of(place at, std::uint32_t word) {
        const void* key =
            std::bit_cast<const void*>(at); // one object for each place in the program
        entry& found = table_[slot_of(key, word)];
        return found.key ? found : add(key, word, at);
    }

    // ---- one execution
    void begin_execution() noexcept {
        touches_.clear();
        touched_.clear();
    }
    void touch(std::uint32_t what, unsigned thread, bool writes, const entry& at) {
        if (what >= touched_.size()) touched_.resize(what + 64);
        seen_by& by = touched_[what];
        const auto me = static_cast<std::uint8_t>(1u << thread);
        (writes ? by.writers : by.readers) |= me;
        if (!at.shared) touches_.push_back({what, at.word, me, writes, at.key});
    }
    // True: a place was found to be shared that was not known to be shared.
    bool learn();

private:
    static_assert(sizeof(place) == sizeof(void*));
    struct seen_by {
        std::uint8_t readers = 0, writers = 0;
    };
    struct touched_at {
        std::uint32_t what;
        std::uint32_t word;
        std::uint8_t by;
        bool writes;
        const void* key;
    };
    std::size_t slot_of(const void* key, std::uint32_t word) const noexcept {
        const std::size_t mask = table_.size() - 1;
        const std::uint64_t both = reinterpret_cast<std::uintptr_t>(key) >> 3 ^ std::uint64_t{word}
                                                                                    << 32;
        std::size_t i = both * 0x9E3779B97F4A7C15u >> 40 & mask;
        while (table_[i].key && (table_[i].key != key || table_[i].word != word))
            i = (i + 1) & mask;
        return i;
    }
    entry& add(const void* key, std::uint32_t word, place at);

    std::vector<entry> table_ = std::vector<entry>(1024); // open addressing, at most half full
    std::size_t count_ = 0;
    const char* preempt_in_;
    std::vector<touched_at> touches_;
    std::vector<seen_by> touched_;
};

} // namespace sennit::sim
