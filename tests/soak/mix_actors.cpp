// SPDX-License-Identifier: Apache-2.0
#include "mix_actors.hpp"

namespace soak {

namespace {

void note(const sennit::dead_letter& m) noexcept {
    const parcel* one = m.as<parcel>();
    if (!one) one = m.as<question>();
    if (!one) return;
    switch (m.why) {
    case sennit::dead_letter_reason::ended:
        ++one->book().ended;
        break;
    case sennit::dead_letter_reason::full:
        ++one->book().full;
        break;
    case sennit::dead_letter_reason::unhandled:
        ++one->book().unhandled;
        break;
    }
}

} // namespace

void count_dead_parcels() {
    static const bool once = [] {
        (void)sennit::set_dead_letter_handler(&note);
        return true;
    }();
    (void)once;
}

void nap(dice& with) {
    switch (with.from(0, 15)) {
    case 0:
        sennit::this_fiber::sleep_for(std::chrono::microseconds(with.from(0, 60)));
        break;
    case 1:
    case 2:
        sennit::this_fiber::yield();
        break;
    case 3:
        for (int i = 0; i < 300; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
        break;
    default:
        break;
    }
}

void crew::start(std::function<void(dice&)> what) {
    auto run = [what = std::move(what), seed = with_.seed()] {
        dice mine(seed);
        what(mine);
    };
    switch (with_.from(0, 5)) {
    case 0:
        hands_.thread(std::move(run));
        break;
    case 1:
    case 2:
        group_.spawn<worker>().tell(job{std::move(run)});
        break;
    default:
        hands_.fiber(std::move(run));
    }
}

void crew::join() {
    hands_.join();
    group_.join();
}

std::span<const program> actors_programs() {
    count_dead_parcels();
    static const std::vector<program> all = [] {
        std::vector<program> some;
        for (const auto& part : {actor_mail_programs(), actor_life_programs(), actor_end_programs(),
                                 actor_later_programs(), actor_group_programs()})
            some.insert(some.end(), part.begin(), part.end());
        return some;
    }();
    return all;
}

} // namespace soak
