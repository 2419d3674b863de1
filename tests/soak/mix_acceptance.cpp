// SPDX-License-Identifier: Apache-2.0
// External scheduling: waitfor over one and two monitors, and active objects.
#include "mix.hpp"
#include "mix_visitors.hpp"

#include <sennit/sennit.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

namespace soak {

namespace mix_acceptance {
namespace {

using std::chrono::microseconds;

// ---- waitfor ------------------------------------------------------------------------------------

struct ledger : sennit::monitor {
    long entries = 0;
};

// An office whose clerk accepts calls. A caller pays first and then draws, so one of the waiting
// calls can always be accepted. The office counts the calls that have begun while its clerk was
// inside, which are the calls that the clerk has accepted.
class office : public sennit::monitor {
public:
    explicit office(ledger& books) : books_(books), together_(*this, books) {}

    // Perhaps waits in the middle, so that the clerk can continue.
    void pay(dice& with) {
        const auto in = sennit::enter<&office::pay>(*this);
        begin();
        ++balance;
        if (with.from(0, 3) == 0) wait(later_, with);
        if (with.from(0, 7) == 0) throw std::range_error("paid");
    }
    void draw(dice& with) {
        const auto in = sennit::enter<&office::draw>(*this);
        begin();
        if (balance <= 0) ++wrong;
        --balance;
        if (with.from(0, 7) == 0) throw std::range_error("drawn");
    }
    static void book(office& at, ledger& in_it, dice& with) {
        const auto in = sennit::enter<&office::book>(at, in_it);
        at.begin();
        ++in_it.entries;
        if (with.from(0, 3) == 0) at.wait(at.together_, with);
        if (with.from(0, 7) == 0) throw std::range_error("booked");
    }
    void serve(long most, long all_calls, dice& with);

    long balance = 0, begun = 0, accepted = 0, wrong = 0, told = 0, heard = 0, acted = 0;

private:
    void begin() {
        ++begun;
        if (clerk_) ++served_;
    }
    // However the wait ends, the caller is inside again.
    void wait(sennit::condition& in, dice& with) {
        try {
            if (in.wait_for(brief(with)))
                ++heard;
            else
                (void)in.empty();
        } catch (const sennit::cancelled&) {
            (void)in.empty();
            throw;
        }
    }
    // A waiter that is only signalled continues when the clerk leaves; calls that the clerk accepts
    // run first.
    void tell(bool leaves, dice& with) {
        sennit::condition& which = with.from(0, 1) == 0 ? later_ : together_;
        if (leaves ? which.signal() : which.signal_block()) ++told;
    }
    void accept_one(dice& with);

