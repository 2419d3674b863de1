// SPDX-License-Identifier: Apache-2.0
// Savina's benchmarks of sharing: many actors that use one actor.
#pragma once

#include "actors/savina.hpp"
#include "rings.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace lab::savina {

// ---- savina-dictionary

class reader;
struct begin {};
struct look_up {
    std::int64_t key;
    sennit::actor_ref<reader> who;
};
struct put_in {
    std::int64_t key, value;
    sennit::actor_ref<reader> who;
};
struct found_value {
    std::int64_t value;
};
class dictionary : public sennit::actor<dictionary, look_up, put_in> {
public:
    explicit dictionary(std::atomic<std::int64_t>& size) : size_(size) {
        map_.reserve(static_cast<std::size_t>(dictionary_keys));
        for (std::int64_t i = 0; i < dictionary_keys; ++i) map_[i] = i;
    }
    void on(look_up m);
    void on(put_in m);
    void stopped(sennit::exit_reason) { size_ = static_cast<std::int64_t>(map_.size()); }

private:
    std::atomic<std::int64_t>& size_;
    std::unordered_map<std::int64_t, std::int64_t> map_;
};
class reader : public sennit::actor<reader, begin, found_value> {
public:
    reader(finish& whole, sennit::actor_ref<dictionary> of, std::int64_t number,
           std::int64_t questions)
        : whole_(whole), of_(of), left_(questions), numbers_(number + questions) {}
    void on(begin) { ask_next(); }
    void on(found_value m) {
        answered_ += m.value >= 0;
        if (--left_ > 0)
            ask_next();
        else
            whole_.one_more(answered_);
    }

private:
    void ask_next() {
        const bool write = numbers_.below(100) < write_percent;
        const std::int64_t key = numbers_.next() % dictionary_keys;
        if (write)
            of_.tell(put_in{key, numbers_.next(), self()});
        else
            of_.tell(look_up{key, self()});
    }
    finish& whole_;
    sennit::actor_ref<dictionary> of_;
    std::int64_t left_, answered_ = 0;
    random numbers_;
};
inline void dictionary::on(look_up m) {
    const auto at = map_.find(m.key);
    m.who.tell(found_value{at == map_.end() ? -1 : at->second});
}
inline void dictionary::on(put_in m) {
    map_[m.key] = m.value;
    m.who.tell(found_value{m.value});
}
struct concurrent_dictionary : dictionary_size {
    using dictionary_size::dictionary_size;
    std::int64_t run() const {
        finish whole;
        whole.left = actors;
        std::atomic<std::int64_t> size = 0;
        {
            sennit::actor_group group;
            const auto all = group.spawn<dictionary>(size);
            for (std::int64_t i = 0; i < actors; ++i)
                group.spawn<reader>(whole, all, i, n).tell(begin{});
            whole.wait();
        }
        return size == dictionary_keys ? whole.answer.load() : -1;
    }
};

// ---- savina-list

class list_user;
struct list_question {
    list_size::question what;
    std::int64_t number;
    sennit::actor_ref<list_user> who;
};
class sorted_list : public sennit::actor<sorted_list, list_question> {
public:
    explicit sorted_list(std::atomic<std::int64_t>& length) : length_(length) {}
    ~sorted_list() {
        while (first_) first_ = std::move(first_->next); // recursion could overflow the stack
    }
    void on(list_question m);
    void stopped(sennit::exit_reason) { length_ = count_; }

private:
    struct node {
        std::int64_t number;
        std::unique_ptr<node> next;
    };
    std::unique_ptr<node>& place_of(std::int64_t number) {
        std::unique_ptr<node>* at = &first_;
        while (*at && (*at)->number < number) at = &(*at)->next;
        return *at;
    }
    std::atomic<std::int64_t>& length_;
    std::unique_ptr<node> first_;
    std::int64_t count_ = 0;
};
class list_user : public sennit::actor<list_user, begin, found_value> {
public:
    list_user(finish& whole, sennit::actor_ref<sorted_list> of, random numbers,
              std::int64_t questions)
        : whole_(whole), of_(of), left_(questions), numbers_(numbers) {}
    void on(begin) { ask_next(); }
    void on(found_value) {
        if (--left_ > 0)
            ask_next();
        else
            whole_.one_more(0);
    }

private:
    void ask_next() {
        const auto what = list_size::next(numbers_);
        of_.tell(
            list_question{what, what == list_size::question::length ? 0 : numbers_.next(), self()});
    }
    finish& whole_;
    sennit::actor_ref<sorted_list> of_;
    std::int64_t left_;
    random numbers_;
};
inline void sorted_list::on(list_question m) {
    if (m.what == list_size::question::length) return m.who.tell(found_value{count_});
    auto& place = place_of(m.number);
    if (m.what == list_size::question::contains)
        return m.who.tell(found_value{place && place->number == m.number});
    place = std::make_unique<node>(node{m.number, std::move(place)});
    m.who.tell(found_value{++count_});
}
struct concurrent_list : list_size {
    using list_size::list_size;
    std::int64_t run() const {
        finish whole;
        whole.left = actors;
        std::atomic<std::int64_t> length = -1;
        {
            sennit::actor_group group;
            const auto all = group.spawn<sorted_list>(length);
            for (std::int64_t i = 0; i < actors; ++i)
                group.spawn<list_user>(whole, all, numbers_of(i), n).tell(begin{});
            whole.wait();
        }
        return length;
    }
};

