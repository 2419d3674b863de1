# SPDX-License-Identifier: Apache-2.0
"""Tests of the simulated workers: each difference between two policies shows in the counts."""

import unittest

import machine
import policies
from forks import pop
from policies import EACH, LAST, NOW, TREE
from programs import run_range
from runtime import EAGER_PUSHES, LateLookPolicy, SearchPolicy
from workloads import Run, fork_tree, little_parallelism, long_leaves, phases

SIXTEEN = machine.load("sixteen")


class WorkTest(unittest.TestCase):
    def test_one_worker_computes_for_the_time_of_the_work(self):
        result = phases(machine.load("sixteen"), NOW, 1, 1000.0, 100.0, 5)
        self.assertGreater(result.us, 1000.0)
        self.assertLess(result.us, 1010.0)

    def test_four_workers_share_a_loop(self):
        for policy in policies.ALL:
            result = phases(SIXTEEN, policy, 4, 1000.0, 100.0, 10)
            self.assertGreater(result.us, 1000.0, policy.name)
            self.assertLess(result.us, 1150.0, policy.name)
            self.assertGreater(result.counts["steals"], 3.0, policy.name)

    def test_loop_computes_each_element_once(self):
        run = Run(SIXTEEN, NOW, 8, 1)
        computed = []  # microseconds; an element takes 1 us, other costs are fractions of one

        def program(strand):
            yield from run_range(run.rt, strand, 0, 4000, 1.0)
            run.over = True

        compute = run.kernel.events.at

        def note(moment, callback, *arguments):
            if callback == run.kernel._end_compute and arguments[0].left >= 1.0:
                computed.append(int(arguments[0].left + 0.01))
            compute(moment, callback, *arguments)

        run.events.at = note
        run.rt.machine = machine.load("sixteen")
        run.rt.machine.fork_us = 0.0
        run.rt.machine.publish_us = 0.0
        run.add(0, program)
        run.go()
        self.assertGreaterEqual(sum(computed), 4000)
        self.assertLess(sum(computed), 4400)

    def test_tree_of_forks_has_a_speed_up(self):
        result = fork_tree(SIXTEEN, NOW, 8, 100_000.0, 10.0, 0.4)
        self.assertGreater(result.us, 100_000.0 / 8)
        self.assertLess(result.us, 100_000.0 / 6)

    def test_same_seed_gives_the_same_figures(self):
        first = phases(machine.load("two"), NOW, 8, 200.0, 50.0, 5, seed=3)
        second = phases(machine.load("two"), NOW, 8, 200.0, 50.0, 5, seed=3)
        self.assertEqual(first, second)
        other = phases(machine.load("two"), NOW, 8, 200.0, 50.0, 5, seed=4)
        self.assertNotEqual(first, other)


class PolicyTest(unittest.TestCase):
    def test_only_the_last_searcher_pays(self):
        each = phases(SIXTEEN, EACH, 16, 1000.0, 100.0, 10).counts["barriers"]
        last = phases(SIXTEEN, LAST, 16, 1000.0, 100.0, 10).counts["barriers"]
        self.assertGreater(each, 14.0)
        self.assertLess(last, 5.0)

    def test_post_leaves_work_to_a_searcher(self):
        each = little_parallelism(SIXTEEN, EACH, 8, 1, 50.0, 300).counts["wakes"]
        last = little_parallelism(SIXTEEN, LAST, 8, 1, 50.0, 300).counts["wakes"]
        self.assertGreater(each, 1.5 * last)

    def test_tree_of_wake_ups_is_faster_than_a_chain(self):
        costs = machine.load("sixteen", processors=64)
        chain = phases(costs, LAST, 64, 1000.0, 2000.0, 3).us
        tree = phases(costs, TREE, 64, 1000.0, 2000.0, 3).us
        self.assertLess(tree, 0.9 * chain)

    def test_late_looks_save_the_barriers_of_short_sleeps(self):
        tree = little_parallelism(SIXTEEN, TREE, 4, 1, 50.0, 500).counts["barriers"]
        now = little_parallelism(SIXTEEN, NOW, 4, 1, 50.0, 500).counts["barriers"]
        self.assertGreater(tree, 0.3)
        self.assertLess(now, 0.1)

    def test_one_barrier_forces_several_owners(self):
        arguments = (16, 4, 6, 500.0, 50.0, 40)
        tree = long_leaves(SIXTEEN, TREE, *arguments)[0].counts["barriers"]
        now = long_leaves(SIXTEEN, NOW, *arguments)[0].counts["barriers"]
        self.assertLess(now, tree)

    def test_children_behind_a_long_leaf_are_forced(self):
        result, began_p90 = long_leaves(SIXTEEN, NOW, 4, 1, 6, 500.0, 50.0, 20)
        self.assertGreater(result.counts["forced"], 0.5)
        self.assertLess(began_p90, 400.0)

    def test_forced_owner_publishes_eagerly(self):
        run = Run(SIXTEEN, NOW, 2, 1)
        worker = run.rt.workers[0]

        def program(strand):
            strand.claimed = True
            strand.slots.append(None)
            yield from pop(run.rt, strand)
            self.assertEqual(worker.eager, 0)  # the fork was private: only the claim is gone
            strand.claimed = True
            strand.slots.append(None)
            strand.split = 1
            yield from pop(run.rt, strand)
            self.assertEqual(worker.eager, EAGER_PUSHES)
            run.over = True

        run.add(0, program)
        run.go()


class SmallPoliciesTest(unittest.TestCase):
    def test_search_is_halved_after_long_gaps(self):
        policy = SearchPolicy(True)
        lengths = []
        for _ in range(7):
            lengths.append(policy.search_us())
            policy.note_gap(1000.0)
        self.assertEqual(lengths, [50.0, 50.0, 25.0, 12.5, 6.25, 3.125, 3.125])
        policy.note_gap(10.0)
        self.assertEqual(policy.search_us(), 50.0)

    def test_late_looks_that_are_due_are_skipped_longer_and_longer(self):
        policy = LateLookPolicy()
        self.assertTrue(policy.looks_late())
        policy.note_due()
        self.assertEqual([policy.looks_late() for _ in range(2)], [False, True])
        policy.note_due()
        self.assertEqual([policy.looks_late() for _ in range(3)], [False, False, True])
        policy.note_saved()
        policy.note_due()
        self.assertEqual([policy.looks_late() for _ in range(2)], [False, True])


if __name__ == "__main__":
    unittest.main()
