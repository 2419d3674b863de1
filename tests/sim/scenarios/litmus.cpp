// SPDX-License-Identifier: Apache-2.0
// Tests of the explorer against the C++ memory model: results that must be possible, and results
// that must be impossible.
#include "explorer/sim.hpp"

#include "sennit/detail/base/atomic.hpp"

namespace sim = sennit::sim;
using word = sennit::base::atomic<int>;

SIM_SCENARIO(litmus, message_passing_by_release_and_acquire) {
    word flag{0};
    sim::var<int> data{0};
    sim::thread writer([&] {
        data = 42;
        flag.store_rel(1);
    });
    sim::thread reader([&] {
        if (flag.load_acq() == 1) sim::check(data == 42, "data arrived");
    });
    writer.join();
    reader.join();
}

SIM_SCENARIO(litmus, store_buffering_is_forbidden_by_sequential_consistency) {
    word x{0}, y{0};
    int a = 0, b = 0;
    sim::in_threads(2, [&](unsigned me) {
        if (me == 0) {
            x.store(1);
            a = y.load();
        } else {
            y.store(1);
            b = x.load();
        }
    });
    sim::check(a == 1 || b == 1, "one of the two saw the other");
}

SIM_SCENARIO(litmus, reads_of_one_word_are_coherent) {
    word x{0};
    sim::in_threads(2, [&](unsigned me) {
        if (me == 0) {
            x.store_rlx(1);
            x.store_rlx(2);
        } else {
            const int first = x.load_rlx(), second = x.load_rlx();
            sim::check(first <= second, "reads of one word are coherent");
        }
    });
}

SIM_SCENARIO(litmus, updates_continue_release_sequence) {
    word x{0};
    sim::var<int> data{0};
    sim::in_threads(3, [&](unsigned me) {
        if (me == 0) {
            data = 1;
            x.store_rel(1);
        } else if (me == 1) {
            x.fetch_add_rlx(10);
        } else if (x.load_acq() == 11) {
            sim::check(data == 1, "data arrived through another thread's update");
        }
    });
}

#define MUST_BE_FOUND(name, text)                                                                  \
    SIM_KNOWN_BUG(litmus_##name, text, "A weak behaviour that the explorer must be able to show.")

MUST_BE_FOUND(message_passing_relaxed, "data race") {
    word flag{0};
    sim::var<int> data{0};
    sim::in_threads(2, [&](unsigned me) {
        if (me == 0) {
            data = 42;
            flag.store_rlx(1);
        } else if (flag.load_acq() == 1) {
            sim::check(data == 42, "data arrived");
        }
    });
}

MUST_BE_FOUND(store_buffering_by_release_and_acquire, "one of the two") {
    word x{0}, y{0};
    int a = 0, b = 0;
    sim::in_threads(2, [&](unsigned me) {
        if (me == 0) {
            x.store_rel(1);
            a = y.load_acq();
        } else {
            y.store_rel(1);
            b = x.load_acq();
        }
    });
    sim::check(a == 1 || b == 1, "one of the two saw the other");
}

MUST_BE_FOUND(independent_reads_of_independent_writes, "agree") {
    word x{0}, y{0};
    int a = 0, b = 0, c = 0, d = 0;
    sim::in_threads(4, [&](unsigned me) {
        if (me == 0) x.store_rel(1);
        if (me == 1) y.store_rel(1);
        if (me == 2) {
            a = x.load_acq();
            b = y.load_acq();
        }
        if (me == 3) {
            c = y.load_acq();
            d = x.load_acq();
        }
    });
    sim::check(!(a == 1 && b == 0 && c == 1 && d == 0), "the readers agree on an order");
}

SIM_SCENARIO(litmus, independent_reads_agree_under_sequential_consistency) {
    word x{0}, y{0};
    int a = 0, b = 0, c = 0, d = 0;
    sim::in_threads(4, [&](unsigned me) {
        if (me == 0) x.store(1);
        if (me == 1) y.store(1);
        if (me == 2) {
            a = x.load();
            b = y.load();
        }
        if (me == 3) {
            c = y.load();
            d = x.load();
        }
    });
    sim::check(!(a == 1 && b == 0 && c == 1 && d == 0), "the readers agree on an order");
}