// ---- savina-buffer

class maker;
class taker;
struct take_item {
    double value;
};
struct made_item {
    double value;
    sennit::actor_ref<maker> who;
};
struct can_take {
    sennit::actor_ref<taker> who;
};
class shared_buffer : public sennit::actor<shared_buffer, made_item, can_take> {
public:
    void on(made_item m);
    void on(can_take m);

private:
    std::deque<double> items_;
    std::deque<sennit::actor_ref<taker>> idle_;
    std::deque<sennit::actor_ref<maker>> waiting_; // makers that wait for room
};
class maker : public sennit::actor<maker, begin> {
public:
    maker(sennit::actor_ref<shared_buffer> to, std::int64_t items) : to_(to), left_(items) {}
    void on(begin) { // the buffer has room
        if (left_-- > 0) to_.tell(made_item{item(), self()});
    }

private:
    sennit::actor_ref<shared_buffer> to_;
    std::int64_t left_;
};
class taker : public sennit::actor<taker, begin, take_item> {
public:
    taker(finish& whole, sennit::actor_ref<shared_buffer> from) : whole_(whole), from_(from) {}
    void on(begin) { from_.tell(can_take{self()}); }
    void on(take_item m) {
        whole_.one_more(is_item(m.value) && is_item(item()));
        from_.tell(can_take{self()});
    }

private:
    finish& whole_;
    sennit::actor_ref<shared_buffer> from_;
};
inline void shared_buffer::on(made_item m) {
    if (!idle_.empty()) {
        idle_.front().tell(take_item{m.value});
        idle_.pop_front();
    } else {
        items_.push_back(m.value);
    }
    // Each maker may have one item on its way.
    if (static_cast<std::int64_t>(items_.size()) + buffer_size_of::actors > buffer_size)
        waiting_.push_back(m.who);
    else
        m.who.tell(begin{});
}
inline void shared_buffer::on(can_take m) {
    if (items_.empty()) return idle_.push_back(m.who);
    m.who.tell(take_item{items_.front()});
    items_.pop_front();
    if (waiting_.empty()) return;
    waiting_.front().tell(begin{});
    waiting_.pop_front();
}
struct bounded : buffer_size_of {
    using buffer_size_of::buffer_size_of;
    std::int64_t run() const {
        finish whole;
        whole.left = actors * n;
        sennit::actor_group group;
        const auto buffer = group.spawn<shared_buffer>();
        for (std::int64_t i = 0; i < actors; ++i) group.spawn<maker>(buffer, n).tell(begin{});
        for (std::int64_t i = 0; i < actors; ++i) group.spawn<taker>(whole, buffer).tell(begin{});
        return whole.wait();
    }
};

// ---- savina-philosophers

