// SPDX-License-Identifier: Apache-2.0
// Certificates for tests, made with OpenSSL when a test runs.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace certificates {

struct pair {
    std::string certificate; // PEM
    std::string key;         // PEM
};

inline void require(bool right) {
    if (!right) throw std::runtime_error("OpenSSL refuses to make a certificate");
}

template <class F>
std::string as_text(F write) {
    const std::unique_ptr<BIO, int (*)(BIO*)> to(BIO_new(BIO_s_mem()), &BIO_free);
    require(write(to.get()) == 1);
    char* data = nullptr;
    const long size = BIO_get_mem_data(to.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

// An authority, and certificates that it signs.
class authority {
public:
    authority() : key_(EVP_EC_gen("P-256"), &EVP_PKEY_free), own_(nullptr, &X509_free) {
        own_.reset(make("Test authority", "", key_.get(), -1, 1, true));
    }
    std::string certificate() const {
        return as_text([&](BIO* to) { return PEM_write_bio_X509(to, own_.get()); });
    }
    // For a host, or for an address. Valid from `first` to `last`, in hours from now.
    pair sign(const std::string& host, int first = -1, int last = 1) const {
        const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"),
                                                                 &EVP_PKEY_free);
        const bool is_address = host.find_first_not_of("0123456789.") == std::string::npos;
        const std::unique_ptr<X509, void (*)(X509*)> one(
            make(host, (is_address ? "IP:" : "DNS:") + host, key.get(), first, last, false),
            &X509_free);
        return {as_text([&](BIO* to) { return PEM_write_bio_X509(to, one.get()); }),
                as_text([&](BIO* to) {
                    return PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr,
                                                    nullptr);
                })};
    }

private:
    X509* make(const std::string& name, const std::string& hosts, EVP_PKEY* key, int first,
               int last, bool is_authority) const {
        X509* const one = X509_new();
        require(one && key);
        X509_set_version(one, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(one), 1 + static_cast<long>(rand() % 1'000'000));
        X509_gmtime_adj(X509_getm_notBefore(one), first * 3600L);
        X509_gmtime_adj(X509_getm_notAfter(one), last * 3600L);
        X509_set_pubkey(one, key);
        X509_NAME* const subject = X509_get_subject_name(one);
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
        X509_set_issuer_name(one, own_ ? X509_get_subject_name(own_.get()) : subject);
        add(one, NID_basic_constraints, is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
        if (!hosts.empty()) add(one, NID_subject_alt_name, hosts);
        require(X509_sign(one, key_.get(), EVP_sha256()) != 0);
        return one;
    }
    static void add(X509* to, int what, const std::string& value) {
        X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
        require(made && X509_add_ext(to, made, -1) == 1);
        X509_EXTENSION_free(made);
    }

    std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
    std::unique_ptr<X509, void (*)(X509*)> own_;
};

} // namespace certificates
