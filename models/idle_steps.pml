// SPDX-License-Identifier: Apache-2.0
// The steps of the idle protocol, which idle.pml includes: parking, the idle map, tasks, and the
// parts of a worker's search. The words that they use are declared in idle.pml.

// ---- parker and idle map

inline notify(w) {
#ifdef FUTEX
    // only the thread that took the bit comes here, once for each announcement
    assert(word[w] == ASLEEP);
#ifdef MUTANT_WAKE_BEFORE_WORD
    waiting[w] = false;
    word[w] = NOTIFIED
#else
    word[w] = NOTIFIED;
    waiting[w] = false
#endif
#else
    atomic {
        assert(word[w] == ASLEEP);
        word[w] = NOTIFIED
    }
#endif
}

inline park(w) {
#ifdef FUTEX
    do
    :: word[w] == NOTIFIED -> break
    :: else ->
        atomic { // futex_wait compares and waits in one step
            if
            :: word[w] == ASLEEP -> waiting[w] = true
            :: else
            fi
        }
        !waiting[w]
    od;
    word[w] = AWAKE
#else
#ifdef NO_STOP
    if
    :: atomic {
        word[w] == NOTIFIED -> word[w] = AWAKE
    }
    :: ended_pieces == PIECES -> goto out
    fi
#else
    atomic {
        word[w] == NOTIFIED -> word[w] = AWAKE
    }
#endif
#endif
}

// take_any: load, then clear the lowest bit seen; if another thread was faster, load again.
inline load_idle(chosen) {
    d_step {
        if
        :: idle & 1 -> chosen = 0
        :: else ->
            if
            :: idle & 2 -> chosen = 1
            :: else ->
                if
                :: idle & 4 -> chosen = 2
                :: else -> chosen = NOBODY
                fi
            fi
        fi
    }
}

inline take_any(chosen) {
    do
    :: chosen == NOBODY -> break
    :: else ->
        atomic {
#ifdef MUTANT_CLEAR_WITHOUT_LOOK
            idle = idle & ~BIT(chosen);
            break
#else
            if
            :: idle & BIT(chosen) ->
                idle = idle & ~BIT(chosen);
                break
            :: else -> load_idle(chosen)
            fi
#endif
        }
    od
}

// P3 to P5 of src/core/README.md.
inline wake_one(chosen) {
    load_idle(chosen);
    wake_chosen(chosen)
}

inline wake_chosen(chosen) {
    if
    :: chosen != NOBODY && searching != 0 -> chosen = NOBODY
    :: else
    fi;
    wake_searcher(chosen)
}

inline wake_searcher(chosen) {
    take_any(chosen);
    if
    :: chosen != NOBODY ->
        searching++;
        notify(chosen);
        chosen = NOBODY
    :: else
    fi
}

// The sleep of a worker without a duty. A guest may use the worker meanwhile (G1 and G9 of
// src/core/worker/guest_thread.cpp).
inline sleep_offered(w) {
#ifdef GUEST
    d_step {
        inside[w]--;
        offered[w] = true
    }
    park(w);
    offered[w] = false;
#ifndef MUTANT_OWNER_DOES_NOT_WAIT_FOR_GUEST
    !lent[w];
#endif
    inside[w]++;
    assert(inside[w] == 1)
#else
    park(w)
#endif
}

#ifdef LATE
inline leave_late_look(w) {
    if
    :: late_looker == w -> late_looker = NOBODY
    :: else
    fi
}
#endif

// ---- tasks

inline begin_piece(number) {
    assert((runs & (1 << (number))) == 0);
    runs = runs | (1 << (number));
#if defined(GUEST) && GUEST != 0
    met = met + ((number) == GUEST -> 0 : 1) // No task waits for the guest's item.
#else
    met++
#endif
}

// A long leaf: it does not push, pop or poll until all tasks that it needs run at the same time.
inline end_piece() {
#if MEET > 1
    met >= MEET;
#endif
    ended_pieces++
}

// ---- the steps of a worker

inline ask(w) {
#ifdef GUEST
    line = LINE(w); // The asker may store late, when the line is no longer that of the worker.
    poll[line] = true
#else
    poll[w] = true
#endif
}

#if FORKS
#define IS_OTHER_OWNER (owner != NOBODY && owner != me)
#endif

