// SPDX-License-Identifier: Apache-2.0
// The TLS of one connection: OpenSSL between two buffers in memory, and the stream below.
//
// Which threads run this: the strands that use the stream; at most one of them reads.
//
// OpenSSL never sees the network, and never waits. A call of OpenSSL happens under `lock`, which is
// not held over a wait. The errors of OpenSSL belong to the thread, so they are read before the
// lock is released: a strand may continue on another thread after any wait.
//
// Protocol of a call. T1: under `lock`, call OpenSSL, and read `inputs`. T2: if there is output,
// send it. T3: if OpenSSL needs input, take `reading`. If `inputs` differs from T1, another strand
// has brought input. Otherwise read from the stream below, and hand the bytes over under `lock`.
// Continue at T1.
//
// Output goes in the order in which OpenSSL made it: `sending` is held from the time when the bytes
// are taken out of the buffer until they are written. The bytes that a cancelled write has taken,
// and not sent, stay in `rest`, which the next sender writes first. A reader does not wait for
// `sending`: its holder looks for output again after it has released `sending`.
#pragma once

#include "openssl.hpp"

#include "sennit/io/stream.hpp"
#include "sennit/mutex.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace sennit::tls::detail {

// A call of OpenSSL.
struct operation {
    const char* name; // For errors.
    // As SSL_read_ex: 1: done.
    int (*call)(SSL*, void* data, std::size_t size, std::size_t* count);
    void* data = nullptr;
    std::size_t size = 0;
    bool reads = false;
};

struct engine {
    engine(io::stream&& over, const context& with, bool is_server, const std::string& host);
    // `over` must outlive the object.
    engine(io::stream& over, const context& with, bool is_server, const std::string& host);
    engine(const engine&) = delete;

    // Returns the number of bytes; 0 at the end of the stream. Throws `cancelled`.
    std::size_t run(const operation& what, std::error_code& failed);
    task<std::size_t> async_run(operation what);
    // Throws io::error if `failed` says so.
    void check(const std::error_code& failed, const char* operation);
    template <class F>
    auto look(F&& with) {
        std::lock_guard guard(lock);
        return with(ssl.get());
    }

    io::stream own; // Closed if `below` is the user's.
    io::stream& below;

private:
    enum class next { done, needs_input, failed };
    struct step {
        next then = next::done;
        std::size_t count = 0;
        std::error_code failed;
        std::uint64_t inputs = 0;
        bool has_output = false;
    };
    void begin(bool is_server, const std::string& host);
    step make(const operation& what);          // T1
    std::error_code classify(int error);       // Requires `lock`.
    bool next_output();                        // Requires `sending`.
    bool has_output();
    void send(bool patient, std::error_code& failed); // T2
    task<void> async_send(bool patient);
    bool has_input_since(std::uint64_t seen);
    void take_input(io::const_bytes from);
    void receive(std::uint64_t seen, std::error_code& failed); // T3
    task<void> async_receive(std::uint64_t seen);

    static constexpr std::size_t record = 16 * 1024 + 512;
    const std::shared_ptr<context_state> context_;
    const std::string peer_; // For errors.
    ssl_owner ssl;           // Guarded by `lock`, as the next five.
    BIO* in_ = nullptr;      // From the network.
    BIO* out_ = nullptr;     // To the network.
    std::uint64_t inputs_ = 0;
    std::error_code broken_; // The error after which OpenSSL must not be called.
    std::string reason_;     // OpenSSL's text for it.
    mutex lock;
    mutex reading_;
    mutex sending_;
    std::vector<std::byte> rest_; // Guarded by `sending_`, as the next.
    std::size_t sent_ = 0;
};

} // namespace sennit::tls::detail
