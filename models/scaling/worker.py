# SPDX-License-Identifier: Apache-2.0
"""The thread of a worker: it runs contexts, steals forks, searches, parks, and forces publication.

The functions are generators of requests to the kernel (kernel.py), and have the names of those in
src/core/idle/idle_search.cpp and src/core/fork, whose steps they repeat.
"""

from forks import JOIN
from kernel import BARRIER, COMPUTE, NEVER, SLEEP, SPIN
from runtime import BATCH, FORCE_AFTER_US, LATE_LOOK_US, Strand


def run_worker(rt, me):
    """The whole life of a worker's thread."""
    machine = rt.machine
    while not rt.stopping:
        if me.next_strand is not None:
            strand, me.next_strand = me.next_strand, None
            yield (COMPUTE, machine.switch_us)
            yield from run_strand(rt, me, strand)
            continue
        yield (COMPUTE, rt.scan_us())
        stolen = rt.steal(me)
        if stolen is None:
            rt.counts["failed_steals"] += 1
            yield from park_or_find_work(rt, me)
            continue
        slot, call_us = stolen
        yield (COMPUTE, machine.steal_us + call_us)
        strand = Strand(None, slot)
        strand.body = slot.program(rt, strand)
        yield from run_strand(rt, me, strand)


def run_strand(rt, me, strand):
    """Runs a context until it suspends in a join, or ends."""
    strand.worker = me
    me.strand = strand
    rt.busy[me.index] = me
    answer = None
    body = strand.body
    while True:
        try:
            request = body.send(answer)
        except StopIteration:
            ended = True
            break
        if request is JOIN:
            ended = False
            break
        answer = yield request
    me.strand = None
    del rt.busy[me.index]
    rt.note_forks(me)
    if not ended:
        rt.counts["suspensions"] += 1
        return
    slot = strand.slot
    if slot is None:
        return
    slot.done = True
    if slot.waiter is not None:
        me.next_strand = slot.waiter
    elif slot.joiner is not None:
        rt.kernel.poke_thread(slot.joiner.thread)


def park_or_find_work(rt, me):
    now = rt.events
    if not me.searches:
        me.searches = rt.begin_search()
    while not rt.stopping:
        searched = me.searches
        start = now.now
        if searched and (yield from search(rt, me, start)):
            return
        yield from park(rt, me)
        if searched:
            me.search_policy.note_gap(now.now - start)
        if not me.searches or rt.work_in_sight():
            return


def search(rt, me, start):
    """Searches for the time of the search policy. True: work is in sight."""
    deadline = start + me.search_policy.search_us()
    force_at = start + FORCE_AFTER_US
    rt.request_all()
    forced = False
    while True:
        until = deadline if forced else min(force_at, deadline)
        if (yield (SPIN, until, rt.work_in_sight, True)):
            me.search_policy.note_gap(rt.events.now - start)
            return True
        if rt.events.now >= deadline:
            return False
        forced = True
        yield from force_publication(rt, me, rt.policy.forces_all)
        if rt.work_in_sight():
            me.search_policy.note_gap(rt.events.now - start)
            return True


def claim(rt, victims, waits):
    """Claims the contexts of up to a batch of `victims`, which leave that list. Returns them."""
    batch = []
    most = BATCH if rt.policy.forces_in_batches else 1
    while victims and len(batch) < most:
        victim = victims.pop(0)
        strand = victim.strand
        if strand is None or strand.top < strand.split or strand.private() <= 0:
            continue
        if strand.locked:
            if batch or not waits:
                continue
            # Another thief forces this context: this thief waits for it, and then sees that.
            return [victim], True
        strand.claimed = strand.locked = True
        batch.append((victim, strand))
    return batch, False


def publish(rt, batch):
    """Publishes half of the private forks of each claimed context. True: some fork is public."""
    forced = False
    for victim, strand in batch:
        if victim.strand is strand and strand.claimed and strand.private() > 0:
            strand.split += (strand.private() + 1) // 2
            rt.counts["forced"] += 1
            rt.note_forks(victim)
            forced = True
        strand.unlock(rt.kernel)
    return forced


def pass_barrier(rt):
    rt.counts["barriers"] += 1
    yield (BARRIER,)


def force_publication(rt, me, of_all, batch=(), barrier_owed=False):
    """Forces publication on one worker after the other; ends after the first one with a public
    fork unless `of_all`. `batch` was claimed before. Returns true if any fork became public."""
    forced = False
    victims = rt.victims(me)
    while victims or batch or barrier_owed:
        if not batch:
            batch, must_wait = claim(rt, victims, waits=True)
            if must_wait:
                yield from batch[0].strand.await_lock(me.thread)
                batch = ()
                continue
            if not batch and not barrier_owed:
                break
        barrier_owed = False
        yield from pass_barrier(rt)
        forced = publish(rt, batch) or forced
        batch = ()
        if forced and not of_all:
            break
    return forced


def force_publication_of_all(rt, me, barrier):
    """Step S4. With `barrier`, claims that were made before it need no barrier of their own."""
    if not barrier:
        yield from force_publication(rt, me, True)
    elif rt.policy.forces_in_batches:
        yield from force_publication(rt, me, True, barrier_owed=True)
    else:
        yield from pass_barrier(rt)
        yield from force_publication(rt, me, True)


def may_look_late(rt, me):
    if not rt.policy.late or rt.all_parked_but(me):
        return False
    if rt.late_looker:
        return True
    me.owes_look = me.late_look_policy.looks_late()
    rt.late_looker = me.owes_look
    return me.owes_look


def end_late_look(rt, me):
    me.owes_look = False
    rt.late_looker = False


def note_saved_look(rt, me):
    if me.owes_look:
        me.late_look_policy.note_saved()
        end_late_look(rt, me)


def leave_search(rt, me):
    """Step S2. True: this worker looks behind a barrier before it parks."""
    was_searcher, me.searches = me.searches, False
    if was_searcher:
        rt.searching -= 1
    return rt.policy.each_sleeper_pays or rt.searching == 0


def park(rt, me):
    """Parks until there is work or a waker chooses this worker."""
    bit = 1 << me.index
    rt.parked |= bit
    looks = leave_search(rt, me)
    late = looks and may_look_late(rt, me)
    me.look_at = rt.events.now + LATE_LOOK_US if me.owes_look else NEVER
    while True:
        if looks:
            rt.request_all()
            me.requested = True
            alone = rt.policy.searches_learn and rt.all_parked_but(me)
            barrier = not late and not alone
            yield from force_publication_of_all(rt, me, barrier)
            yield (COMPUTE, rt.scan_us())
            if rt.work_in_sight():
                yield from cancel_park(rt, me, bit)
                return
        if _one_is_awake(rt):
            rt.exclusive = True
        rt.counts["parks"] += 1
        chosen = yield (SLEEP, me.look_at if me.owes_look else NEVER)
        if chosen:
            break
        looks = True
        if rt.events.now >= me.look_at:
            me.late_look_policy.note_due()
            end_late_look(rt, me)
        late = me.owes_look
    me.searches = True
    note_saved_look(rt, me)
    if rt.exclusive:
        rt.exclusive = False
        if rt.policy.barrier_ends_exclusive:
            yield from pass_barrier(rt)


def _one_is_awake(rt):
    awake = rt.everyone & ~rt.parked
    return awake != 0 and awake & (awake - 1) == 0


def cancel_park(rt, me, bit):
    note_saved_look(rt, me)
    if rt.parked & bit:
        rt.parked ^= bit
        rt.searching += 1
    else:  # a waker has chosen this worker: its token is on the way
        yield (SLEEP, NEVER)
    me.searches = True
