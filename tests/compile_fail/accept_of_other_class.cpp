// SPDX-License-Identifier: Apache-2.0
// expect-error: not a function of these monitors
// `accept` names a member of another class than the monitor's own.
#include "sennit/monitor.hpp"

struct mine : sennit::monitor {
    void call() { auto in = sennit::enter<&mine::call>(*this); }
};
struct other : sennit::monitor {
    void call() { auto in = sennit::enter<&other::call>(*this); }
};

void use(mine& one) {
    auto in = sennit::enter(one);
    sennit::waitfor(sennit::accept<&mine::call>(one));
#ifdef SENNIT_EXPECT_ERROR
    sennit::waitfor(sennit::accept<&other::call>(one));
#endif
}
