// SPDX-License-Identifier: Apache-2.0
// The fork stack's word {top, split}: push, pop, publish, take back, steal, force, and the moves of
// a worker between contexts. include/sennit/detail/core/fork_stack.hpp defines the words. The code
// is src/core/fork/fork_stack.cpp and the switch in worker.cpp. models/README.md says which parts
// are modelled and which are left out.
//
// Sizes:    JOBS (forks pushed in all), SLOTS (of each context), THIEVES, LEAVES (moves away from a
//           context).
// Options:  ONE_CONTEXT (the worker never moves), FORKS_IN_B (the second context forks, too),
//           ARRIVAL_LOCK (the switch takes the lock of the context that it enters: an alternative
//           design, with which NO_CLAIM_CHECK is correct, too: the forcing thief does not check
//           whether its claim stands).
// Mutants:  MUTANT_...; see the places.
//
// The owner's plain stores (`head`, the contents of a slot) go through a first-in-first-out store
// buffer of two entries, as on x86. A sequentially consistent store or a locked instruction empties
// it first; so does the thief's membarrier.

#ifndef JOBS
#define JOBS 3
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef THIEVES
#define THIEVES 1
#endif
#ifndef LEAVES
#define LEAVES 2
#endif

#ifdef ONE_CONTEXT
#define CONTEXTS 1
#else
#define CONTEXTS 2
#endif

#define NONE 255 // no job; no store waits

// `head` holds an address: a context's fork stack, and a slot. Slot SLOTS is the end of a full
// stack.
#define ADDRESS(c, number) ((c) * (SLOTS + 1) + (number))
#define CONTEXT_OF(address) ((address) / (SLOTS + 1))
#define NUMBER_OF(address) ((address) % (SLOTS + 1))
#define CLAIMS 50 // `tls.split` is a thief's claim, not an address: every slot is older than that
#ifdef MUTANT_SHARED_CLAIM
#define MY_CLAIM CLAIMS
#else
#define MY_CLAIM (CLAIMS + _pid)
#endif

// Contexts. top and split are one word; every change of both, or of one after a read of both, is
// one step.
byte top[CONTEXTS];
byte split[CONTEXTS];
bool lock[CONTEXTS];
byte saved_head[CONTEXTS];

// Slots, by address: the job in it, as memory has it, and the result word.
byte slot[CONTEXTS * (SLOTS + 1)];
bool done[CONTEXTS * (SLOTS + 1)];

// The worker TLS line, as memory has it.
byte tls_context;
byte tls_head;
byte tls_split; // a slot's number in the running context, or a claim
bool tls_steal_requested;

// The owner's store buffer. `where`: NONE: empty; 0..: a slot's address; HEAD: tls_head.
#define HEAD 254
byte where_0 = NONE;
byte what_0;
byte where_1 = NONE;
byte what_1;

// Ghost state: the slots of the owner's pushes, and the jobs that have run.
byte pushed[CONTEXTS * (SLOTS + 1)];
byte ran; // one bit for each job
bool over;

inline write(where, what) {
    if
    :: where == HEAD -> tls_head = what
    :: else -> slot[where] = what
    fi
}

// Inside a d_step or atomic only.
inline drain_one() {
    write(where_0, what_0);
    where_0 = where_1;
    what_0 = what_1;
    where_1 = NONE;
    what_1 = 0
}

inline drain_all() {
    do
    :: where_0 != NONE -> drain_one()
    :: else -> break
    od
}

inline buffered_store(where, what) {
    d_step {
        if
        :: where_1 != NONE -> drain_one()
        :: else
        fi;
        if
        :: where_0 == NONE ->
            where_0 = where;
            what_0 = what
        :: else ->
            where_1 = where;
            what_1 = what
        fi
    }
}

inline run_job(job) {
    assert(job < JOBS);
    assert((ran & (1 << job)) == 0); // each slot is run once
    ran = ran | (1 << job)
}

inline acquire(c) {
    atomic {
        !lock[c] -> lock[c] = true
    }
}

// By the owner: the locked instruction empties its store buffer.
inline owner_acquire(c) {
    atomic {
        !lock[c] ->
        lock[c] = true;
        drain_all()
    }
}