class philosopher;
struct hungry {
    std::int64_t seat;
    sennit::actor_ref<philosopher> who;
};
struct full_again {
    std::int64_t seat;
};
struct denied {};
struct eat {};
class arbitrator : public sennit::actor<arbitrator, hungry, full_again> {
public:
    void on(hungry m);
    void on(full_again m) { left(m.seat) = right(m.seat) = false; }

private:
    bool& left(std::int64_t seat) { return used_[static_cast<std::size_t>(seat)]; }
    bool& right(std::int64_t seat) {
        return used_[static_cast<std::size_t>((seat + 1) % philosophers_size::actors)];
    }
    std::array<bool, static_cast<std::size_t>(philosophers_size::actors)> used_{};
};
class philosopher : public sennit::actor<philosopher, begin, denied, eat> {
public:
    philosopher(finish& whole, sennit::actor_ref<arbitrator> of, std::int64_t seat,
                std::int64_t meals)
        : whole_(whole), of_(of), seat_(seat), left_(meals) {}
    void on(begin) { of_.tell(hungry{seat_, self()}); }
    void on(denied) { of_.tell(hungry{seat_, self()}); }
    void on(eat) {
        ++eaten_;
        of_.tell(full_again{seat_});
        if (--left_ > 0)
            of_.tell(hungry{seat_, self()});
        else
            whole_.one_more(eaten_);
    }

private:
    finish& whole_;
    sennit::actor_ref<arbitrator> of_;
    std::int64_t seat_, left_, eaten_ = 0;
};
inline void arbitrator::on(hungry m) {
    if (left(m.seat) || right(m.seat)) return m.who.tell(denied{});
    left(m.seat) = right(m.seat) = true;
    m.who.tell(eat{});
}
struct philosophers : philosophers_size {
    using philosophers_size::philosophers_size;
    std::int64_t run() const {
        finish whole;
        whole.left = actors;
        sennit::actor_group group;
        const auto forks = group.spawn<arbitrator>();
        for (std::int64_t i = 0; i < actors; ++i)
            group.spawn<philosopher>(whole, forks, i, n).tell(begin{});
        return whole.wait();
    }
};

// ---- savina-barber

class customer;
class barber;
struct enters {
    sennit::actor_ref<customer> who;
};
struct next_one {};
struct is_full {};
struct is_done {};
class room : public sennit::actor<room, enters, next_one> {
public:
    explicit room(sennit::actor_ref<barber> whose) : whose_(whose) {}
    void on(enters m);
    void on(next_one);

private:
    sennit::actor_ref<barber> whose_;
    std::deque<sennit::actor_ref<customer>> waiting_;
    bool asleep_ = true; // whether the barber sleeps
};
struct cuts {
    sennit::actor_ref<customer> who;
    sennit::actor_ref<room> where;
};
class barber : public sennit::actor<barber, cuts> {
public:
    void on(cuts m);

private:
    random numbers_{1};
    std::int64_t work_ = 0;
};
class customer : public sennit::actor<customer, begin, is_full, is_done> {
public:
    customer(finish& whole, sennit::actor_ref<room> where) : whole_(whole), where_(where) {}
    void on(begin) { where_.tell(enters{self()}); }
    void on(is_full) { where_.tell(enters{self()}); }
    void on(is_done) {
        whole_.one_more(1);
        stop();
    }

private:
    finish& whole_;
    sennit::actor_ref<room> where_;
};
inline void barber::on(cuts m) {
    work_ += idle_loop(numbers_.below(barber_rounds) + 10);
    if (work_ > 0) m.who.tell(is_done{});
    m.where.tell(next_one{});
}
inline void room::on(enters m) {
    if (static_cast<std::int64_t>(waiting_.size()) == waiting_room) return m.who.tell(is_full{});
    waiting_.push_back(m.who);
    if (asleep_) on(next_one{});
}
inline void room::on(next_one) {
    asleep_ = waiting_.empty();
    if (asleep_) return;
    whose_.tell(cuts{waiting_.front(), self()});
    waiting_.pop_front();
}
struct sleeping_barber : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run() const {
        finish whole;
        whole.left = n;
        sennit::actor_group group;
        const auto where = group.spawn<room>(group.spawn<barber>());
        for (std::int64_t i = 0; i < n; ++i) group.spawn<customer>(whole, where).tell(begin{});
        return whole.wait();
    }
};

// ---- savina-smokers

