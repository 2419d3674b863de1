// SPDX-License-Identifier: Apache-2.0
// The type-independent part of a pipeline.
//
// Which threads run this: the runner and the workers that take part (joint_run.hpp). State:
//
//   field                       written by                        guarded by
//   free_, source_waits_        the worker with the source turn   source_lock_
//                                 and the workers that finish
//   next_number_, pace_         the worker with the source turn   the turn, which passes by
//                                                                   offers and source_lock_
//   item::stage, dropped,       the worker that carries the       the item, which passes by
//     entered, the value          item                              offers and serial_stage::lock
//   serial_stage                the workers that enter or leave   its lock
//   lowest_error_               the workers that fail             atomic
//
// Protocol. A piece of work (work_item) is an item of the pipeline, or the source turn, which
// exists once.
//   P1  The worker with the source turn takes a free item. If there is none, it deposits the turn.
//       Otherwise it calls the source, offers the turn, and carries the item. Where items are
//       cheap, a request for the turn may wait (`item_pace`).
//   P2  At a serial stage a worker enters if the stage is free and, in order, the item is the
//       expected one. Otherwise it parks the item at the stage and takes other work.
//   P3  A worker that leaves a serial stage passes the stage to the parked item that is next, and
//       offers that item. It carries its own item further, so that on one worker each item is
//       finished before the next one begins.
//   P4  A worker whose item is finished frees the item, and offers the turn if it was deposited.
//
// Why the ring of an ordered stage is large enough. All items from the expected number to that of a
// parked item were taken from the source and have not left the stage. They are at most `limit`
// items, so their numbers differ modulo `limit`.
//
// Errors. An item that is dropped goes through the remaining stages without calls, so that the
// items behind it get their turn. Items with lower numbers than the lowest error are carried on,
// because they may throw, too.
//
// Tested by tests/unit/par/pipeline_test.cpp and the explorer's group `pipeline`.
#include "sennit/par/pipeline.hpp"

#include "par/joint_run.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/runtime.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace sennit::par::detail {

namespace {

class pipeline_run;

struct pipeline_item : sched::runnable {
    pipeline_item() noexcept : runnable(nullptr) {}
    pipeline_run* run_of = nullptr;
    void* value = nullptr;
    std::uint64_t number = 0; // in the order of the source
    std::uint32_t index = 0;
    std::uint32_t stage = 0;
    bool entered = false; // the serial stage at which it was parked is free for it
    bool dropped = false; // there is no value any more
    pipeline_item* next_free = nullptr;
};

struct serial_stage {
    base::spin_lock lock; // guards the members below
    bool occupied = false;
    std::uint64_t expected = 0;
    std::unique_ptr<pipeline_item*[]> parked;    // in order: by number, modulo limit
    base::intrusive_queue<pipeline_item> queued; // in any order
};

// How long the worker with the source turn keeps the turn although another worker requests it. The
// theft of the turn costs 0.1 to 0.3 us, as much as several cheap items. So the worker keeps the
// turn for as many items as take about 1 us. It answers at once where an item takes longer than a
// quarter of that, and for the first items, whose cost is not known. Keeping the turn for 2 to 16
// us gains nothing: each look of the other worker costs the owner a cache miss in any case.
class item_pace {
public:
    // Called for each item, before the turn is offered. True: the turn may be kept.
    bool is_patient(bool requested) noexcept {
        if (++items_ % items_of_sample == 0) sample();
        if (requested && kept_ < patience_) {
            ++kept_;
            return true;
        }
        kept_ = 0;
        return false;
    }

private:
#ifdef SENNIT_SIMULATOR
    static constexpr std::uint64_t first_patience = 2;
#else
    static constexpr std::uint64_t first_patience = 0;
#endif
    static constexpr std::uint32_t items_of_sample = 16;

    void sample() noexcept {
        const std::uint64_t now = sched::ticks();
        const std::uint64_t took = std::max<std::uint64_t>(now - std::exchange(sampled_, now), 1);
        const std::uint64_t in_microsecond = items_of_sample * sched::ticks_per_us() / took;
        patience_ = in_microsecond < 4 ? 0 : std::min<std::uint64_t>(in_microsecond, 64);
    }

