# SPDX-License-Identifier: Apache-2.0
"""The owner's half of the fork stack: push, publish on request, pop, take back, and join.

The functions are generators that run inside a context (`Strand`). They yield requests to the
kernel, and `JOIN` where the context suspends. src/core/fork/fork_stack.cpp has the same steps.
"""

from kernel import COMPUTE, SPIN
from runtime import EAGER_PUSHES

JOIN = object()  # the request of a context that suspends in a join


def push(rt, strand, slot):
    """Pushes a fork. Returns the time that the push takes the owner."""
    strand.slots.append(slot)
    worker = strand.worker
    if worker.eager == 0 and not rt.is_requested(worker):
        return 0.0
    return publish_on_request(rt, strand, worker)


def publish_eagerly(rt, strand):
    strand.claimed = False
    if rt.policy.eager:
        strand.worker.eager = EAGER_PUSHES


def publish_on_request(rt, strand, worker):
    public = strand.split - strand.top
    private = strand.private()
    if public == 0 and private <= 0:
        return 0.0
    if worker.eager > 0:
        worker.eager -= 1
    if worker.eager > 0:
        if public > 0:
            return 0.0
    else:
        rt.answer(worker)
    if strand.claimed:
        publish_eagerly(rt, strand)
    several = False
    if public == 0 and private > 0:
        strand.split += (private + 1) // 2
        several = private > 1
        rt.note_forks(worker)
    if rt.exclusive and rt.parked and not rt.policy.barrier_ends_exclusive:
        rt.exclusive = False
    cost = rt.machine.publish_us + rt.wake_one(worker)
    if several and rt.policy.wakes_as_tree:
        cost += rt.wake_searcher(worker)
    return cost


def pop(rt, strand):
    """Undoes the newest push. Returns true if the owner has the fork: no thief took it."""
    slots = strand.slots
    number = len(slots) - 1
    if number >= strand.split and not strand.claimed:
        slots.pop()
        return True
    strand.popping = 1
    if strand.locked:
        yield from strand.await_lock(strand.worker.thread)
    strand.popping = 0
    slots.pop()
    worker = strand.worker
    forced, strand.claimed = strand.claimed, False
    if number >= strand.split:
        return True
    owned = strand.top < strand.split
    if owned:
        strand.split -= (strand.split - strand.top + 1) // 2
    else:
        strand.top = strand.split = number
    if forced or (not owned and worker.eager > 0):
        publish_eagerly(rt, strand)
    rt.note_forks(worker)
    yield (COMPUTE, rt.machine.publish_us)
    return owned


def join(rt, strand, slot):
    """Waits until the thief of `slot` has finished it."""
    if not slot.done:
        slot.joiner = strand.worker
        yield (SPIN, rt.events.now + rt.machine.join_looks_us, lambda: slot.done, False)
        slot.joiner = None
    if not slot.done:
        slot.waiter = strand
        yield JOIN
