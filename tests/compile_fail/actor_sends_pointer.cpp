// SPDX-License-Identifier: Apache-2.0
// expect-error: is a reference, a view or a raw pointer
// A message contains a raw pointer. A pointer whose type the program allows by name compiles.
#include "sennit/actor.hpp"

struct shared_table {};
struct other_table {};
template <>
inline constexpr bool sennit::allow_share<const shared_table*> = true;

struct lookup {
    const shared_table* where;
#ifdef SENNIT_EXPECT_ERROR
    other_table* there;
#endif
};
struct servant : sennit::actor<servant, lookup> {
    void on(lookup) {}
};

void use(sennit::actor_ref<servant> to, lookup what) {
    to.tell(what);
}
