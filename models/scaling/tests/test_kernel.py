# SPDX-License-Identifier: Apache-2.0
"""Tests of the simulated kernel: processors, time slices, wake-ups and barriers."""

import random
import unittest

import machine
from events import Events
from kernel import BARRIER, COMPUTE, NEVER, SLEEP, SPIN, Kernel


class KernelTest(unittest.TestCase):
    def setUp(self):
        self.ended = {}

    def kernel(self, processors, machine_name="two"):
        self.events = Events()
        made = Kernel(self.events, machine.load(machine_name), processors, random.Random(1))
        made.look_us = lambda: 1.0
        return made

    def body(self, name, *requests):
        for request in requests:
            yield request
        self.ended[name] = self.events.now

    def run_all(self, count):
        self.events.run(lambda: len(self.ended) == count)

    def test_threads_on_two_processors_run_side_by_side(self):
        kernel = self.kernel(2)
        for name in "ab":
            kernel.start(self.body(name, (COMPUTE, 5000.0)))
        self.run_all(2)
        self.assertEqual(self.ended, {"a": 5000.0, "b": 5000.0})

    def test_threads_on_one_processor_take_turns_by_time_slices(self):
        kernel = self.kernel(1)
        for name in "ab":
            kernel.start(self.body(name, (COMPUTE, 10_000.0)))
        self.run_all(2)
        first, last = sorted(self.ended.values())
        self.assertAlmostEqual(last, 20_000.0, places=3)
        self.assertGreater(first, 15_000.0)  # not one after the other

    def test_woken_thread_takes_the_place_of_a_thread_that_has_used_more(self):
        kernel = self.kernel(1)
        began = []

        def sleeps():
            for _ in range(2):
                yield (SLEEP, NEVER)
                began.append(self.events.now)
                yield (COMPUTE, 10.0)
            self.ended["sleeper"] = self.events.now

        def wakes():
            for _ in range(2):
                yield (COMPUTE, 100.0)
                kernel.wake(sleeper, me[0])
                yield (COMPUTE, 4900.0)
            self.ended["waker"] = self.events.now

        sleeper = kernel.start(sleeps())
        me = [kernel.start(wakes())]
        self.run_all(2)
        # At first both have used the same, so the sleeper waits for the end of the time slice.
        self.assertGreater(began[0], 2000.0)
        self.assertAlmostEqual(began[1], 5110.0, places=3)
        self.assertAlmostEqual(self.ended["waker"], 10_020.0, places=3)

    def test_wake_up_before_the_sleep_is_not_lost(self):
        kernel = self.kernel(2)
        late = kernel.start(self.body("late", (COMPUTE, 500.0), (SLEEP, NEVER)))

        def waker():
            yield (COMPUTE, 10.0)
            kernel.wake(late, me[0])
            self.ended["waker"] = self.events.now

        me = [kernel.start(waker())]
        self.run_all(2)
        self.assertEqual(self.ended["late"], 500.0)

    def test_sleep_with_an_end_ends_by_itself(self):
        kernel = self.kernel(1)
        kernel.start(self.body("a", (SLEEP, 300.0)))
        self.run_all(1)
        self.assertGreater(self.ended["a"], 300.0)

    def test_kernel_makes_one_barrier_at_a_time(self):
        kernel = self.kernel(2)
        for name in "ab":
            kernel.start(self.body(name, (COMPUTE, 10.0), (BARRIER,)))
        self.run_all(2)
        first, second = sorted(self.ended.values())
        self.assertAlmostEqual(first, 10.0 + 22.2)
        self.assertAlmostEqual(second, 10.0 + 22.2 + 22.2)

    def test_barrier_takes_time_from_threads_that_compute(self):
        kernel = self.kernel(2)
        kernel.start(self.body("caller", (COMPUTE, 10.0), (BARRIER,)))
        kernel.start(self.body("computes", (COMPUTE, 100.0)))
        self.run_all(2)
        self.assertAlmostEqual(self.ended["computes"], 100.0 + kernel.machine.lost_us)

    def test_spinning_thread_sees_a_change_after_a_poke(self):
        kernel = self.kernel(2)
        seen = []
        kernel.start(self.body("spins", (SPIN, NEVER, lambda: bool(seen), True)))

        def changes():
            yield (COMPUTE, 50.0)
            seen.append(1)
            kernel.poke()
            self.ended["changes"] = self.events.now

        kernel.start(changes())
        self.run_all(2)
        self.assertGreater(self.ended["spins"], 50.0)
        self.assertLess(self.ended["spins"], 52.0)

    def test_simulation_without_events_says_so(self):
        kernel = self.kernel(1)
        kernel.start(self.body("a", (SLEEP, NEVER)))
        with self.assertRaisesRegex(RuntimeError, "every thread sleeps"):
            self.run_all(1)


class MachineTest(unittest.TestCase):
    def test_measured_costs_are_those_of_the_file(self):
        costs = machine.load("sixteen")
        self.assertAlmostEqual(costs.barrier_us(15), 10.4)
        self.assertAlmostEqual(costs.wake_us(1000.0, 0.0), 23.2)

    def test_costs_between_two_measured_ones_are_interpolated(self):
        costs = machine.load("sixteen")
        self.assertAlmostEqual(costs.barrier_us(2), (2.73 + 4.68) / 2)

    def test_barrier_beside_more_threads_follows_a_line(self):
        costs = machine.load("sixteen")
        step = costs.barrier_us(64) - costs.barrier_us(63)
        self.assertGreater(step, 0.3)
        self.assertAlmostEqual(costs.barrier_us(164) - costs.barrier_us(64), 100 * step)

    def test_ninth_of_ten_wake_ups_has_the_measured_time(self):
        costs = machine.load("sixteen")
        self.assertAlmostEqual(costs.wake_us(1000.0, 0.9), 40.7)


if __name__ == "__main__":
    unittest.main()
