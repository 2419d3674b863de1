// SPDX-License-Identifier: Apache-2.0
// Savina's pools: a master gives pieces of one computation to 20 actors.
#pragma once

#include "actors/savina_pi.hpp"
#include "rings.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace lab::savina {

struct start_all {};

// ---- savina-piprecision

class pi_worker;
struct pi_term {
    std::size_t worker;
    piprecision_size::words value;
};
// excerpt savina-piprecision
class pi_master : public sennit::actor<pi_master, start_all, pi_term> {
public:
    pi_master(finish& whole, const piprecision_size& size)
        : whole_(whole), size_(size), sum_(size.zero()), left_(size.terms()) {}
    void on(start_all);
    void on(pi_term&& m) {
        piprecision_size::add(sum_, m.value);
        give_to(m.worker);
        if (--left_ == 0) whole_.one_more(size_.answer(sum_));
    }

private:
    void give_to(std::size_t worker);

    finish& whole_;
    const piprecision_size& size_;
    piprecision_size::words sum_;
    std::int64_t left_, next_ = 0;
    std::vector<sennit::actor_ref<pi_worker>> workers_;
};
struct number_of_term {
    std::int64_t k;
};
class pi_worker : public sennit::actor<pi_worker, number_of_term> {
public:
    pi_worker(sennit::actor_ref<pi_master> to, const piprecision_size& size, std::size_t number)
        : to_(to), size_(size), number_(number) {}
    void on(number_of_term m) { to_.tell(pi_term{number_, size_.term(m.k)}); }

private:
    sennit::actor_ref<pi_master> to_;
    const piprecision_size& size_;
    std::size_t number_;
};
// excerpt end
inline void pi_master::give_to(std::size_t worker) {
    if (next_ < size_.terms()) workers_[worker].tell(number_of_term{next_++});
}
inline void pi_master::on(start_all) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(piprecision_size::workers); ++i) {
        workers_.push_back(group().spawn<pi_worker>(self(), size_, i));
        give_to(i);
    }
}
struct piprecision : piprecision_size {
    using piprecision_size::piprecision_size;
    std::int64_t run() const {
        finish whole;
        sennit::actor_group group;
        group.spawn<pi_master>(whole, *this).tell(start_all{});
        return whole.wait();
    }
};

} // namespace lab::savina
