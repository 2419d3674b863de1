// SPDX-License-Identifier: Apache-2.0
// The join of a stolen child that suspends its parent: one_shot
// (include/sennit/detail/core/one_shot.hpp, src/core/fork/one_shot.cpp), run_stolen
// (src/core/fork/fork_stack.cpp), and suspending, post-switch actions, resuming and waking
// (src/core/worker/worker.cpp). models/README.md says which parts are modelled and which are left
// out.
//
// Sizes:    WORKERS, ROUNDS (the parent forks, joins and reuses the slot that many times).
// Options:  NO_MIGRATION (children do not suspend), NO_REFUSAL (there is always memory for another
//           stack).
// Mutants:  MUTANT_...; see the places.
//
// One parent context P and its child, which another worker steals. P's code runs on the worker that
// resumes P. All accesses of the word are exchanges, CAS and acquire loads, so the model is
// sequentially consistent.

#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define NOBODY 15

// one_shot
#define PENDING 0
#define DONE 1
#define FAILED 2
#define WAITER 4
byte word;
bool word_lives; // the slot belongs to this round; false: reused or gone

// The waiter, in P's frame.
bool waiter_lives;
bool waiter_parked; // a context waits; false: a thread that waits on `signal`
bool signalled;
bool thread_waits;  // in the kernel's queue of `signal`

// P
byte running_on = NOBODY; // the worker that executes P's code
bool saved;               // registers and stack pointer are completely in P's control block
bool joining;             // P is between the start of its wait and its end
byte round;
byte resumes;             // in this round, by a switch

// The child of this round.
bool offered;    // public, not yet taken
bool finished;   // its result is written
bool has_failed;
bool migrated;    // once a round
bool child_ready; // it has suspended and is ready again: any worker may continue it

// The words of the workers and the queues, all `ready` queues as one: any worker can take the
// entries of any queue.
bool go_back[WORKERS];
bool resume_next[WORKERS];
byte ready; // how often P lies in a queue
bool over;

inline resume_parent() {
    atomic {
        assert(running_on == NOBODY); // P does not run on two workers
        assert(saved); // and not from a half-written control block
        assert(joining);
        saved = false;
        running_on = me;
        resumes++
    }
}

active [WORKERS] proctype worker() {
    byte me;
    byte before;
    bool parked;
    byte started_on; // MUTANT_STALE_WORKER: the worker on which the child began

    atomic {
        me = _pid;
        if
        :: me == 0 -> // P begins on worker 0
            running_on = 0;
            goto parent
        :: else
        fi
    }

step:
    // First the post-switch action, then the parent whose child ended here, then everything else.
    if
    :: go_back[me] ->
        go_back[me] = false;
        resume_parent();
        goto after_join
    :: else
    fi;
    if
    :: resume_next[me] ->
        resume_next[me] = false;
        resume_parent();
        goto after_join
    :: else
    fi;
    if // run_next_task, steal, sleep: idle.pml models the details
    :: atomic {
        ready > 0 ->
        ready--
    }
        resume_parent();
        goto after_join
    :: atomic {
        offered ->
        offered = false;
        started_on = me
    }
        goto child
    :: atomic {
        child_ready ->
        child_ready = false
    }
        goto child
    :: over -> goto out
    fi;

child:
#ifndef NO_MIGRATION
    if
    :: atomic {
        !migrated ->
        migrated = true;
        child_ready = true // suspends; continues here or on another worker
    }
        goto step
    :: skip
    fi;
#endif
    atomic {
        if
        :: has_failed = false
        :: has_failed = true
        fi;
        assert(!finished && word_lives);
        finished = true
    }
    // finish_and_take_waiter
#ifdef MUTANT_FINISH_WITHOUT_EXCHANGE
    before = word;
    word = (has_failed -> FAILED : DONE);
#else
    atomic {
        assert(word_lives);
        before = word;
        word = (has_failed -> FAILED : DONE)
    }
#endif
#ifdef MUTANT_LOOK_AFTER_FINISH
    atomic {
        assert(word_lives);
        before = (word == PENDING -> WAITER : before)
    }
#endif
    if
    :: before == WAITER ->
        before = 0;
        atomic {
            assert(waiter_lives);
            parked = waiter_parked
        }
        if
        :: parked ->
            parked = false;
            if
#ifdef MUTANT_STALE_WORKER
            :: resume_next[started_on] = true
#else
            :: resume_next[me] = true // directly
#endif
            :: ready++ // through the queue
#ifdef MUTANT_WAKE_TWICE
            :: resume_next[me] = true;
                ready++
#endif
            fi
        :: else -> // wake: a thread that waits on the word in the frame
            atomic {
                assert(waiter_lives);
                signalled = true
            }
            thread_waits = false // the frame may be gone: at worst a thread wakes without cause
        fi
    :: else -> before = 0
    fi;
    started_on = 0;
    goto step;

    // ---- P, on worker `me`
parent:
    if
    :: round == ROUNDS ->
        over = true;
        running_on = NOBODY;
        goto step
    :: else
    fi;
    // The fork is published and stolen.
    atomic {
        word = PENDING;
        word_lives = true;
        finished = false;
        migrated = false;
        resumes = 0;
        offered = true
    }
    !offered;
    joining = true;
    // one_shot::wait: watches the word, ...
    if
    :: word == DONE || word == FAILED -> goto joined
    :: skip // ... perhaps without result
    fi;
    // ... then parks.
    atomic {
        waiter_lives = true;
        waiter_parked = false;
        signalled = false
    }
#ifndef NO_REFUSAL
    if
    :: skip
    :: goto block // no memory for another stack: the thread waits
    fi;
#endif
    waiter_parked = true;
#ifdef MUTANT_INSTALL_BEFORE_SWITCH
    atomic {
        if
        :: word == PENDING -> word = WAITER
        :: else -> go_back[me] = true
        fi
    }
    // switch_to: P's registers are saved, then the worker is on the next context's stack.
    atomic {
        saved = true;
        running_on = NOBODY
    }
#else
    atomic {
        saved = true;
        running_on = NOBODY
    }
    // The post-switch action, on the next context: installs the waiter.
#ifdef MUTANT_INSTALL_WITHOUT_CAS
    word = WAITER;
#else
    atomic {
        if
        :: word == PENDING -> word = WAITER
        :: else ->
#ifndef MUTANT_NO_GO_BACK
            go_back[me] = true
#endif
        fi
    }
#endif
#endif
    goto step;

#ifndef NO_REFUSAL
block:
    waiter_parked = false;
    atomic {
        if
        :: word == PENDING -> word = WAITER
        :: else ->
            waiter_lives = false;
            goto joined
        fi
    }
    do
    :: signalled -> break
    :: else ->
        atomic { // futex_wait compares and waits in one step
            if
            :: !signalled -> thread_waits = true
            :: else
            fi
        }
        !thread_waits
    od;
    waiter_lives = false;
    goto joined;
#endif

after_join:
    waiter_lives = false;

joined:
    atomic {
        assert(running_on == me);
        assert(finished);                   // only after the child
        assert(word == DONE || word == FAILED);
        assert((word == FAILED) == has_failed);
        assert(resumes <= 1);
        joining = false;
        word_lives = false; // the slot belongs to the parent again
        word = 99;          // and anything may be written there
        round++
    }
    goto parent;

out:
    skip
}

ltl join_ends { [] (joining -> <> !joining) }
ltl parent_ends { <> over }
