// SPDX-License-Identifier: Apache-2.0
#include "sennit/tls/stream.hpp"

#include "engine.hpp"
#include "sennit/async_with_timeout.hpp"
#include "sennit/io/detail/whole.hpp"
#include "sennit/with_timeout.hpp"

#include <algorithm>

namespace sennit::tls {

using detail::engine;
using detail::operation;

namespace {

constexpr std::size_t most_at_once = 16 * 1024; // A record.

operation handshake(const char* name) noexcept {
    return {.name = name, .call = [](SSL* ssl, void*, std::size_t, std::size_t*) {
                return SSL_do_handshake(ssl);
            }};
}
operation reading(const char* name, io::bytes into) noexcept {
    return {.name = name,
            .call = [](SSL* ssl, void* data, std::size_t size,
                       std::size_t* count) { return SSL_read_ex(ssl, data, size, count); },
            .data = into.data(),
            .size = into.size(),
            .reads = true};
}
operation writing(const char* name, io::const_bytes from) noexcept {
    return {.name = name,
            .call = [](SSL* ssl, void* data, std::size_t size,
                       std::size_t* count) { return SSL_write_ex(ssl, data, size, count); },
            // SAFETY: SSL_write_ex only reads the bytes.
            .data = const_cast<std::byte*>(from.data()),
            .size = std::min(from.size(), most_at_once)};
}
operation closing(const char* name) noexcept {
    return {.name = name, .call = [](SSL* ssl, void*, std::size_t, std::size_t*) {
                // 0: the notice is sent, and that of the peer has not come.
                return SSL_shutdown(ssl) >= 0 ? 1 : -1;
            }};
}

std::error_code closed() noexcept {
    return std::make_error_code(std::errc::bad_file_descriptor);
}
engine& open(const std::unique_ptr<engine>& of, const char* operation) {
    if (!of) throw io::error(closed(), operation, {});
    return *of;
}

// Returns `call(failed)`, or throws the error that it reports.
template <class F>
auto or_throw(const std::unique_ptr<engine>& on, const char* name, F&& call) {
    std::error_code failed;
    auto result = call(failed);
    if (failed) open(on, name).check(failed, name);
    return result;
}

void shake(engine& one, const char* name, const handshake_options& how) {
    std::error_code failed;
    try {
        with_timeout(how.limit, [&] { (void)one.run(handshake(name), failed); });
    } catch (const timed_out&) {
        failed = std::make_error_code(std::errc::timed_out);
    }
    one.check(failed, name);
}

task<void> async_shake(engine& one, const char* name, const handshake_options& how) {
    bool late = false;
    try {
        (void)co_await with_timeout(how.limit, one.async_run(handshake(name)));
    } catch (const timed_out&) {
        late = true;
    }
    if (late) one.check(std::make_error_code(std::errc::timed_out), name);
}

} // namespace

stream::stream() noexcept = default;
stream::stream(stream&&) noexcept = default;
stream& stream::operator=(stream&&) noexcept = default;
stream::~stream() = default;
stream::stream(std::unique_ptr<engine> made) noexcept : engine_(std::move(made)) {}

stream stream::connect(io::stream&& over, const std::string& host, const context& with,
                       const handshake_options& how) {
    auto made = std::make_unique<engine>(std::move(over), with, false, host);
    shake(*made, "tls::connect", how);
    return stream(std::move(made));
}

stream stream::connect(io::stream& over, const std::string& host, const context& with,
                       const handshake_options& how) {
    auto made = std::make_unique<engine>(over, with, false, host);
    shake(*made, "tls::connect", how);
    return stream(std::move(made));
}

stream stream::connect(const std::string& host, const std::string& service, const context& with,
                       const handshake_options& how) {
    return connect(io::tcp_stream::connect(host, service), host, with, how);
}

stream stream::accept(io::stream&& over, const context& with, const handshake_options& how) {
    auto made = std::make_unique<engine>(std::move(over), with, true, std::string());
    shake(*made, "tls::accept", how);
    return stream(std::move(made));
}

stream stream::accept(io::stream& over, const context& with, const handshake_options& how) {
    auto made = std::make_unique<engine>(over, with, true, std::string());
    shake(*made, "tls::accept", how);
    return stream(std::move(made));
}

task<stream> stream::async_connect(io::stream over, std::string host, context with,
                                   handshake_options how) {
    auto made = std::make_unique<engine>(std::move(over), with, false, host);
    co_await async_shake(*made, "tls::async_connect", how);
    co_return stream(std::move(made));
}

task<stream> stream::async_accept(io::stream over, context with, handshake_options how) {
    auto made = std::make_unique<engine>(std::move(over), with, true, std::string());
    co_await async_shake(*made, "tls::async_accept", how);
    co_return stream(std::move(made));
}

std::size_t stream::read_some(io::bytes into, std::error_code& failed) {
    failed.clear();
    if (into.empty()) return 0;
    if (engine_) return engine_->run(reading("tls::read_some", into), failed);
    failed = closed();
    return 0;
}
std::size_t stream::read_some(io::bytes into) {
    return or_throw(engine_, "tls::read_some",
                    [&](std::error_code& failed) { return read_some(into, failed); });
}

std::size_t stream::read(io::bytes into, std::error_code& failed) {
    return io::detail::read_whole(into, failed, [this](io::bytes rest, std::error_code& error) {
        return read_some(rest, error);
    });
}
void stream::read(io::bytes into) {
    (void)or_throw(engine_, "tls::read",
                   [&](std::error_code& failed) { return read(into, failed); });
}

std::size_t stream::write_some(io::const_bytes from, std::error_code& failed) {
    failed.clear();
    if (from.empty()) return 0;
    if (engine_) return engine_->run(writing("tls::write_some", from), failed);
    failed = closed();
    return 0;
}
std::size_t stream::write_some(io::const_bytes from) {
    return or_throw(engine_, "tls::write_some",
                    [&](std::error_code& failed) { return write_some(from, failed); });
}

std::size_t stream::write(io::const_bytes from, std::error_code& failed) {
    return io::detail::write_whole(from, failed,
                                   [this](io::const_bytes rest, std::error_code& error) {
                                       return write_some(rest, error);
                                   });
}
void stream::write(io::const_bytes from) {
    (void)or_throw(engine_, "tls::write",
                   [&](std::error_code& failed) { return write(from, failed); });
}

task<std::size_t> stream::async_read_some(io::bytes into) {
    if (into.empty()) co_return 0;
    co_return co_await open(engine_, "tls::async_read_some")
        .async_run(reading("tls::async_read_some", into));
}
task<void> stream::async_read(io::bytes into) {
    while (!into.empty()) {
        const std::size_t n = co_await async_read_some(into);
        if (n == 0) engine_->check(io::errc::unexpected_end, "tls::async_read");
        into = into.subspan(n);
    }
}
task<std::size_t> stream::async_write_some(io::const_bytes from) {
    if (from.empty()) co_return 0;
    co_return co_await open(engine_, "tls::async_write_some")
        .async_run(writing("tls::async_write_some", from));
}
task<void> stream::async_write(io::const_bytes from) {
    while (!from.empty()) from = from.subspan(co_await async_write_some(from));
}

void stream::shutdown_write(std::error_code& failed) {
    if (engine_)
        (void)engine_->run(closing("tls::shutdown_write"), failed);
    else
        failed = closed();
}
void stream::shutdown_write() {
    std::error_code failed;
    shutdown_write(failed);
    if (failed) open(engine_, "tls::shutdown_write").check(failed, "tls::shutdown_write");
}
task<void> stream::async_shutdown_write() {
    (void)co_await open(engine_, "tls::async_shutdown_write")
        .async_run(closing("tls::async_shutdown_write"));
}

void stream::close() noexcept {
    if (engine_) engine_->below.close();
}
bool stream::is_open() const noexcept {
    return engine_ && engine_->below.is_open();
}
io::stream* stream::lower() noexcept {
    return engine_ ? &engine_->below : nullptr;
}

bool stream::has_buffered() const {
    return engine_ && engine_->look([](SSL* ssl) {
        return SSL_has_pending(ssl) == 1 || BIO_ctrl_pending(SSL_get_rbio(ssl)) != 0;
    });
}
std::string stream::alpn() const {
    return open(engine_, "tls::alpn").look([](SSL* ssl) {
        const unsigned char* name = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(ssl, &name, &size);
        return std::string(name, name + size);
    });
}
std::string stream::server_name() const {
    return open(engine_, "tls::server_name").look([](SSL* ssl) {
        const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
        return std::string(name ? name : "");
    });
}
std::string stream::version() const {
    return open(engine_, "tls::version").look([](SSL* ssl) {
        return std::string(SSL_get_version(ssl));
    });
}
std::string stream::cipher() const {
    return open(engine_, "tls::cipher").look([](SSL* ssl) {
        return std::string(SSL_get_cipher_name(ssl));
    });
}
std::string stream::peer_subject() const {
    return open(engine_, "tls::peer_subject").look([](SSL* ssl) {
        const detail::x509_owner one(SSL_get1_peer_certificate(ssl));
        if (!one) return std::string();
        const detail::bio_owner text(BIO_new(BIO_s_mem()));
        if (!text) throw std::bad_alloc();
        X509_NAME_print_ex(text.get(), X509_get_subject_name(one.get()), 0, XN_FLAG_RFC2253);
        char* data = nullptr;
        const long size = BIO_get_mem_data(text.get(), &data);
        return std::string(data, static_cast<std::size_t>(size));
    });
}

} // namespace sennit::tls
