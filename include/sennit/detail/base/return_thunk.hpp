// SPDX-License-Identifier: Apache-2.0
// Returning by a jump instead of `ret`, for functions that switch stacks before they return.
//
// A processor predicts a `ret` with a small stack of return addresses: the prediction is the
// address after the last `call` that has not returned yet. After a stack switch, that address
// belongs to the other context. Each function that was entered before the switch then mispredicts
// its `ret`, at about 20 cycles each. A jump is predicted from its previous targets instead. So the
// functions that switch are inlined into each other as far as possible, and the remaining ones
// return by a jump. A message over a rendezvous then takes 0.75 of the time (Xeon).
//
// A return by a jump leaves the entry of its call on the processor's stack, which spoils a later
// `ret`. So do not use it for a function that mostly returns without having switched; split such a
// function.
//
// Both compilers offer such returns as a measure against speculation. With
// `function_return("thunk-extern")` the function ends with a jump to `__x86_return_thunk`, which
// the linked program must provide. The library provides it in src/sys/return_thunk.cpp with hidden
// visibility. So the macro is for the library's own functions and not for functions in headers.
// the library's own functions, not for those of headers.
#pragma once

#if defined(__x86_64__) && __has_attribute(function_return) && !defined(__code_model_large__)
#define SENNIT_RETURN_VIA_THUNK __attribute__((function_return("thunk-extern")))
#else
#define SENNIT_RETURN_VIA_THUNK
#endif
