// SPDX-License-Identifier: Apache-2.0
#include "sennit/tls/context.hpp"

#include "openssl.hpp"

#include <openssl/pem.h>

#include <climits>
#include <new>

namespace sennit::tls {

using namespace detail;

namespace {

class tls_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "sennit.tls"; }
    std::string message(int what) const override {
        switch (static_cast<errc>(what)) {
        case errc::truncated:
            return "the stream was cut off: the peer has not said that it closes";
        case errc::untrusted_certificate:
            return "no trusted authority has signed the peer's certificate";
        case errc::expired_certificate:
            return "the peer's certificate is not valid at this time";
        case errc::wrong_host:
            return "the peer's certificate is for other hosts";
        case errc::no_certificate:
            return "the peer has sent no certificate";
        case errc::refused_by_peer:
            return "the peer has refused the connection";
        case errc::protocol:
            return "the peer does not keep to the protocol";
        }
        return "unknown error";
    }
};

[[noreturn]] void refuse(const std::string& what) {
    throw configuration_error("sennit: [SNT-461] " + what + " cannot be used: " +
                              take_error_text() + "; pass a file or a text in the form PEM");
}

// Calls `use` for each certificate of the text. Returns their number.
template <class F>
int each_certificate(std::string_view text, const std::string& what, F use) {
    const bio_owner from(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    if (!from) throw std::bad_alloc();
    int count = 0;
    for (;; ++count) {
        const x509_owner one(PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr));
        if (!one) break;
        use(one.get(), count);
    }
    // The reader ends with this error.
    if (count == 0 || ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) refuse(what);
    ERR_clear_error();
    return count;
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void* argument) {
    const auto& own = static_cast<const context_state*>(argument)->alpn;
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, size, own.data(), static_cast<unsigned>(own.size()), offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

int choose_host(SSL* ssl, int*, void* argument) {
    const auto& own = *static_cast<const context_state*>(argument);
    const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (!name) return SSL_TLSEXT_ERR_NOACK;
    const auto found = own.hosts.find(std::string_view(name));
    if (found != own.hosts.end()) SSL_set_SSL_CTX(ssl, found->second->ctx.get());
    return SSL_TLSEXT_ERR_OK;
}

std::shared_ptr<context_state> make(bool is_server) {
    ERR_clear_error();
    auto state = std::make_shared<context_state>();
    state->is_server = is_server;
    state->trusts_system = !is_server;
    state->ctx.reset(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method()));
    SSL_CTX* const ctx = state->ctx.get();
    if (!ctx) throw std::bad_alloc();
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    // A write never waits for the peer to read.
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
    if (is_server) {
        SSL_CTX_set_tlsext_servername_callback(ctx, &choose_host);
        SSL_CTX_set_tlsext_servername_arg(ctx, state.get());
        static constexpr unsigned char id[] = "sennit";
        SSL_CTX_set_session_id_context(ctx, id, sizeof id - 1);
    } else {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
        SSL_CTX_set_default_verify_paths(ctx);
    }
    return state;
}

void use_key(context_state& of, EVP_PKEY* key, const std::string& what) {
    if (!key || SSL_CTX_use_PrivateKey(of.ctx.get(), key) != 1 ||
        SSL_CTX_check_private_key(of.ctx.get()) != 1)
        refuse(what);
}

// From here on a client trusts only the authorities that it was given.
X509_STORE* own_store(context_state& of) {
    if (std::exchange(of.trusts_system, false)) {
        X509_STORE* const empty = X509_STORE_new();
        if (!empty) throw std::bad_alloc();
        SSL_CTX_set_cert_store(of.ctx.get(), empty);
    }
    return SSL_CTX_get_cert_store(of.ctx.get());
}

std::string quoted(const char* what, const std::filesystem::path& file) {
    return std::string(what) + " '" + file.string() + "'";
}

} // namespace

const std::error_category& category() noexcept {
    static const tls_category only;
    return only;
}

std::error_code make_error_code(errc what) noexcept {
    return {static_cast<int>(what), category()};
}

