// SPDX-License-Identifier: Apache-2.0
// The guest, which idle.pml includes: a thread that runs its item in the place of a parked worker.
// The steps G1 to G9 are those of src/core/worker/guest_thread.cpp. G1 and G9 are the owner's
// (`sleep_offered` in idle_steps.pml).
//
// The guest's item is item 0, which forks, or item 1, which does not. If it finds no worker, the
// guest posts the item as a poster does.

proctype guest() {
    byte chosen = NOBODY;
    byte me;
    byte line;
    byte other;
    bool found;
    bool bit_was_set;

    // G2: take the bit of a parked worker that is offered.
    d_step {
        if
        :: (idle & 1) && offered[0] -> chosen = 0
        :: else ->
            if
            :: (idle & 2) && offered[1] -> chosen = 1
            :: else -> chosen = NOBODY
            fi
        fi
    }
    if
    :: chosen != NOBODY ->
        atomic {
            if
            :: idle & BIT(chosen) -> idle = idle & ~BIT(chosen)
            :: else -> chosen = NOBODY
            fi
        }
    :: else
    fi;
    if
    :: chosen == NOBODY -> goto posts
    :: else
    fi;
    if
    :: !offered[chosen] -> // The offer had ended before. Wake the worker for the item.
        searching++;
        notify(chosen);
        goto posts
    :: else
    fi;
    d_step {
        me = chosen;
        chosen = NOBODY;
        lent[me] = true; // G3
        inside[me]++
    }
    assert(inside[me] == 1);

    // G4: the own line, with a request.
#ifndef MUTANT_GUEST_BEGINS_WITHOUT_REQUEST
    poll[GUEST_LINE] = true;
#endif
    has_guest_line[me] = true;

    // G5, G6
    atomic {
        posted = posted | BIT(GUEST);
        begin_piece(GUEST)
    }
#if FORKS && GUEST == 0
    fork_all(poll[GUEST_LINE]);
#else
    ended_pieces++; // It waits for no other task.
#endif

    // G7: S1 to S5. The parker's word has been ASLEEP all the time.
    idle = idle | BIT(me);
    unproven = true;
    bit_was_set = (searching == 0); // This thread looks.
#ifndef MUTANT_GUEST_DOES_NOT_LOOK
    found = (queue != 0 || stopping);
    if
    :: !found && bit_was_set ->
        unproven = false;
        request_share_from_all();
        force();
        look(found)
    :: else
    fi;
#endif

    // G8: the owner's line, with a request.
#ifndef MUTANT_GUEST_LEAVES_WITHOUT_REQUEST
    poll[me] = true;
#endif
    d_step {
        has_guest_line[me] = false;
        inside[me]--;
        bit_was_set = false
    }
    if
    :: found ->
        atomic {
            bit_was_set = ((idle & BIT(me)) != 0);
            idle = idle & ~BIT(me)
        }
        if
        :: bit_was_set ->
            searching++;
            lent[me] = false;
            notify(me)
        :: else ->
            lent[me] = false;
            unproven = true;
            wake_one(chosen)
        fi
    :: else -> lent[me] = false
    fi;
    goto out;

posts:
    chosen = NOBODY;
    post(GUEST);
out:
    skip
}