struct smoke {
    std::int64_t rounds;
};
struct started {};
class arbiter;
class smoker : public sennit::actor<smoker, smoke> {
public:
    smoker(finish& whole, sennit::actor_ref<arbiter> of) : whole_(whole), of_(of) {}
    void on(smoke m);

private:
    finish& whole_;
    sennit::actor_ref<arbiter> of_;
};
class arbiter : public sennit::actor<arbiter, begin, started> {
public:
    arbiter(finish& whole, std::int64_t rounds)
        : whole_(whole), left_(rounds), numbers_(rounds * smokers) {}
    void on(begin) {
        for (std::int64_t i = 0; i < smokers; ++i)
            all_.push_back(group().spawn<smoker>(whole_, self()));
        on(started{});
    }
    void on(started) {
        if (left_-- <= 0) return;
        const auto who = static_cast<std::size_t>(numbers_.below(smokers));
        all_[who].tell(smoke{numbers_.below(smoke_rounds) + 10});
    }

private:
    finish& whole_;
    std::int64_t left_;
    random numbers_;
    std::vector<sennit::actor_ref<smoker>> all_;
};
inline void smoker::on(smoke m) {
    of_.tell(started{});
    whole_.one_more(idle_loop(m.rounds) > 0);
}
struct cigarette_smokers : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run() const {
        finish whole;
        whole.left = n;
        sennit::actor_group group;
        group.spawn<arbiter>(whole, n).tell(begin{});
        return whole.wait();
    }
};

// ---- savina-logistic: the question blocks the handler, which this runtime allows

struct step_of {
    using reply = double;
    double x;
};
class rate_owner : public sennit::actor<rate_owner, step_of> {
public:
    explicit rate_owner(double rate) : rate_(rate) {}
    double on(step_of m) { return logistic_size::step(rate_, m.x); }

private:
    double rate_;
};
struct current {
    using reply = double;
};
class series : public sennit::actor<series, begin, current> {
public:
    series(sennit::actor_ref<rate_owner> of, double first) : of_(of), x_(first) {}
    void on(begin) { x_ = of_.ask(step_of{x_}).get(); }
    double on(current) { return x_; }

private:
    sennit::actor_ref<rate_owner> of_;
    double x_;
};
struct logistic : logistic_size {
    using logistic_size::logistic_size;
    std::int64_t run() const {
        sennit::actor_group group;
        std::vector<sennit::actor_ref<savina::series>> all;
        for (std::int64_t i = 0; i < series; ++i)
            all.push_back(group.spawn<savina::series>(group.spawn<rate_owner>(rate(i)), first(i)));
        for (std::int64_t term = 0; term < n; ++term)
            for (const auto& one : all) one.tell(begin{});
        double sum = 0;
        for (const auto& one : all) sum += one.ask(current{}).get();
        return answer(sum);
    }
};

// ---- savina-bank

struct receives {
    using reply = void;
    std::int64_t amount;
};
class account;
struct gives {
    std::int64_t amount;
    sennit::actor_ref<account> to;
};
class account : public sennit::actor<account, gives, receives> {
public:
    account(finish& whole, std::atomic<std::int64_t>& sum) : whole_(whole), sum_(sum) {}
    void on(gives m) {
        m.to.ask(receives{m.amount}).get();
        balance_ -= m.amount;
        whole_.one_more(1);
    }
    void on(receives m) { balance_ += m.amount; }
    void stopped(sennit::exit_reason) { sum_ += balance_; }

private:
    finish& whole_;
    std::atomic<std::int64_t>& sum_;
    std::int64_t balance_ = in_account;
};
struct bank : actor_workload {
    using actor_workload::actor_workload;
    std::int64_t run() const {
        finish whole;
        whole.left = n;
        std::atomic<std::int64_t> sum = 0;
        {
            sennit::actor_group group;
            std::vector<sennit::actor_ref<account>> all;
            for (std::int64_t i = 0; i < accounts; ++i)
                all.push_back(group.spawn<account>(whole, sum));
            random numbers(123'456);
            // Money goes from a lower to a higher account only, so no circle of accounts waits.
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t from = numbers.below(accounts / 10 * 8);
                const std::int64_t to = from + 1 + numbers.below(accounts - from - 1);
                const std::int64_t amount = numbers.below(max_transfer);
                all[static_cast<std::size_t>(from)].tell(
                    gives{amount, all[static_cast<std::size_t>(to)]});
            }
            whole.wait();
        }
        return sum == accounts * in_account ? whole.answer.load() : -1;
    }
};

} // namespace lab::savina