// Under the lock. Only `top` can change meanwhile, so the loop of CAS is one step.
inline advance_split(c, to) {
#ifndef MUTANT_NO_RESET
    d_step {
        i = split[c];
        do
        :: i < to ->
            done[ADDRESS(c, i)] = false;
            i++
        :: else -> break
        od;
        i = 0
    }
#endif
    split[c] = to
}

// ---- the owner: one worker's thread, which runs contexts 0 and 1 in turn

active proctype owner() {
    byte c;        // current_
    byte h;        // head, the owner's own word
    byte jobs;     // pushed so far
    byte leaves;
    byte seen_top;
    byte seen_split;
    byte i;
    byte to;

    atomic {
        i = 0;
        do
        :: i < CONTEXTS * (SLOTS + 1) ->
            slot[i] = NONE;
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < CONTEXTS ->
            saved_head[i] = ADDRESS(i, 0);
            i++
        :: else -> break
        od;
        i = 0
    }

work:
    do
#ifdef FORKS_IN_B
    :: jobs < JOBS && h < SLOTS ->
#else
    :: jobs < JOBS && h < SLOTS && c == 0 ->
#endif
        // push: the slot, then `head`, then a check of `poll`.
        pushed[ADDRESS(c, h)] = jobs;
#ifdef MUTANT_HEAD_BEFORE_SLOT
        buffered_store(HEAD, ADDRESS(c, h + 1));
        buffered_store(ADDRESS(c, h), jobs);
#else
        buffered_store(ADDRESS(c, h), jobs);
        buffered_store(HEAD, ADDRESS(c, h + 1));
#endif
        atomic {
            h++;
            jobs++
        }
        if
        :: tls_steal_requested -> goto publish_on_request
        :: else
        fi

    :: h > 0 ->
        // pop: take `head` back, then read `split`.
        h--;
        buffered_store(HEAD, ADDRESS(c, h));
        if
        :: tls_split < CLAIMS && h >= tls_split ->
            atomic { // private: no other thread could touch it
                run_job(pushed[ADDRESS(c, h)])
            }
        :: else -> goto take_back
        fi

#ifndef ONE_CONTEXT
    :: leaves < LEAVES -> goto leave
#endif

    :: jobs == JOBS && h == 0 && NUMBER_OF(saved_head[CONTEXTS - 1 - c]) == 0 -> break
    od;
    atomic {
        drain_all();
        over = true;
        assert(ran == (1 << JOBS) - 1); // no slot is lost
        c = 0
    }
    goto out;

publish_on_request:
    atomic {
        drain_all();
        tls_steal_requested = false
    }
    owner_acquire(c);
    if
    :: top[c] >= split[c] && h > split[c] ->
        to = split[c] + (h - split[c] + 1) / 2;
        advance_split(c, to);
        to = 0
    :: else
    fi;
    tls_split = split[c]; // also ends a thief's claim
    lock[c] = false;
    goto work;

take_back:
#ifndef MUTANT_TAKE_BACK_WITHOUT_LOCK
    owner_acquire(c);
#endif
    do
    :: atomic {
        seen_top = top[c];
        seen_split = split[c]
    }
        if
        :: h >= seen_split -> // private: only a claim led here
            tls_split = seen_split;
            goto is_ours
        :: else
        fi;
        if
        :: seen_top >= seen_split -> break
        :: else
        fi;
        to = seen_split - (seen_split - seen_top + 1) / 2;
        atomic {
            if
#ifdef MUTANT_TAKE_BACK_WITHOUT_CAS
            :: true -> split[c] = to
#else
            :: top[c] == seen_top && split[c] == seen_split -> split[c] = to
            :: else ->
                to = 0;
                goto again
#endif
            fi
        }
        tls_split = to;
        goto is_ours;
again:
        skip
    od;
    // The slot was stolen, and with it everything older.
    atomic {
        top[c] = h;
        split[c] = h
    }
    tls_split = h;
    lock[c] = false;
    atomic {
        seen_top = 0;
        seen_split = 0
    }
    done[ADDRESS(c, h)]; // join.pml models the details
    assert(ran & (1 << pushed[ADDRESS(c, h)])); // it has really run
    goto work;
is_ours:
    lock[c] = false;
    atomic {
        seen_top = 0;
        seen_split = 0;
        to = 0;
        run_job(pushed[ADDRESS(c, h)])
    }
    goto work;

#ifndef ONE_CONTEXT
leave:
    leaves++;
    // publish_all
    if
    :: split[c] < h ->
        owner_acquire(c);
        advance_split(c, h);
        tls_split = h;
        lock[c] = false
    :: else // nothing is private
    fi;
    // switch_to
    atomic {
        saved_head[c] = ADDRESS(c, h);
        c = 1 - c
    }
#ifdef ARRIVAL_LOCK
    owner_acquire(c);
#endif
    atomic { // sequentially consistent, as the two below
        drain_all();
        tls_context = c
    }
    to = split[c];
    tls_split = to;
    atomic {
        to = 0;
        tls_head = saved_head[c];
        h = NUMBER_OF(tls_head)
    }
#ifdef ARRIVAL_LOCK
    lock[c] = false;
#endif
    goto work;
#endif

out:
    skip
}