    ledger& books_;
    sennit::condition later_{*this}, together_;
    bool clerk_ = false;
    long served_ = 0; // calls that have begun while the clerk was inside
};

void office::accept_one(dice& with) {
    using namespace sennit;
    const auto act = [&] {
        ++acted;
        if (acted % 5 == 0) throw std::logic_error("after it");
    };
    const auto pays = accept<&office::pay>(*this).then(act),
               draws = accept<&office::draw>(*this).then(act);
    const auto books = accept<&office::book>(*this, books_).then(act);
    const long before = acted;
    try {
        switch (with.from(0, 5)) {
        case 0:
        case 1:
            waitfor(pays, when(balance > 0, draws), books);
            break;
        case 2:
            waitfor(books, timeout(brief(with)), pays);
            break;
        case 3:
            if (waitfor(when(balance > 0, draws), when(with.from(0, 1) == 0, books), or_else()) ==
                2)
                this_fiber::yield();
            break;
        case 4:
            with_timeout(brief(with), [&] { waitfor(books, pays, when(balance > 0, draws)); });
            break;
        default:
            if (waitfor(when(false, pays), when(false, timeout(microseconds(0)))) != no_clause)
                ++wrong;
        }
    } catch (const timed_out&) {
        (void)together_.empty(); // ends the program unless the caller is inside
    } catch (const std::logic_error&) {
        if (acted % 5 != 0) ++wrong;
    }
    accepted += acted - before;
}

// The clerk stays inside until it has accepted this many calls, or no more calls come.
void office::serve(long most, long all_calls, dice& with) {
    const auto in =
        with.from(0, 1) == 0 ? sennit::enter(*this, books_) : sennit::enter(books_, *this);
    clerk_ = true;
    const long calls = std::min(most, all_calls - begun), before = accepted;
    while (accepted - before < calls) {
        if (with.from(0, 9) == 0) tell(false, with);
        accept_one(with);
    }
    clerk_ = false;
    if (std::exchange(served_, 0) != calls) ++wrong;
    for (int i = with.from(0, 2); i > 0; --i) tell(true, with);
}

void customer(office& at, ledger& books, int times, dice with) {
    const auto call = [&](auto&& function) {
        try {
            if (with.from(0, 2) == 0)
                sennit::with_timeout(brief(with), function);
            else
                function();
        } catch (const std::range_error&) {
        } catch (const sennit::timed_out&) { // the limit ran out during the wait inside
        }
    };
    for (int k = 0; k < times; ++k) {
        call([&] { at.pay(with); });
        call([&] { at.draw(with); });
        call([&] { office::book(at, books, with); });
    }
}

bool offices(dice& with) {
    const int customers = with.from(1, 8), times = with.from(1, 12);
    const long calls = 3L * customers * times;
    ledger books;
    office at(books);
    {
        visitors all;
        for (int i = 0; i < customers; ++i)
            all.either(with, [&, mine = dice(with.seed())]() mutable {
                customer(at, books, times, std::move(mine));
            });
        all.fiber([&, mine = dice(with.seed())]() mutable {
            for (int k = mine.from(1, 4); k > 0; --k)
                at.serve(mine.from(1, static_cast<int>(calls)), calls, mine);
        });
    }
    return at.wrong == 0 && at.balance == 0 && at.begun == calls &&
           books.entries == long{customers} * times && at.told == at.heard &&
           at.accepted == at.acted;
}

// ---- calls that accept calls --------------------------------------------------------------------

// A call accepts further calls of its kind, and these accept calls in turn. An accepted call leaves
// the state unchanged for the call that accepts it.
class nest : public sennit::monitor {
public:
    void one(dice& with, int depth) {
        const auto in = sennit::enter<&nest::one>(*this);
        go(with, depth, nullptr);
    }
    static void both(nest& at, sennit::monitor& other, dice& with, int depth) {
        const auto in = sennit::enter<&nest::both>(at, other);
        at.go(with, depth, &other);
    }
    bool right(long calls) const {
        return begun_ == calls && called_ == accepted_ && wrong_ == 0 && accepting_ == 0;
    }

private:
    void go(dice& with, int depth, sennit::monitor* other) {
        ++begun_;
        if (accepting_ != 0) ++called_; // while a call accepts, only an accepted call is let in
        // A call that uses both monitors does not wait. A caller that waits in one monitor and
        // holds the other one blocks the callers that need the other one meanwhile.
        if (!other && with.from(0, 5) == 0) (void)here_.wait_for(brief(with));
        for (int k = with.from(0, depth); k > 0; --k) accept_one(with, other);
        if (with.from(0, 3) == 0) here_.signal_block();
    }
    void accept_one(dice& with, sennit::monitor* other) {
        using namespace sennit;
        const int mine = ++accepting_;
        const auto ends = [&] {
            if (accepting_ != mine) ++wrong_;
            --accepting_;
        };
        const auto one_alone = accept<&nest::one>(*this);
        const auto of_both =
            other ? accept<&nest::both>(*this, *other) : accept<&nest::both>(*this, *this);
        try {
            std::size_t which = 2;
            if (with.from(0, 1) == 0)
                which = waitfor(when(other != nullptr, of_both), one_alone, timeout(brief(with)));
            else
                which = with_timeout(brief(with), [&] {
                    return waitfor(one_alone, when(other != nullptr, of_both));
                });
            accepted_ += which < 2 ? 1 : 0;
        } catch (const timed_out&) {
        }
        ends();
    }
    sennit::condition here_{*this};
    int accepting_ = 0; // calls that accept, one inside another
    long begun_ = 0, called_ = 0, accepted_ = 0, wrong_ = 0;
};

bool nests(dice& with) {
    const int callers = with.from(1, 8), times = with.from(1, 12);
    sennit::monitor low;
    nest at;
    sennit::monitor high;
    {
        visitors all;
        for (int i = 0; i < callers; ++i)
            all.either(with, [&, mine = dice(with.seed())]() mutable {
                for (int k = 0; k < times; ++k) {
                    const int depth = mine.from(0, 3);
                    if (mine.from(0, 1) == 0)
                        at.one(mine, depth);
                    else
                        nest::both(at, mine.from(0, 1) == 0 ? low : high, mine, depth);
                }
            });
    }
    return at.right(long{callers} * times);
}

// ---- active objects -----------------------------------------------------------------------------

enum class life { until_destroyed, some_calls, failing, polling };

struct shop : sennit::monitor {
    shop(life kind, int quota, std::atomic<int>& ended)
        : ends(kind), most(quota), runs_ended(ended) {}
    ~shop() { ++sum; } // no other call is inside by then; ThreadSanitizer checks this
    int buy(int what) {
        const auto in = sennit::enter<&shop::buy>(*this);
        ++calls;
        sum += what;
        if (open) ++served;
        if (what % 7 == 0) throw std::range_error("sold out");
        return what;
    }
    void look() {
        const auto in = sennit::enter<&shop::look>(*this);
        ++calls;
        if (open) ++served;
    }
    void run() {
        using namespace sennit;
        struct leaves {
            shop& me;
            ~leaves() {
                me.open = false;
                ++me.runs_ended;
            }
        } out{*this};
        long accepted = 0;
        if (calls != 0) ++wrong; // another call was inside before this one
        const auto take = accept<&shop::buy>(*this), show = accept<&shop::look>(*this);
        for (;;) {
            if (served != accepted)
                ++wrong; // or `run` did not continue immediately after each call
            if (ends == life::until_destroyed) {
                if (waitfor(accept_destructor(*this), take, show) == 0) return;
            } else if (ends == life::polling) {
                const std::size_t which =
                    waitfor(show, take, accept_destructor(*this), timeout(microseconds(20)));
                if (which == 2) return;
                if (which == 3) continue;
            } else {
                if (accepted == most) break;
                waitfor(take, show);
            }
            ++accepted;
        }
        if (ends == life::failing) throw std::runtime_error("closed");
    }
    const life ends;
    const int most;
    std::atomic<int>& runs_ended;
    bool open = true;
    long calls = 0, sum = 0, served = 0, wrong = 0;
};

// Joins the object, if it ends by itself, in one of two ways. Returns false if the join threw where
// it should not, or did not throw where it should.
bool join(sennit::active<shop>& one, dice& with) {
    bool thrown = false;
    try {
        if (with.from(0, 1) == 0) {
            one.join();
        } else {
            while (!one.join_for(brief(with))) {
            }
        }
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    return thrown == (one->ends == life::failing);
}

bool actives(dice& with) {
    const int callers = with.from(0, 6), times = with.from(1, 30);
    const auto kind = static_cast<life>(with.from(0, 3));
    std::atomic<int> ended{0};
    std::atomic<long> sold{0};
    bool right = true;
    {
        sennit::active<shop> one(kind, with.from(0, 2 * callers * times), ended);
        const bool ends = kind == life::some_calls || kind == life::failing,
                   joined_early = with.from(0, 1) == 0;
        {
            visitors all;
            for (int i = 0; i < callers; ++i)
                all.either(with, [&, mine = dice(with.seed())]() mutable {
                    for (int k = 1; k <= times; ++k) {
                        try {
                            one->look();
                            sold += k;
                            if (one->buy(k) != k || k % 7 == 0) sold = -1'000'000;
                        } catch (const std::range_error&) {
                        }
                        if (mine.from(0, 5) == 0) sennit::this_fiber::yield();
                    }
                });
            if (ends && joined_early) right = join(one, with);
        }
        if (ends && !joined_early) right = join(one, with);
        const auto in = sennit::enter<&shop::look>(
            *one); // accepted like the other calls, where the object accepts
        if (one->open) ++one->served;
        right = right && one->wrong == 0 && one->sum == sold && one->calls == 2L * callers * times;
    }
    return right && ended == 1;
}

constexpr program some_programs[] = {
    {"offices", &offices}, {"nests", &nests}, {"actives", &actives}};

} // namespace
} // namespace mix_acceptance

std::span<const program> acceptance_programs() {
    return mix_acceptance::some_programs;
}

} // namespace soak
