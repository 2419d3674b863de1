// SPDX-License-Identifier: Apache-2.0
// expect-error: a raw pointer is no message
// The message is itself a pointer. A pointer whose type the program allows by name compiles.
#include "sennit/actor.hpp"

struct known {};
struct unknown {};
template <>
inline constexpr bool sennit::allow_share<known*> = true;

void use(sennit::any_ref to, known* one, unknown* other) {
    to.tell(one);
#ifdef SENNIT_EXPECT_ERROR
    to.tell(other);
#else
    (void)other;
#endif
}