// The owner's stores reach memory at any time.
active proctype drain() {
end_drain:
    do
    :: atomic {
        where_0 != NONE -> drain_one()
    }
    od
}

// ---- thieves

active [THIEVES] proctype thief() {
    byte t;        // target
    byte seen_top;
    byte seen_split;
    byte i;
    byte to;
    byte job;
    byte head;

end_search:
    do
    :: !over && !tls_steal_requested -> tls_steal_requested = true // request_share

    :: atomic { // steal_fork_from, of a running or a suspended context
        top[0] < split[0] ->
        t = 0;
        seen_top = top[0];
        seen_split = split[0]
    }
        goto steal
#ifndef ONE_CONTEXT
    :: atomic {
        top[1] < split[1] ->
        t = 1;
        seen_top = top[1];
        seen_split = split[1]
    }
        goto steal
#endif

    :: !over -> // force_publication
        t = tls_context;
        if
        :: CONTEXT_OF(tls_head) == t && NUMBER_OF(tls_head) > split[t] -> goto force
        :: else -> t = 0
        fi

    :: over -> break
    od;
    goto out;

steal:
#ifdef MUTANT_READ_SLOT_BEFORE_CAS
    job = slot[ADDRESS(t, seen_top)];
#endif
    atomic {
        if
#ifdef MUTANT_STEAL_WITHOUT_CAS
        :: true -> top[t] = seen_top + 1
#else
        :: top[t] == seen_top && split[t] == seen_split -> top[t] = seen_top + 1
        :: else ->
            atomic {
                t = 0;
                job = 0;
                seen_top = 0;
                seen_split = 0
            }
            goto end_search
#endif
        fi
    }
#ifndef MUTANT_READ_SLOT_BEFORE_CAS
    job = slot[ADDRESS(t, seen_top)];
#endif
    atomic {
        run_job(job)
    }
    atomic {
        done[ADDRESS(t, seen_top)] = true; // finish: the last access
        t = 0;
        job = 0;
        seen_top = 0;
        seen_split = 0
    }
    goto end_search;

force:
    acquire(t);
#ifdef MUTANT_CLAIM_AFTER_HEAD
    atomic { // a barrier in the right place, but the wrong order
        drain_all();
        head = tls_head
    }
#endif
    tls_split = MY_CLAIM;
#ifndef MUTANT_NO_BARRIER
    atomic { // membarrier
        drain_all()
    }
#endif
#if !defined(MUTANT_CLAIM_AFTER_HEAD) && !defined(MUTANT_CHECK_BEFORE_HEAD)
    head = tls_head;
#endif
#ifndef NO_CLAIM_CHECK
    if
    :: tls_context != t -> goto give_up
    :: else
    fi;
    if
    :: tls_split != MY_CLAIM -> goto give_up
    :: else
    fi;
#endif
#ifdef MUTANT_CHECK_BEFORE_HEAD
    head = tls_head;
#endif
    if
    :: CONTEXT_OF(head) == t && NUMBER_OF(head) > split[t] ->
        to = split[t] + (NUMBER_OF(head) - split[t] + 1) / 2;
        advance_split(t, to)
    :: else
    fi;
give_up:
    atomic {
        lock[t] = false;
        t = 0;
        to = 0;
        head = 0;
        goto end_search
    }

out:
    skip
}
