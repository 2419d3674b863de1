// SPDX-License-Identifier: Apache-2.0
// Events from outside: which parked worker waits in the kernel's event set, and how it is woken.
// src/core/README.md, "Events from outside", has the steps E1 to E9. The code is
// src/core/idle/idle_search.cpp, parker.hpp and src/core/runtime/runtime_core.hpp.
// models/README.md says which parts are modelled and which are left out.
//
// Sizes:    WORKERS, EVENTS (each keeps the worker that takes it until all were taken).
// Options:  POST (a thread posts a task that only worker 0 may run), SENTINEL (a parked worker may
//           be the sentinel, whose sleep ends by itself).
// Mutants:  MUTANT_...; see the places.

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef EVENTS
#define EVENTS 2
#endif

#define NOBODY 15
#define BIT(w) (1 << (w))

// The parker's word.
#define AWAKE 0
#define ASLEEP 1
#define POLLING 2
#define NOTIFIED 3
#define NOTIFIED_AS_SEARCHER 4

byte idle;
byte word[WORKERS];
byte poller = NOBODY;
byte searching;
bool sentinel;

bool in_set;      // the descriptor is in the event set
bool registered;  // and counted
byte ready;       // events in the event set
bool wake_ready;  // the wake descriptor is readable

bool pinned; // a task lies in the pinned queue of worker 0
bool posted;
byte taken;  // events
byte delivered; // events: event_source::delivered
bool ran;    // the pinned task

#ifdef POST
#define OVER (taken == EVENTS && ran)
#else
#define OVER (taken == EVENTS)
#endif

inline notify(w, token) {
    atomic { old = word[w]; word[w] = token }
    if
#ifndef MUTANT_FUTEX_FOR_POLLER
    :: old == POLLING -> wake_ready = true // E7
#endif
    :: else
    fi
}

// Wakes one parked worker, if any, as a searcher.
inline wake_searcher() {
    atomic {
        if
        :: (idle & BIT(0)) -> idle = idle & ~BIT(0); chosen_one = 0
        :: (idle & BIT(1)) -> idle = idle & ~BIT(1); chosen_one = 1
#if WORKERS > 2
        :: (idle & BIT(2)) -> idle = idle & ~BIT(2); chosen_one = 2
#endif
        :: idle == 0 -> chosen_one = NOBODY
        fi
    }
    if
    :: chosen_one != NOBODY -> searching++; notify(chosen_one, NOTIFIED_AS_SEARCHER)
    :: else
    fi
}

// Leaves the duty to a searcher, or wakes one (P3 to P5).
inline wake_one() {
    if
    :: idle == 0
    :: else ->
        if
        :: searching != 0
        :: else -> wake_searcher()
        fi
    fi
}

#define NEEDS_POLLER (registered && poller == NOBODY && !sentinel)

