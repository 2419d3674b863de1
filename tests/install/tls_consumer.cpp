// SPDX-License-Identifier: Apache-2.0
// A program over the installed component tls. Fails if the component does not work.
#include <sennit/sennit.hpp>
#include <sennit/tls.hpp>

int main() {
    return sennit::run([] {
        auto [mine, theirs] = sennit::io::socket_pair();
        theirs.close();
        try {
            (void)sennit::tls::stream::connect(std::move(mine), "example.org",
                                               sennit::tls::context::client());
        } catch (const sennit::io::error&) { // The peer has closed.
            return 0;
        }
        return 1;
    });
}
