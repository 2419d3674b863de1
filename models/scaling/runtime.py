# SPDX-License-Identifier: Apache-2.0
"""The state that workers share: parked workers, searchers and public forks.

The functions are the steps of a post, a theft and a wake-up, as in src/core/README.md, "Two
protocols".
"""

from kernel import NEVER, SPIN

BATCH = 16  # tuning::victims_per_barrier
EAGER_PUSHES = 1024  # tuning::eager_pushes
SEARCH_US = 50.0  # runtime_options::search_time
FORCE_AFTER_US = 20.0  # tuning::force_after_ns
LATE_LOOK_US = 250.0  # tuning::late_look_ns
MOST_HALVINGS = 4  # tuning::most_halvings_of_search
MOST_SKIPPED = 64  # late_look_policy::most_skipped

COUNTED = ("barriers", "wakes", "parks", "steals", "failed_steals", "forced", "suspensions")


class Slot:
    """A fork: `program` makes the generator of its work."""

    __slots__ = ("program", "done", "waiter", "joiner")

    def __init__(self, program):
        self.program = program
        self.done = False
        self.waiter = None  # a suspended strand
        self.joiner = None  # a worker that looks at `done` for a moment before it suspends


class Strand:
    """A context with its stack of forks: slots below `top` are stolen, below `split` public."""

    __slots__ = (
        "body",
        "slot",
        "worker",
        "slots",
        "top",
        "split",
        "claimed",
        "locked",
        "popping",
        "lock_waiters",
    )

    def __init__(self, body, slot=None):
        self.body = body
        self.slot = slot  # the fork whose work this is; None: a program of its own
        self.worker = None
        self.slots = []
        self.top = self.split = 0
        self.popping = 0  # 1: the owner pops the newest slot, and waits for the lock
        self.claimed = False
        self.locked = False  # a thief that forces publication holds the context's lock
        self.lock_waiters = []  # threads that spin until it does not

    def unlock(self, kernel):
        self.locked = False
        for thread in self.lock_waiters:
            kernel.poke_thread(thread)

    def await_lock(self, thread):
        """A generator of requests to the kernel: spins until no thief holds the lock."""
        self.lock_waiters.append(thread)
        while self.locked:
            yield (SPIN, NEVER, lambda: not self.locked, False)
        self.lock_waiters.remove(thread)

    def private(self):
        return len(self.slots) - self.split - self.popping


class SearchPolicy:
    """src/core/policy/search_policy.hpp. Policies before it search for the whole time."""

    __slots__ = ("long_gaps", "learns")

    def __init__(self, learns):
        self.long_gaps = 0
        self.learns = learns

    def search_us(self):
        halvings = min(max(self.long_gaps - 1, 0), MOST_HALVINGS) if self.learns else 0
        return SEARCH_US / (1 << halvings)

    def note_gap(self, us):
        self.long_gaps = 0 if us <= SEARCH_US else min(self.long_gaps + 1, MOST_HALVINGS + 1)


class LateLookPolicy:
    """src/core/policy/late_look_policy.hpp."""

    __slots__ = ("skip", "next_skip")

    def __init__(self):
        self.skip, self.next_skip = 0, 1

    def looks_late(self):
        if self.skip == 0:
            return True
        self.skip -= 1
        return False

    def note_saved(self):
        self.next_skip = 1

    def note_due(self):
        self.skip = self.next_skip
        self.next_skip = min(2 * self.next_skip, MOST_SKIPPED)


class Worker:
    __slots__ = (
        "index",
        "thread",
        "strand",
        "next_strand",
        "answered",
        "requested",
        "eager",
        "searches",
        "owes_look",
        "look_at",
        "search_policy",
        "late_look_policy",
        "offers_at",
    )

    def __init__(self, index, policy):
        self.index = index
        self.thread = None
        self.strand = None  # the context that runs
        self.next_strand = None  # a context that this worker resumes next
        self.answered = -1.0  # when it last cleared its steal request
        self.requested = False
        self.eager = 0  # pushes that publish without a request
        self.searches = False
        self.owes_look = False
        self.look_at = NEVER
        self.search_policy = SearchPolicy(policy.searches_learn)
        self.late_look_policy = LateLookPolicy()
        self.offers_at = -1  # place in Runtime.offers


