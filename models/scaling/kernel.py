# SPDX-License-Identifier: Apache-2.0
"""Threads on processors: time slices, sleeps and wake-ups, and one membarrier at a time.

A thread is a generator that yields requests:

  (COMPUTE, us)           uses the processor for so long
  (SPIN, until, check, searches)
                          uses the processor until `check()` is true (the request returns True) or
                          until the moment `until` (False). `check` runs when the thread gets a
                          processor, after `poke_thread`, and after `poke` if `searches` is true.
  (SLEEP, until)          gives the processor up until `wake` (True) or the moment `until` (False)
  (BARRIER,)              a membarrier of all threads of the process

Each processor has a queue of the threads that wait for it. The choice of the next thread follows
Linux's EEVDF scheduler. Each thread has a virtual time, the processor time that it has used. A
thread is eligible if its virtual time is not above the mean of its processor's threads. Its
deadline is one time slice after the virtual time at which it got the slice. A thread runs until its
deadline, or until another thread is woken while it is not eligible. Then the eligible thread with
the earliest deadline runs. A thread that sleeps keeps its distance to the mean, up to two slices.
If it has used more than the mean, the mean approaches it while it sleeps.

A woken thread runs on an idle processor. If there is none it goes to the processor with the
shortest queue, its last one if several have the same. A processor that becomes idle takes a waiting
thread from the longest queue.

The kernel makes one membarrier at a time; callers wait on their processors. A membarrier costs its
caller `machine.barrier_us(n)`, where n other processors run threads of the process, and takes
`machine.lost_us` from each of them.
"""

from collections import deque

COMPUTE, SPIN, SLEEP, BARRIER = range(4)
NEVER = float("inf")

_ASLEEP, _READY, _RUNNING = range(3)


class Thread:
    """A thread of the process. Only `Kernel` changes it."""

    __slots__ = (
        "body",
        "state",
        "processor",
        "request",
        "left",
        "began",
        "tax_paid",
        "version",
        "answer",
        "until",
        "check",
        "notified",
        "slept_since",
        "virtual",
        "deadline",
        "lag",
        "searches",
        "place",
        "look_is_due",
    )

    def __init__(self, body):
        self.body = body
        self.state = _READY
        self.processor = None  # that it runs on, or ran on last
        self.request = None  # COMPUTE, SPIN, SLEEP or BARRIER; None: `answer` is to be delivered
        self.left = 0.0  # of COMPUTE: microseconds
        self.began = 0.0  # when the request began on this processor, or continued
        self.tax_paid = 0.0
        self.version = 0  # events for older versions are void
        self.answer = None
        self.until = NEVER
        self.check = None
        self.notified = False  # a wake-up that no sleep has taken yet
        self.slept_since = 0.0
        self.virtual = 0.0
        self.deadline = 0.0
        self.lag = 0.0  # the mean of the last processor's threads minus `virtual`, when it slept
        self.searches = False
        self.place = -1  # in `Kernel.searchers`
        self.look_is_due = False


class Processor:
    __slots__ = ("index", "thread", "waiting", "charged", "slice_event", "reserved")

    def __init__(self, index):
        self.index = index
        self.thread = None
        self.waiting = []
        self.charged = 0.0  # until when the virtual time of `thread` is up to date
        self.slice_event = 0  # number of the event for the end of the slice
        self.reserved = False  # idle, and a woken thread is about to run on it

    def threads(self):
        return self.waiting if self.thread is None else [self.thread, *self.waiting]

    def mean(self):
        """The mean virtual time of the threads, at least one."""
        threads = self.threads()
        return sum(thread.virtual for thread in threads) / len(threads)

    def best(self):
        """The thread that should run, of at least one."""
        mean = self.mean() + 1e-6  # against rounding
        current = self.thread
        if current is not None and current.virtual <= min(mean, current.deadline - 1e-6):
            return current
        eligible = (thread for thread in self.threads() if thread.virtual <= mean)
        return min(eligible, key=lambda thread: thread.deadline)


