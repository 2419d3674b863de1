// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include "sennit/cancelled.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace sennit::tls::detail {

namespace {

std::string name_of(io::stream& peer, const std::string& host) {
    std::string text;
    try {
        text = peer.remote().to_string();
    } catch (const io::error&) {
        text = "a closed stream";
    }
    if (text.size() <= 5) text = "descriptor " + std::to_string(peer.native_handle());
    return host.empty() ? text : text + " (host '" + host + "')";
}

errc verdict(long why) noexcept {
    switch (why) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return errc::wrong_host;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return errc::expired_certificate;
    default:
        return errc::untrusted_certificate;
    }
}

// The client asks for the host, and accepts no certificate of another host.
void ask_for(SSL* ssl, const std::string& host) {
    if (host.empty()) {
        if (SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE) return;
        throw configuration_error(
            "sennit: [SNT-463] a client over TLS has no name of its server, so that it could not "
            "verify the certificate; pass the host to tls::stream::connect");
    }
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1) return;
    ERR_clear_error(); // It is no address.
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (SSL_set1_host(ssl, host.c_str()) != 1 || SSL_set_tlsext_host_name(ssl, host.c_str()) != 1)
        throw configuration_error("sennit: [SNT-464] '" + host +
                                  "' is no name of a host for TLS: " + take_error_text() +
                                  "; pass a name or an address");
}

} // namespace

engine::engine(io::stream&& over, const context& with, bool is_server, const std::string& host)
    : own(std::move(over)), below(own), context_(context_access::state(with)),
      peer_(name_of(below, host)), ssl(SSL_new(context_->ctx.get())) {
    begin(is_server, host);
}

engine::engine(io::stream& over, const context& with, bool is_server, const std::string& host)
    : below(over), context_(context_access::state(with)), peer_(name_of(below, host)),
      ssl(SSL_new(context_->ctx.get())) {
    begin(is_server, host);
}

void engine::begin(bool is_server, const std::string& host) {
    if (context_->is_server != is_server)
        throw configuration_error(
            "sennit: [SNT-465] a context of a client was used for a server, or the reverse; make "
            "it by context::server for accept, and by context::client for connect");
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    if (!ssl || !in_ || !out_) {
        BIO_free(in_);
        BIO_free(out_);
        throw std::bad_alloc();
    }
    BIO_set_mem_eof_return(in_, -1); // More may come.
    SSL_set_bio(ssl.get(), in_, out_);
    if (is_server) {
        SSL_set_accept_state(ssl.get());
    } else {
        SSL_set_connect_state(ssl.get());
        ask_for(ssl.get(), host);
    }
}

void engine::check(const std::error_code& failed, const char* operation) {
    if (!failed) return;
    std::string object = peer_;
    {
        std::lock_guard guard(lock);
        if (failed == broken_ && !reason_.empty()) object += " (OpenSSL: " + reason_ + ")";
    }
    throw io::error(failed, operation, object);
}

std::error_code engine::classify(int error) {
    const int reason = ERR_GET_REASON(ERR_peek_last_error());
    if (error == SSL_ERROR_SSL && reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        const long why = SSL_get_verify_result(ssl.get());
        ERR_clear_error();
        reason_ = X509_verify_cert_error_string(why);
        return verdict(why);
    }
    reason_ = take_error_text();
    if (error == SSL_ERROR_SYSCALL || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return errc::truncated;
    if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) return errc::no_certificate;
    if (reason >= SSL_AD_REASON_OFFSET) return errc::refused_by_peer;
    return errc::protocol;
}

engine::step engine::make(const operation& what) {
    step made;
    std::lock_guard guard(lock);
    made.inputs = inputs_;
    if (broken_) {
        made.then = next::failed;
        made.failed = broken_;
        return made;
    }
    ERR_clear_error();
    const int result = what.call(ssl.get(), what.data, what.size, &made.count);
    if (result != 1) {
        made.count = 0;
        switch (const int error = SSL_get_error(ssl.get(), result)) {
        case SSL_ERROR_ZERO_RETURN: // The peer has said that it closes.
            if (what.reads) break;
            made.then = next::failed;
            made.failed = broken_ = errc::truncated;
            break;
        case SSL_ERROR_WANT_READ:
            made.then = next::needs_input;
            break;
        default:
            made.then = next::failed;
            made.failed = broken_ = classify(error);
        }
    }
    made.has_output = BIO_ctrl_pending(out_) != 0;
    return made;
}

