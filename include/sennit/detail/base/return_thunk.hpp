// SPDX-License-Identifier: Apache-2.0
// Returning by a jump instead of `ret`, for functions that switch stacks before they return.
//
// A processor predicts a `ret` by a small stack of its own: the address behind the last `call` that
// was not returned from. Behind a switch that is the other context's, so the `ret` of every
// function that was entered before the switch is mispredicted, each for some 20 cycles; a jump is
// predicted by where it went before. So such functions are inlined into each other as far as they
// go, and what is left of them returns by a jump: a message over a rendezvous takes 0.75 of the
// time (Xeon). A return by a jump leaves the entry of its call behind, which spoils a later `ret`:
// not for a function that mostly returns without having switched; split that.
//
// Both compilers know such returns as a measure against speculation:
// `function_return("thunk-extern")` makes the function end with a jump to `__x86_return_thunk`,
// which whoever links it provides: src/sys/return_thunk.cpp, hidden in the library. So it is for
// the library's own functions, not for those of headers.
#pragma once

#if defined(__x86_64__) && __has_attribute(function_return) && !defined(__code_model_large__)
#define SENNIT_RETURN_VIA_THUNK __attribute__((function_return("thunk-extern")))
#else
#define SENNIT_RETURN_VIA_THUNK
#endif
