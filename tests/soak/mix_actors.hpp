// SPDX-License-Identifier: Apache-2.0
// The common parts of the soak's actor programs: messages that are counted from construction to
// destruction, and their senders.
#pragma once

#include "mix.hpp"
#include "mix_visitors.hpp"

#include <sennit/sennit.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace soak {

// The counts of what happened to the messages of one program.
struct ledger {
    std::atomic<long> made{0}, gone{0}, handled{0}, ended{0}, full{0}, unhandled{0}, wrong{0};
    // Waits until no message is in transit. `kept_back` is the number of messages that were never
    // sent. A message that was sent while its receiver ended may be dropped a moment after the
    // group has ended, so the function waits for it, for a limited time.
    bool balanced(long kept_back = 0) const {
        for (int looks = 0; made != gone && looks < 2'000; ++looks)
            sennit::this_fiber::sleep_for(std::chrono::milliseconds(looks < 100 ? 0 : 10));
        return wrong == 0 && made == gone && made == handled + ended + full + unhandled + kept_back;
    }
    void failed() { ++wrong; }
};

// A message. `from` is its sender, and `number` its position in its lane.
class parcel {
public:
    parcel(ledger& book, int from, int number, bool urgent = false) noexcept
        : book_(&book), from_(from), number_(number), urgent_(urgent) {
        ++book.made;
    }
    parcel(parcel&& other) noexcept
        : book_(std::exchange(other.book_, nullptr)), from_(other.from_), number_(other.number_),
          urgent_(other.urgent_) {}
    parcel(const parcel& other) noexcept
        : book_(other.book_), from_(other.from_), number_(other.number_), urgent_(other.urgent_) {
        if (book_) ++book_->made;
    }
    parcel& operator=(const parcel&) = delete;
    ~parcel() {
        if (book_) ++book_->gone;
    }
    ledger& book() const noexcept { return *book_; }
    int from() const noexcept { return from_; }
    int number() const noexcept { return number_; }
    bool urgent() const noexcept { return urgent_; }

private:
    ledger* book_;
    const int from_, number_;
    const bool urgent_;
};

// A question. The answer is its number, and `answered` tells whether a receiver has answered.
class question : public parcel {
public:
    using reply = int;
    using parcel::parcel;
    std::shared_ptr<std::atomic<bool>> answered = std::make_shared<std::atomic<bool>>(false);
    int way = 0; // how the receiver must handle it
};

// The receiver's check that each pair's messages come in order, lane by lane. `all`: no message may
// be missing.
class order_check {
public:
    explicit order_check(bool all) : all_(all) {}
    bool next(const parcel& m) {
        int& last = last_.try_emplace({m.from(), m.urgent()}, -1).first->second;
        const bool right = all_ ? m.number() == last + 1 : m.number() > last;
        last = m.number();
        return right;
    }

private:
    bool all_;
    std::map<std::pair<int, bool>, int> last_;
};

inline std::size_t index_below(std::size_t end, dice& with) {
    return static_cast<std::size_t>(with.from(0, static_cast<int>(end) - 1));
}
// The exception that handlers throw.
struct on_purpose : std::runtime_error {
    on_purpose() : runtime_error("on purpose") {}
};
// Runs an action, in one of several ways.
struct go {
    int how;
};

// Counts dead parcels and questions in their books; all other dead letters are not written.
void count_dead_parcels();

// Now and then a yield, a sleep, or a little work.
void nap(dice& with);

// The strands that act at the same time: fibers, plain threads, and actors in a handler.
class crew {
public:
    explicit crew(dice& with) : with_(with) {}
    ~crew() { join(); }
    void start(std::function<void(dice&)> what);
    void join();

private:
    struct job {
        std::function<void()> run;
    };
    struct worker : sennit::actor<worker, job> {
        void on(const job& m) {
            m.run();
            stop();
        }
    };
    dice& with_;
    sennit::actor_group group_;
    visitors hands_;
};

std::span<const program> actor_mail_programs();  // mix_actors_mail.cpp
std::span<const program> actor_life_programs();  // mix_actors_life.cpp
std::span<const program> actor_end_programs();   // mix_actors_ends.cpp
std::span<const program> actor_later_programs(); // mix_actors_more.cpp
std::span<const program> actor_group_programs(); // mix_actors_groups.cpp

} // namespace soak