    std::uint32_t items_ = 0;
    std::uint64_t kept_ = 0; // Items in a row for which the turn was kept.
    std::uint64_t patience_ = first_patience;
    std::uint64_t sampled_ = 0;
};

// Memory for `limit` values.
class value_memory {
public:
    value_memory(std::size_t limit, std::size_t bytes, std::size_t alignment)
        : stride_((bytes + alignment - 1) / alignment * alignment), alignment_(alignment),
          bytes_(static_cast<std::byte*>(
              ::operator new(limit * stride_, std::align_val_t(alignment)))) {}
    ~value_memory() { ::operator delete(bytes_, std::align_val_t(alignment_)); }
    value_memory(const value_memory&) = delete;
    void* at(std::size_t index) const noexcept { return bytes_ + index * stride_; }

private:
    const std::size_t stride_;
    const std::size_t alignment_;
    std::byte* const bytes_;
};

class pipeline_run : public joint_run {
public:
    pipeline_run(const pipeline_shape& shape, std::size_t limit, void* bodies)
        : joint_run(of_pipelines, sched::current_scope()), shape_(shape), functions_(bodies),
          limit_(limit), values_(limit, shape.item_bytes, shape.item_alignment),
          items_(std::make_unique<pipeline_item[]>(limit)),
          serial_(std::make_unique<serial_stage[]>(shape.stages.size())) {
        for (std::size_t i = limit; i != 0; --i) {
            pipeline_item& one = items_[i - 1];
            one.run = &pipeline_run::start_item;
            one.run_of = this;
            one.value = values_.at(i - 1);
            one.index = static_cast<std::uint32_t>(i - 1);
            one.next_free = std::exchange(free_, &one);
        }
        for (std::size_t i = 0; i < shape.stages.size(); ++i)
            if (shape.stages[i].kind == stage_kind::in_order)
                serial_[i].parked = std::make_unique<pipeline_item*[]>(limit);
    }

    void execute_all() {
        execute(source_turn);
        rethrow();
    }

private:
    static constexpr std::uint64_t no_error = std::numeric_limits<std::uint64_t>::max();
    static constexpr work_item source_turn{std::numeric_limits<std::uint32_t>::max(), 0};
    static const functions of_pipelines;

    struct source_task : sched::runnable {
        explicit source_task(pipeline_run& whose) noexcept
            : runnable(&source_task::start), run_of(whose) {}
        static void start(runnable* self) noexcept {
            sched::strand_frame strand;
            static_cast<source_task*>(self)->run_of.execute_opened({&source_turn, 1});
        }
        pipeline_run& run_of;
    };

    static void step(joint_run& run, visit& who, work_item what) noexcept;
    static void overflow(joint_run& run, std::span<const work_item> items) noexcept;
    static void start_item(sched::runnable* self) noexcept;

    void pull(visit& who) noexcept;
    void offer_source_turn(visit& who) noexcept;
    bool call_source(pipeline_item& one) noexcept;
    void carry(visit& who, pipeline_item& one) noexcept;
    void call(pipeline_item& one, const stage_type& stage) noexcept;
    bool enter(pipeline_item& one, serial_stage& stage) noexcept;
    pipeline_item* leave(serial_stage& stage) noexcept;
    pipeline_item* take_free() noexcept;
    void finish(visit& who, pipeline_item& one) noexcept;
    void failed(std::uint64_t number) noexcept;

