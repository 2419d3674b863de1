// SPDX-License-Identifier: Apache-2.0
// Owners of OpenSSL's objects, and the text of its errors.
#pragma once

#include "sennit/tls/context.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sennit::tls::detail {

template <class T, void (*End)(T*)>
struct ends {
    void operator()(T* one) const noexcept { End(one); }
};
using ctx_owner = std::unique_ptr<SSL_CTX, ends<SSL_CTX, SSL_CTX_free>>;
using ssl_owner = std::unique_ptr<SSL, ends<SSL, SSL_free>>;
using x509_owner = std::unique_ptr<X509, ends<X509, X509_free>>;
using key_owner = std::unique_ptr<EVP_PKEY, ends<EVP_PKEY, EVP_PKEY_free>>;
using bio_owner = std::unique_ptr<BIO, ends<BIO, BIO_free_all>>;

// The errors of the calling thread's queue, oldest first, which is empty afterwards.
std::string take_error_text();

struct context_state {
    ctx_owner ctx;
    bool is_server = false;
    bool trusts_system = false; // No authority was given.
    std::vector<unsigned char> alpn; // In the form of the wire.
    std::map<std::string, std::shared_ptr<context_state>, std::less<>> hosts;
};

struct context_access {
    static const std::shared_ptr<context_state>& state(const context& of) noexcept {
        return of.state_;
    }
};

} // namespace sennit::tls::detail