class Kernel:
    def __init__(self, events, machine, processors, rng):
        self.events = events
        self.machine = machine
        self.rng = rng
        self.processors = [Processor(i) for i in range(processors)]
        self.idle = processors  # that are neither running a thread nor reserved
        self.running = 0
        self.searchers = []  # threads with a request SPIN that search and have a processor
        self.tax = 0.0  # that each thread on a processor has lost since the start
        self.barrier_callers = deque()
        self.barrier_runs = False
        self.look_us = None  # returns the time between two looks of a searching thread

    def start(self, body):
        """Makes a thread that runs `body`, as a thread that has just been woken."""
        thread = Thread(body)
        thread.processor = self.processors[0]
        self._place(thread, None)
        return thread

    def poke(self):
        """The answer of the `check` of searching threads may have changed. The thread that looks
        first is simulated: it looks the earlier, the more threads search."""
        threads = self.searchers
        for _ in range(min(3, len(threads))):
            thread = threads[self.rng.randrange(len(threads))]
            if not thread.look_is_due:
                self._plan_look(thread, 2 * self.look_us() / (len(threads) + 1))
                return

    def poke_thread(self, thread):
        """As `poke`, for one thread."""
        if thread.state == _RUNNING and thread.request == SPIN and not thread.look_is_due:
            self._plan_look(thread, self.look_us())

    def _plan_look(self, thread, at_most_us):
        thread.look_is_due = True
        delay = at_most_us * self.rng.random()
        self.events.at(self.events.now + delay, self._look, thread, thread.version)

    def wake(self, thread, waker):
        """Wakes `thread`, or lets its next sleep end at once. Returns the time that the call takes
        from the thread `waker`."""
        if thread.state != _ASLEEP:
            thread.notified = True
            return self.machine.syscall_us
        slept = self.events.now - thread.slept_since
        thread.state = _READY
        thread.version += 1
        thread.answer = True
        return self._place(thread, waker, slept)

    # ---- placement

    def _place(self, thread, waker, slept=None):
        machine = self.machine
        thread.state = _READY
        if self.idle:
            processor = thread.processor
            if processor.thread is not None or processor.reserved:
                processor = next(p for p in self.processors if p.thread is None and not p.reserved)
            processor.reserved = True
            self.idle -= 1
            delay = 0.0 if slept is None else machine.wake_us(slept, self.rng.random())
            self.events.at(self.events.now + delay, self._arrive_idle, thread, processor)
            return machine.wake_call_us(slept or 0.0)
        last = thread.processor
        target = min(self.processors, key=lambda p: (len(p.waiting), p is not last))
        near = waker is not None and target is waker.processor
        delay = 0.0 if near or slept is None else machine.wake_busy_us(self.rng.random())
        self.events.at(self.events.now + delay, self._arrive_busy, thread, target)
        return machine.syscall_us if near else machine.wake_call_us(0.0)

    def _arrive_idle(self, thread, processor):
        processor.reserved = False
        self.idle += 1
        self._join(processor, thread)
        self._run_best(processor)

    def _arrive_busy(self, thread, processor):
        self._charge(processor)
        self._join(processor, thread)
        if not processor.reserved:
            self._run_best(processor)

    def _join(self, processor, thread):
        """The thread is woken: it waits for the processor."""
        others = len(processor.waiting) + (processor.thread is not None)
        if others:
            lag = thread.lag
            if lag < 0.0:
                slept = self.events.now - thread.slept_since
                lag = min(0.0, lag + slept / (others + 1))
            thread.virtual = processor.mean() - lag * (others + 1) / others
        thread.deadline = thread.virtual + self.machine.slice_us(self.rng.random())
        processor.waiting.append(thread)
        thread.processor = processor

    def _charge(self, processor):
        """Adds the time since the last call to the running thread's virtual time."""
        now = self.events.now
        thread = processor.thread
        if thread is not None:
            thread.virtual += now - processor.charged
        processor.charged = now

    def _run_best(self, processor):
        """Gives the processor to the thread that should run, and plans the next such decision."""
        self._charge(processor)
        current = processor.thread
        if not processor.waiting or (current is not None and current.request == BARRIER):
            if processor.waiting:  # the caller of a barrier is not preempted
                self._plan_end_of_slice(processor, 1.0)
            return
        best = processor.best()
        if best is not current:
            if current is not None:
                self._stop(current)
                self._take_away(processor)
                processor.waiting.append(current)
            processor.waiting.remove(best)
            self._give(processor, best)
        elif processor.waiting:
            self._plan_end_of_slice(processor, current.deadline - current.virtual)

    def _plan_end_of_slice(self, processor, us):
        processor.slice_event += 1
        self.events.at(self.events.now + us, self._end_slice, processor, processor.slice_event)

    def _end_slice(self, processor, number):
        if number != processor.slice_event or processor.thread is None:
            return
        self._charge(processor)
        thread = processor.thread
        if thread.virtual >= thread.deadline - 1e-6:
            thread.deadline = thread.virtual + self.machine.slice_us(self.rng.random())
        if processor.waiting:
            self._run_best(processor)

    def _give(self, processor, thread):
        processor.thread = thread
        processor.charged = self.events.now
        self.idle -= 1
        self.running += 1
        thread.processor = processor
        thread.state = _RUNNING
        if processor.waiting:
            self._plan_end_of_slice(processor, max(1.0, thread.deadline - thread.virtual))
        if thread.request is None:
            self._proceed(thread)
        else:
            self._continue(thread)

    def _take_away(self, processor):
        processor.thread = None
        processor.slice_event += 1
        self.idle += 1
        self.running -= 1

    def _leave(self, thread):
        """The thread leaves its processor, which takes the next one."""
        processor = thread.processor
        self._charge(processor)
        if processor.waiting:
            slice_us = self.machine.slice_us(0.0)
            thread.lag = min(processor.mean() - thread.virtual, 2 * slice_us)
        else:
            thread.lag = 0.0
        self._take_away(processor)
        if not processor.waiting:
            longest = max(self.processors, key=lambda p: len(p.waiting))
            if not longest.waiting:
                return
            self._charge(longest)
            moved = longest.best() if longest.thread is None else longest.waiting[0]
            longest.waiting.remove(moved)
            processor.waiting.append(moved)
        self._run_best(processor)

    # ---- requests

    def _proceed(self, thread):
        """Runs the thread's body until it makes a request that takes time."""
        while True:
            try:
                request = thread.body.send(thread.answer)
            except StopIteration:
                thread.version += 1
                self._leave(thread)
                return
            kind = request[0]
            if kind == SLEEP and thread.notified:
                thread.notified = False
                thread.answer = True
                continue
            break
        thread.version += 1
        thread.request = kind
        if kind == COMPUTE:
            thread.left = request[1]
        elif kind == SPIN:
            _, thread.until, thread.check, thread.searches = request
        elif kind == SLEEP:
            self._sleep(thread, request[1])
            return
        self._continue(thread)

    def _continue(self, thread):
        """Begins a request, or continues it on a processor."""
        now = self.events.now
        thread.began = now
        thread.tax_paid = self.tax
        if thread.request == COMPUTE:
            self.events.at(now + thread.left, self._end_compute, thread, thread.version)
        elif thread.request == SPIN:
            thread.look_is_due = False
            if thread.check():
                self._deliver(thread, True)
                return
            if thread.searches:
                thread.place = len(self.searchers)
                self.searchers.append(thread)
            if thread.until != NEVER:
                self.events.at(thread.until, self._end_spin, thread, thread.version)
        else:
            self.barrier_callers.append(thread)
            self._serve_barrier()

    def _stop(self, thread):
        """The thread loses its processor in the middle of a request."""
        thread.version += 1
        thread.state = _READY
        if thread.request == COMPUTE:
            done = self.events.now - thread.began - (self.tax - thread.tax_paid)
            thread.left = max(0.0, thread.left - done)
        else:
            self._leave_searchers(thread)

    def _leave_searchers(self, thread):
        if thread.place >= 0:
            last = self.searchers.pop()
            if last is not thread:
                self.searchers[thread.place] = last
                last.place = thread.place
            thread.place = -1

    def _deliver(self, thread, answer):
        self._leave_searchers(thread)
        thread.request = None
        thread.answer = answer
        thread.version += 1
        self._proceed(thread)

    def _end_compute(self, thread, version):
        if version != thread.version:
            return
        owed = self.tax - thread.tax_paid
        if owed > 0.0:
            thread.tax_paid = self.tax
            thread.left += owed
            self.events.at(self.events.now + owed, self._end_compute, thread, version)
            return
        self._deliver(thread, None)

    def _end_spin(self, thread, version):
        if version == thread.version:
            self._deliver(thread, bool(thread.check()))

    def _look(self, thread, version):
        if version != thread.version:
            return
        thread.look_is_due = False
        if thread.check():
            self._deliver(thread, True)

    def _sleep(self, thread, until):
        thread.state = _ASLEEP
        thread.request = None
        thread.slept_since = self.events.now
        if until != NEVER:
            self.events.at(until, self._end_sleep, thread, thread.version)
        self._leave(thread)

    def _end_sleep(self, thread, version):
        if version == thread.version and thread.state == _ASLEEP:
            thread.answer = False
            slept = self.events.now - thread.slept_since
            thread.version += 1
            self._place(thread, None, slept)

    def _serve_barrier(self):
        if self.barrier_runs or not self.barrier_callers:
            return
        self.barrier_runs = True
        thread = self.barrier_callers.popleft()
        cost = self.machine.barrier_us(self.running - 1)
        self.tax += self.machine.lost_us
        self.events.at(self.events.now + cost, self._end_barrier, thread)

    def _end_barrier(self, thread):
        self.barrier_runs = False
        self._serve_barrier()
        self._deliver(thread, None)
