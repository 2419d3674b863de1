# SPDX-License-Identifier: Apache-2.0
"""The event queue of the simulation: callbacks at moments of simulated time, in microseconds.

Events of one moment run in the order in which they were made, so a run depends on its seed only.
"""

import heapq


class Events:
    """Simulated time, and the callbacks that are to come."""

    def __init__(self):
        self.now = 0.0
        self._queue = []
        self._made = 0

    def at(self, moment, callback, *arguments):
        """Calls `callback(*arguments)` at `moment`, or now if `moment` has passed."""
        self._made += 1
        heapq.heappush(self._queue, (max(moment, self.now), self._made, callback, arguments))

    def run(self, is_over):
        """Runs events until `is_over()` is true. Raises RuntimeError if none is left before."""
        queue = self._queue
        while not is_over():
            if not queue:
                raise RuntimeError(
                    f"the simulation stopped at {self.now:.1f} us: every thread sleeps, and no "
                    "event is left; the workload waits for something that no thread does"
                )
            self.now, _, callback, arguments = heapq.heappop(queue)
            callback(*arguments)