proctype worker(byte me) {
    byte old, chosen_one, got, seen;
    bool early, counted, polls, leaves, chosen, searches, is_sentinel, last;

again:
    // E9. A worker that finds nothing to run polls if no worker waits in the set.
    got = 0;
    if
    :: registered && poller == NOBODY ->
        atomic { got = ready; ready = 0 }
#ifdef MUTANT_BUSY_POLL_TAKES_WAKE
        wake_ready = false
#endif
    :: else
    fi;
    if
    :: got > 0 -> goto works
    :: else
    fi;

    // Park. S1, S2
#ifdef MUTANT_REGISTERED_BEFORE_BIT
    early = registered;
#endif
    word[me] = ASLEEP;
    idle = idle | BIT(me);
    if
    :: searches -> searching--; searches = false
    :: else
    fi;
look:
    // S5, S6
    if
    :: OVER -> goto end
    :: else
    fi;
    if
    :: me == 0 && pinned -> goto cancel
    :: else
    fi;
    leaves = false;
#ifdef SENTINEL
    // Whether there is a busy poller is a hint: any answer, if events came since the last look.
    if
    :: seen != delivered -> leaves = true
    :: true
    fi;
    seen = delivered;
    if
    :: is_sentinel && registered && poller == NOBODY && !leaves -> // To become the poller.
        sentinel = false; is_sentinel = false; goto look
    :: !is_sentinel && registered && (poller != NOBODY || leaves) && !sentinel ->
        atomic { if :: !sentinel -> sentinel = true; is_sentinel = true :: else fi }
    :: is_sentinel && !leaves ->
        sentinel = false; is_sentinel = false; goto look // After some quiet looks.
    :: else
    fi;
#endif
#ifdef MUTANT_REGISTERED_BEFORE_BIT
    counted = early;
#else
    counted = registered; // E4
#endif
    polls = false;
    if
    :: counted && !leaves ->
        atomic {
            if
            :: poller == NOBODY -> poller = me; polls = true
            :: else
            fi
        }
    :: else
    fi;
    chosen = false;
    if
    :: polls -> // E5
        atomic {
            if
            :: word[me] == ASLEEP -> word[me] = POLLING
            :: else -> chosen = true
            fi
        }
        if
        :: !chosen ->
            atomic {
                (ready > 0 || wake_ready || OVER);
                got = ready; ready = 0; wake_ready = false
            }
            atomic {
                if
                :: word[me] == POLLING -> word[me] = ASLEEP
                :: else -> chosen = true
                fi
            }
        :: else
        fi
    :: else -> // S8
        if
        :: word[me] >= NOTIFIED -> chosen = true
        :: OVER
        :: is_sentinel // Its time is over.
        fi
    fi;
    // E6
    if
    :: polls -> poller = NOBODY
    :: else
    fi;
    if
    :: chosen ->
        searches = (word[me] == NOTIFIED_AS_SEARCHER);
        word[me] = AWAKE;
        last = polls || is_sentinel;
        if
        :: is_sentinel -> sentinel = false; is_sentinel = false
        :: else
        fi;
#ifndef MUTANT_NO_DUTY
        if
        :: last && !searches && NEEDS_POLLER -> wake_one()
        :: else
        fi;
#endif
        goto rise
    :: !chosen && got == 0 -> goto look
    :: else
    fi;
cancel:
    if
    :: is_sentinel -> sentinel = false; is_sentinel = false
    :: else
    fi;
    atomic {
        if
        :: (idle & BIT(me)) -> idle = idle & ~BIT(me); chosen = false
        :: else -> chosen = true
        fi
    }
    if
    :: !chosen -> word[me] = AWAKE; searching++; searches = true
    :: else ->
        (word[me] >= NOTIFIED);
        searches = (word[me] == NOTIFIED_AS_SEARCHER);
        word[me] = AWAKE;
        if
        :: !searches -> wake_one()
        :: else
        fi
    fi;
rise:
    if
    :: OVER -> goto end
    :: else
    fi;
    if
    :: me == 0 && pinned -> goto works
    :: got > 0 -> goto works
    :: else -> goto again
    fi;
works:
    // T1 to T3, before the work begins.
    if
    :: searches ->
        atomic { searching--; last = (searching == 0) }
        searches = false;
        if
#ifndef MUTANT_NO_HAND_OVER
        :: last && NEEDS_POLLER -> wake_searcher()
#endif
        :: else
        fi
    :: else
    fi;
    atomic { taken = taken + got; delivered = delivered + got; got = 0 }
    if
    :: me == 0 && pinned -> atomic { pinned = false; ran = true }
    :: else
    fi;
    if // A long task: the other workers do the rest. Worker 0 ends it for its pinned task.
    :: OVER
    :: me == 0 && pinned -> goto works
    fi;
end:
    skip
}

// A thread that is no worker, or a worker in the middle of a task.
proctype registrar() {
    byte old, chosen_one, seen;
    in_set = true; // E1
    registered = true;
    seen = poller; // E2
#ifndef MUTANT_NO_WAKE_FOR_FIRST
    if
    :: seen != NOBODY // It waits in the set.
    :: else -> wake_one() // E3
    fi
#endif
}

proctype kernel() {
    byte n;
    in_set;
    do
    :: n < EVENTS -> ready++; n++
    :: else -> break
    od
}

#ifdef POST
proctype poster() {
    byte old;
    bool cleared;
    pinned = true;
    atomic { cleared = (idle & BIT(0)) != 0; idle = idle & ~BIT(0) }
    if
    :: cleared -> notify(0, NOTIFIED)
    :: else
    fi
}
#endif

init {
    atomic {
        byte w;
        for (w : 0 .. WORKERS - 1) { run worker(w) }
        run registrar();
        run kernel();
#ifdef POST
        run poster()
#endif
    }
}

ltl all_is_taken { <> OVER }