inline request_share_from_all() {
#ifdef GUEST
    other = 0;
    do
    :: other < WORKERS ->
        if
        :: other != me -> ask(other)
        :: else
        fi;
        other++
    :: else -> break
    od;
    other = 0
#elif FORKS
    // Only the flag of the worker that forks is ever read. The other flags are set so that the
    // model covers owners that begin to fork after they were asked.
    d_step {
        other = 0;
        do
        :: other < WORKERS ->
            if
            :: other != me -> poll[other] = true
            :: else
            fi;
            other++
        :: else -> break
        od;
        other = 0
    }
#else
    skip
#endif
}

// force_publication: the guess, then everything under the context's lock as one step (split.pml
// models the details).
inline force() {
#if FORKS && !defined(MUTANT_NO_FORCE)
#ifdef BARRIER_BEFORE_GUESS
    if
    :: (idle | BIT(me)) == BIT(WORKERS) - 1 // All others are parked: no barrier.
    :: else -> HEAD_DRAIN
    fi;
#endif
    if
    :: IS_OTHER_OWNER && head_memory > split ->
        atomic {
            HEAD_DRAIN; // membarrier
            if
            :: IS_OTHER_OWNER && head > split -> split = split + (head - split + 1) / 2
            :: else
            fi
        }
    :: else
    fi
#else
    skip
#endif
}

// work_in_sight: one check of each place.
inline look(found) {
    found = (queue != 0);
#if FORKS
    if
    :: !found -> found = (IS_OTHER_OWNER && top < split)
    :: else
    fi
#endif
}

// T1 to T3: this worker has taken a task.
inline end_search_with_work() {
    if
    :: searches ->
        atomic {
            searches = false;
            searching--;
            bit_was_set = (searching == 0) // the last searcher
        }
        if
        :: bit_was_set && idle == 0 -> bit_was_set = false
        :: bit_was_set && idle != 0 ->
            bit_was_set = false;
            look(found);
#ifndef MUTANT_NO_LOOK_OF_THE_LAST
            if
            :: !found && unproven ->
                unproven = false;
                request_share_from_all();
#if FORKS
#ifndef MUTANT_LAST_DOES_NOT_SHARE
                poll[me] = true;
#endif
                atomic {
                    HEAD_DRAIN; // membarrier
                    found = (queue != 0 || (IS_OTHER_OWNER && head > top))
                }
#else
                look(found)
#endif
            :: else
            fi;
#endif
            if
            :: found ->
                found = false;
#ifndef MUTANT_NO_WAKE_BY_THE_LAST
                wake_one(chosen)
#else
                skip
#endif
            :: else
            fi
        :: else
        fi
    :: else
    fi
}

#if FORKS
// Item 0: forks, then a long leaf, then the joins. `asked` is the request in the owner's line.
inline fork_all(asked) {
    owner = me;
    do
    :: head < FORKS ->
#ifdef OWNER_BUFFER
        atomic {
            HEAD_DRAIN; // at most one store waits
            head++
        }
#else
        atomic {
            head++;
            HEAD_DRAIN
        }
#endif
        if
        :: asked -> // publish_on_request
            asked = false;
            atomic {
                HEAD_DRAIN;
                if
                :: top >= split && head > split -> split = split + (head - split + 1) / 2
                :: else
                fi
            }
#ifndef MUTANT_PUBLISH_WITHOUT_WAKE
            unproven = true;
            wake_one(chosen)
#endif
        :: else
        fi
    :: else -> break
    od;
    end_piece();
    // The joins, newest first. The model does not wait for stolen forks here: join.pml does.
    do
    :: atomic {
        head > top ->
        head--;
        HEAD_DRAIN;
        if
        :: split > head -> split = head
        :: else
        fi;
        begin_piece(ITEMS + head)
    }
        end_piece()
    :: atomic {
        head <= top ->
        owner = NOBODY; // top stays: the forks that it counted are gone
        break
    }
    od
}
#endif

// ---- the poster

inline post(item) {
#ifdef WEAK_POST_LOAD
    load_idle(chosen); // the load was done before the task is visible
#endif
    atomic {
#ifdef WEAK_POST_STORE
        queue_buffer = queue_buffer | (1 << item);
#else
        queue = queue | (1 << item);
#endif
        posted = posted | (1 << item)
    }
#ifdef MUTANT_NO_WAKE
    skip
#else
#ifndef WEAK_POST_LOAD
    load_idle(chosen);
#endif
    wake_chosen(chosen)
#endif
}
