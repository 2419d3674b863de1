// SPDX-License-Identifier: Apache-2.0
// Deques and queues that lost or duplicated their elements.
#include "explorer/sim.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"

#include <array>
#include <memory>

namespace sim = sennit::sim;
using sennit::base::atomic;

SIM_KNOWN_BUG(chase_lev_resize, "no garbage",
              "Le, Pop, Cohen and Zappa Nardelli, PPoPP 2013, proved a Chase-Lev deque for weak "
              "memory; Norris\n"
              "and Demsky found a bug in its published C11 code with CDSChecker the same year. "
              "When the array\n"
              "grows, the pointer to the new array is stored relaxed. A thief may see the new "
              "pointer before\n"
              "the elements that were copied into the array, and steals garbage.\n"
              "Cure: store the pointer with release order, load it with acquire.") {
    struct array {
        atomic<int> cells[2];
    };
    array small, large;
    small.cells[0].store_rlx(7);
    atomic<int> top{0}, bottom{1};
    atomic<array*> current{&small};
    sim::thread owner([&] {
        // push: the array is full, so it grows
        large.cells[0].store_rlx(small.cells[0].load_rlx());
        current.store_rlx(&large); // must be a release
        large.cells[1].store_rlx(8);
        bottom.store_rel(2);
    });
    sim::thread thief([&] {
        int t = top.load();
        if (t >= bottom.load_rlx()) return;
        array* from = current.load_rlx();
        const int stolen = from->cells[t].load_rlx();
        if (top.cas(t, t + 1)) sim::check(stolen == 7, "no garbage is stolen");
    });
    owner.join();
    thief.join();
}

SIM_KNOWN_BUG(
    chase_lev_without_fence, "taken twice",
    "The deque of Chase and Lev (SPAA 2005) rests on one store-load order: the owner writes "
    "bottom\n"
    "and then reads top. Ports that write \"release\" and \"acquire\" there lose the order, on x86 "
    "as\n"
    "well: owner and thief both take the last element. Lê et al. list this fence as one that must\n"
    "not be weakened; hand-made pools have omitted it ever since.\n"
    "Cure: a sequentially consistent fence, or sequentially consistent accesses.") {
    atomic<int> top{0}, bottom{2};
    std::array<atomic<int>, 2> taken;
    const auto take = [&](int element) { taken[static_cast<unsigned>(element)].fetch_add(1); };
    sim::thread owner([&] {
        const int b = bottom.load_rlx() - 1;
        bottom.store_rel(b);
        int t = top.load_acq(); // nothing orders it behind the store
        if (t < b) {
            take(b); // not the last element: no thief can want it
        } else {
            if (t == b && top.cas(t, t + 1)) take(b);
            bottom.store_rel(b + 1);
        }
    });
    sim::thread thief([&] {
        for (int i = 0; i < 2; ++i) {
            int t = top.load_acq();
            if (t < bottom.load_acq() && top.cas(t, t + 1)) take(t);
        }
    });
    owner.join();
    thief.join();
    sim::check(taken[0].load() <= 1 && taken[1].load() <= 1, "no element is taken twice");
}

SIM_KNOWN_BUG(
    push_by_foreign_thread, "nothing is lost",
    "curry, 2026 (#243, #248), ConorWilliams/Threadpool (#4), and more: a Chase-Lev deque belongs "
    "to\n"
    "one owner, and only the owner may push. Here the thread that distributes work, main or any\n"
    "actor, pushed into the deques of the workers. Two threads see the same bottom and write the "
    "same\n"
    "cell, and one task is lost: a test sometimes hung, with every worker asleep.\n"
    "Cure: foreign work goes through a queue that is made for it, the injector.") {
    std::array<atomic<int>, 2> cells;
    atomic<int> bottom{0};
    const auto push = [&](int task) {
        const int b = bottom.load_rlx();
        cells[static_cast<unsigned>(b)].store_rlx(task);
        bottom.store_rel(b + 1);
    };
    sim::in_threads(2, [&](unsigned me) { push(static_cast<int>(me) + 1); });
    sim::check(bottom.load() == 2 && cells[0].load() + cells[1].load() == 3, "nothing is lost");
}

SIM_KNOWN_BUG(stdexec_1812_node_is_lost, "nothing is lost",
              "stdexec, 2026 (#1812). Its queue of many producers and one consumer followed "
              "Vyukov's, with one difference:\n"
              "the node that stands for \"empty\" was a null-like pointer, not a node in the "
              "queue. The consumer that took\n"
              "the last node reset the back pointer beside producers that had already exchanged "
              "it. Nodes were lost, went\n"
              "round in a circle, or the empty node itself was handed out. Relacy found it.\n"
              "Cure: Vyukov's original, where the stub is pushed like any other node.") {
    struct node {
        atomic<node*> next{nullptr};
    };
    std::array<node, 2> nodes;
    atomic<node*> back{nullptr};
    atomic<node*> front{nullptr};
    const auto push = [&](node* one) {
        node* before = back.exchange(one);
        if (before)
            before->next.store(one);
        else
            front.store(one);
    };
    const auto pop = [&]() -> node* {
        node* first = front.load();
        if (!first) return nullptr;
        node* after = first->next.load();
        front.store(after);
        if (!after) back.store(nullptr); // races a producer that has already exchanged it
        return first;
    };
    push(&nodes[0]);
    sim::thread producer([&] { push(&nodes[1]); });
    int popped = pop() != nullptr;
    producer.join();
    popped += pop() != nullptr;
    sim::check(popped == 2, "nothing is lost");
}

SIM_KNOWN_BUG(seqlock_without_fence, "torn",
              "Sequence locks were written for years as \"read the number, read the data, read the "
              "number again\", with an\n"
              "acquire load at the end. Boehm (MSPC 2012, \"Can seqlocks get along with "
              "programming language memory\n"
              "models?\") showed that an acquire load there orders nothing that comes before it.\n"
              "Cure: an acquire fence before the second look, or a read-modify-write.") {
    atomic<int> number{0}, x{0}, y{0};
    sim::thread writer([&] {
        number.store(1);
        x.store_rlx(1);
        y.store_rlx(1);
        number.store(2);
    });
    sim::thread reader([&] {
        const int before = number.load_acq();
        if (before % 2 != 0) return;
        const int a = x.load_rlx(), b = y.load_rlx();
        if (number.load_acq() == before) sim::check(a == b, "no torn pair is taken for whole");
    });
    writer.join();
    reader.join();
}