std::string detail::take_error_text() {
    std::string text;
    const char* data = nullptr;
    int flags = 0;
    while (const unsigned long code = ERR_get_error_all(nullptr, nullptr, nullptr, &data, &flags)) {
        if (!text.empty()) text += ", ";
        const char* const reason = ERR_reason_error_string(code);
        text += reason ? reason : "error " + std::to_string(code);
        if ((flags & ERR_TXT_STRING) != 0 && data && *data) text += std::string(" (") + data + ")";
    }
    return text.empty() ? "OpenSSL gives no reason" : text;
}

context::context(std::shared_ptr<context_state> state) noexcept : state_(std::move(state)) {}
context context::client() {
    return context(make(false));
}
context context::server() {
    return context(make(true));
}

context& context::certificate_file(const std::filesystem::path& chain,
                                   const std::filesystem::path& key) {
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(state_->ctx.get(), chain.c_str()) != 1)
        refuse(quoted("the certificate", chain));
    const bio_owner from(BIO_new_file(key.c_str(), "r"));
    const key_owner read(
        from ? PEM_read_bio_PrivateKey(from.get(), nullptr, nullptr, nullptr) : nullptr);
    use_key(*state_, read.get(), quoted("the key", key));
    return *this;
}

context& context::certificate(std::string_view chain, std::string_view key) {
    ERR_clear_error();
    SSL_CTX* const ctx = state_->ctx.get();
    const std::string what = "the certificate in memory";
    SSL_CTX_clear_chain_certs(ctx);
    each_certificate(chain, what, [&](X509* one, int number) {
        if ((number == 0 ? SSL_CTX_use_certificate(ctx, one)
                         : static_cast<int>(SSL_CTX_add1_chain_cert(ctx, one))) != 1)
            refuse(what);
    });
    const bio_owner from(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
    const key_owner read(
        from ? PEM_read_bio_PrivateKey(from.get(), nullptr, nullptr, nullptr) : nullptr);
    use_key(*state_, read.get(), "the key in memory");
    return *this;
}

context& context::trust_file(const std::filesystem::path& authorities) {
    ERR_clear_error();
    if (X509_STORE_load_file(own_store(*state_), authorities.c_str()) != 1)
        refuse(quoted("the file of authorities", authorities));
    return *this;
}

context& context::trust(std::string_view authorities) {
    ERR_clear_error();
    X509_STORE* const store = own_store(*state_);
    const std::string what = "the authority in memory";
    each_certificate(authorities, what, [&](X509* one, int) {
        if (X509_STORE_add_cert(store, one) != 1) refuse(what);
    });
    return *this;
}

context& context::trust_anyone() {
    SSL_CTX_set_verify(state_->ctx.get(), SSL_VERIFY_NONE, nullptr);
    return *this;
}

context& context::require_certificate() {
    SSL_CTX_set_verify(state_->ctx.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       nullptr);
    return *this;
}

context& context::alpn(std::initializer_list<std::string_view> protocols) {
    std::vector<unsigned char> wire;
    for (const std::string_view one : protocols) {
        if (one.empty() || one.size() > UCHAR_MAX)
            throw configuration_error("sennit: [SNT-462] '" + std::string(one) +
                                      "' is no name of a protocol for ALPN; it has 1 to 255 bytes");
        wire.push_back(static_cast<unsigned char>(one.size()));
        wire.insert(wire.end(), one.begin(), one.end());
    }
    state_->alpn = std::move(wire);
    if (state_->is_server)
        SSL_CTX_set_alpn_select_cb(state_->ctx.get(), &choose_protocol, state_.get());
    else if (SSL_CTX_set_alpn_protos(state_->ctx.get(), state_->alpn.data(),
                                     static_cast<unsigned>(state_->alpn.size())) != 0)
        throw std::bad_alloc();
    return *this;
}

context& context::host(std::string name, const context& other) {
    if (context_access::state(other) == state_) return *this; // It is what other hosts get.
    state_->hosts.insert_or_assign(std::move(name), context_access::state(other));
    return *this;
}

} // namespace sennit::tls