bool engine::has_output() {
    std::lock_guard guard(lock);
    return BIO_ctrl_pending(out_) != 0;
}

// Returns false if all output is sent.
bool engine::next_output() {
    if (sent_ < rest_.size()) return true;
    sent_ = 0;
    rest_.clear();
    std::lock_guard guard(lock);
    const std::size_t size = std::min(BIO_ctrl_pending(out_), 4 * record);
    if (size == 0) return false;
    rest_.resize(size);
    rest_.resize(static_cast<std::size_t>(BIO_read(out_, rest_.data(), static_cast<int>(size))));
    return true;
}

void engine::send(bool patient, std::error_code& failed) {
    do {
        std::unique_lock order(sending_, std::defer_lock);
        if (patient)
            order.lock();
        else if (!order.try_lock())
            return;
        while (next_output() && !failed)
            sent_ += below.write_some(std::span(std::as_const(rest_)).subspan(sent_), failed);
    } while (!failed && has_output());
}

bool engine::has_input_since(std::uint64_t seen) {
    std::lock_guard guard(lock);
    return inputs_ != seen;
}

void engine::take_input(io::const_bytes from) {
    std::lock_guard guard(lock);
    ++inputs_;
    if (from.empty())
        BIO_set_mem_eof_return(in_, 0); // The end.
    else if (BIO_write(in_, from.data(), static_cast<int>(from.size())) !=
             static_cast<int>(from.size()))
        throw std::bad_alloc();
}

void engine::receive(std::uint64_t seen, std::error_code& failed) {
    std::lock_guard order(reading_);
    if (has_input_since(seen)) return;
    std::array<std::byte, record> buffer;
    const std::size_t n = below.read_some(buffer, failed);
    if (!failed) take_input(std::span(std::as_const(buffer)).first(n));
}

std::size_t engine::run(const operation& what, std::error_code& failed) {
    failed.clear();
    for (;;) {
        const step now = make(what);
        std::error_code unsent;
        if (now.has_output) send(!what.reads, unsent);
        if (now.then == next::failed) { // The alert to the peer may be lost.
            failed = now.failed;
            return 0;
        }
        if (unsent) {
            failed = unsent;
            return 0;
        }
        if (now.then == next::done) return now.count;
        receive(now.inputs, failed);
        if (failed) return 0;
    }
}

// ---- tasks

task<void> engine::async_send(bool patient) {
    do {
        if (patient)
            co_await sending_.async_lock();
        else if (!sending_.try_lock())
            co_return;
        std::unique_lock order(sending_, std::adopt_lock);
        while (next_output()) {
            const io::const_bytes all = rest_;
            sent_ += co_await below.async_write_some(all.subspan(sent_));
        }
    } while (has_output());
}

task<void> engine::async_receive(std::uint64_t seen) {
    co_await reading_.async_lock();
    const std::unique_lock order(reading_, std::adopt_lock);
    if (has_input_since(seen)) co_return;
    std::array<std::byte, record> buffer;
    const std::size_t n = co_await below.async_read_some(buffer);
    take_input(std::span(std::as_const(buffer)).first(n));
}

task<std::size_t> engine::async_run(operation what) {
    for (;;) {
        const step now = make(what);
        if (now.has_output && now.then == next::failed) {
            std::error_code lost; // The alert to the peer may be lost.
            send(false, lost);
        } else if (now.has_output) {
            co_await async_send(!what.reads);
        }
        check(now.failed, what.name);
        if (now.then == next::done) co_return now.count;
        co_await async_receive(now.inputs);
    }
}

} // namespace sennit::tls::detail