    const pipeline_shape& shape_;
    void* const functions_;
    const std::size_t limit_;
    value_memory values_;
    std::unique_ptr<pipeline_item[]> items_;
    std::unique_ptr<serial_stage[]> serial_;
    source_task source_task_{*this};
    base::atomic<std::uint64_t> lowest_error_{no_error};
    std::uint64_t next_number_ = 0;
    item_pace pace_;
    base::spin_lock source_lock_; // guards the members below
    pipeline_item* free_ = nullptr;
    bool source_waits_ = false;
};

const joint_run::functions pipeline_run::of_pipelines{&pipeline_run::step, &pipeline_run::overflow,
                                                      nullptr, "par::pipeline"};

void pipeline_run::step(joint_run& run, visit& who, work_item what) noexcept {
    auto& me = static_cast<pipeline_run&>(run);
    if (what.first == source_turn.first)
        me.pull(who);
    else
        me.carry(who, me.items_[what.first]);
}

void pipeline_run::overflow(joint_run& run, std::span<const work_item> items) noexcept {
    auto& me = static_cast<pipeline_run&>(run);
    for (const work_item& one : items) {
        me.open_visit();
        if (one.first == source_turn.first)
            sched::spawn(me.source_task_, me.runtime);
        else
            sched::spawn(me.items_[one.first], me.runtime);
    }
}

void pipeline_run::start_item(sched::runnable* self) noexcept {
    auto& me = *static_cast<pipeline_item*>(self);
    const work_item item{me.index, 0};
    sched::strand_frame strand;
    me.run_of->execute_opened({&item, 1});
}

// P1. The source turn ends with the stream, an error or a cancellation.
void pipeline_run::pull(visit& who) noexcept {
    // A hint: a worker that reads an old value calls the source once more.
    if (lowest_error_.load_rlx() != no_error) return;
    if (cancelled()) return cut_short();
    pipeline_item* one = take_free();
    if (!one) return;
    if (!call_source(*one)) return;
    offer_source_turn(who);
    carry(who, *one);
}

// From the offer on, a thief may have the turn.
void pipeline_run::offer_source_turn(visit& who) noexcept {
    if (pace_.is_patient(sched::steal_requested()))
        who.offer_patiently(source_turn);
    else
        who.offer(source_turn);
}

bool pipeline_run::call_source(pipeline_item& one) noexcept {
    const std::uint64_t number = next_number_;
    try {
        if (!shape_.pull(functions_, one.value)) return false;
    } catch (...) {
        failed(number);
        return false;
    }
    ++next_number_;
    one.number = number;
    one.stage = 0;
    one.dropped = false;
    return true;
}

// P2 and P3.
void pipeline_run::carry(visit& who, pipeline_item& one) noexcept {
    for (; one.stage != shape_.stages.size(); ++one.stage) {
        const stage_type& stage = shape_.stages[one.stage];
        if (stage.kind == stage_kind::parallel) {
            call(one, stage);
            continue;
        }
        serial_stage& here = serial_[one.stage];
        if (!std::exchange(one.entered, false) && !enter(one, here)) return;
        call(one, stage);
        if (pipeline_item* next = leave(here)) who.offer({next->index, 0});
    }
    finish(who, one);
}

void pipeline_run::call(pipeline_item& one, const stage_type& stage) noexcept {
    if (one.dropped) return;
    const bool late = cancelled();
    // A hint: a worker that reads an old value does some work without result.
    if (late || one.number > lowest_error_.load_rlx()) [[unlikely]] {
        if (late) cut_short();
        one.dropped = true;
        stage.drop(one.value);
        return;
    }
    try {
        stage.run(functions_, one.value);
    } catch (...) {
        one.dropped = true;
        failed(one.number);
    }
}

// False: the item is parked, and may be in the hands of another worker.
bool pipeline_run::enter(pipeline_item& one, serial_stage& stage) noexcept {
    std::lock_guard guard(stage.lock);
    if (!stage.occupied && (!stage.parked || one.number == stage.expected)) {
        stage.occupied = true;
        return true;
    }
    one.entered = true; // when it continues
    if (stage.parked)
        stage.parked[one.number % limit_] = &one;
    else
        stage.queued.push_back(one);
    return false;
}

// Returns the parked item that has the stage now; null: the stage is free.
pipeline_item* pipeline_run::leave(serial_stage& stage) noexcept {
    std::lock_guard guard(stage.lock);
    ++stage.expected;
    pipeline_item* next = stage.parked
                              ? std::exchange(stage.parked[stage.expected % limit_], nullptr)
                              : stage.queued.pop_front();
    stage.occupied = next != nullptr;
    return next;
}

// Null: all items are in use, and the source turn is deposited.
pipeline_item* pipeline_run::take_free() noexcept {
    std::lock_guard guard(source_lock_);
    pipeline_item* one = free_;
    if (one)
        free_ = one->next_free;
    else
        source_waits_ = true;
    return one;
}

// P4.
void pipeline_run::finish(visit& who, pipeline_item& one) noexcept {
    bool source_waited;
    {
        std::lock_guard guard(source_lock_);
        one.next_free = std::exchange(free_, &one);
        source_waited = std::exchange(source_waits_, false);
    }
    if (source_waited) who.offer(source_turn);
}

// Handles the exception in flight. `cancelled` is no error of its own if the run is cancelled.
[[gnu::cold]] void pipeline_run::failed(std::uint64_t number) noexcept {
    try {
        throw;
    } catch (const sennit::cancelled&) {
        if (cancelled()) return cut_short();
        record_error(number, std::current_exception());
    } catch (...) {
        record_error(number, std::current_exception());
    }
    std::uint64_t lowest = lowest_error_.load();
    while (number < lowest && !lowest_error_.cas(lowest, number)) {
    }
}

} // namespace

void run_pipeline(const pipeline_shape& shape, std::size_t limit, void* functions) {
    if (limit == 0 || limit > std::numeric_limits<std::uint32_t>::max() / 2)
        throw std::invalid_argument("sennit: [SNT-076] the limit of par::pipeline must be from 1 "
                                    "to 2147483647 items, not " +
                                    std::to_string(limit) +
                                    "; a few items for each worker are enough");
    if (sched::on_worker()) return pipeline_run(shape, limit, functions).execute_all();
    default_runtime().run([&] { pipeline_run(shape, limit, functions).execute_all(); });
}

} // namespace sennit::par::detail