class Runtime:
    def __init__(self, kernel, policy, workers, rng):
        self.kernel = kernel
        kernel.look_us = self.look_us
        self.events = kernel.events
        self.machine = kernel.machine
        self.policy = policy
        self.rng = rng
        self.workers = [Worker(i, policy) for i in range(workers)]
        self.parked = 0  # the idle map: a bit for each worker that has announced that it parks
        self.everyone = (1 << workers) - 1
        self.searching = 0
        self.late_looker = False
        self.exclusive = False  # one worker is awake, and has elided its locks
        self.offers = []  # workers whose running context has public forks
        self.busy = {}  # workers that run a context, by index
        self.requested_at = -1.0  # when a worker last sent steal requests to all
        self.stopping = False
        self.counts = dict.fromkeys(COUNTED, 0)

    def scan_us(self):
        """A look at all workers. The lines of busy workers have changed; all other lines are still
        in the cache of the worker that looks."""
        machine = self.machine
        return machine.line_us * len(self.busy) + machine.cached_line_us * len(self.workers)

    def look_us(self):
        return self.machine.pauses_us + self.scan_us()

    # ---- steal requests and public forks

    def request_all(self):
        self.requested_at = self.events.now

    def is_requested(self, worker):
        if worker.requested or worker.answered < self.requested_at:
            return True
        # A searcher repeats its request at each look.
        return bool(self.kernel.searchers) and worker.answered < self.events.now - self.look_us()

    def answer(self, worker):
        worker.requested = False
        worker.answered = self.events.now

    def note_forks(self, worker):
        """The public forks of the worker's context have changed, or its context."""
        strand = worker.strand
        offers = strand is not None and strand.top < strand.split
        if offers == (worker.offers_at >= 0):
            return
        if offers:
            worker.offers_at = len(self.offers)
            self.offers.append(worker)
            self.kernel.poke()
        else:
            last = self.offers.pop()
            if last is not worker:
                self.offers[worker.offers_at] = last
                last.offers_at = worker.offers_at
            worker.offers_at = -1

    def work_in_sight(self):
        return bool(self.offers) or self.stopping

    def steal(self, thief):
        """Takes the oldest public fork of some worker. Returns the slot and the time of the
        wake-up, or None."""
        if not self.offers:
            return None
        victim = self.offers[self.rng.randrange(len(self.offers))]
        strand = victim.strand
        slot = strand.slots[strand.top]
        size = strand.split - strand.top
        strand.top += 1
        self.note_forks(victim)
        self.counts["steals"] += 1
        if size == 1:
            victim.requested = True
        if thief.searches:
            thief.searches = False
            self.searching -= 1
        if self.offers:
            self.kernel.poke()
        more = size > 1 or strand.private() > 0
        if self.policy.wakes_as_tree and more:
            return slot, self.wake_searcher(thief)
        return slot, self.wake_one(thief)

    # ---- wake-ups

    def wake_one(self, waker):
        if self.parked == 0 or (self.policy.leaves_to_searcher and self.searching > 0):
            return 0.0
        return self.wake_searcher(waker)

    def wake_searcher(self, waker):
        """Wakes the parked worker with the lowest number. Returns the time of the call."""
        if self.parked == 0:
            return 0.0
        lowest = self.parked & -self.parked
        self.parked ^= lowest
        self.searching += 1
        self.counts["wakes"] += 1
        chosen = self.workers[lowest.bit_length() - 1]
        return self.kernel.wake(chosen.thread, waker.thread)

    # ---- searchers

    def begin_search(self):
        if self.searching == 0 or (self.searching + 1) * 2 <= len(self.workers):
            self.searching += 1
            return True
        return False

    def all_parked_but(self, worker):
        return self.parked | (1 << worker.index) == self.everyone

    def victims(self, thief):
        """Workers whose context has private forks and no public ones, in the order in which this
        thief meets them."""
        first = 0 if self.policy.forces_all else thief.index + 1
        n = len(self.workers)
        found = [
            other
            for other in self.busy.values()
            if other is not thief
            and other.strand.top >= other.strand.split
            and other.strand.private() > 0
        ]
        found.sort(key=lambda other: (other.index - first) % n)
        return found
