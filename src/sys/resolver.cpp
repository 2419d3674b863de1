// SPDX-License-Identifier: Apache-2.0
#include "sys/resolver.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace sennit::sys {

namespace {

lookup_error error_of(int code) noexcept {
    switch (code) {
    case EAI_NONAME:
#ifdef EAI_NODATA
    case EAI_NODATA:
#endif
#ifdef EAI_ADDRFAMILY
    case EAI_ADDRFAMILY:
#endif
        return lookup_error::host_not_found;
    case EAI_AGAIN:
        return lookup_error::try_again;
    case EAI_SERVICE:
        return lookup_error::service_not_found;
    case EAI_MEMORY:
    case EAI_SYSTEM:
        return lookup_error::system;
    default:
        return lookup_error::failed;
    }
}

int family_of(address_family which) noexcept {
    switch (which) {
    case address_family::ipv4:
        return AF_INET;
    case address_family::ipv6:
        return AF_INET6;
    default:
        return AF_UNSPEC;
    }
}

void collect(const addrinfo* list, std::vector<socket_address>& into) {
    for (const addrinfo* one = list; one; one = one->ai_next) {
        if (one->ai_addrlen > address_size) continue;
        socket_address made;
        std::memcpy(made.data, one->ai_addr, one->ai_addrlen);
        made.size = one->ai_addrlen;
        const bool known =
            std::any_of(into.begin(), into.end(), [&](const socket_address& other) noexcept {
                return other.size == made.size &&
                       std::memcmp(other.data, made.data, made.size) == 0;
            });
        if (!known) into.push_back(made);
    }
}

} // namespace

lookup_result look_up(const char* host, const char* service, address_family of,
                      bool passive) noexcept {
    addrinfo wanted{};
    wanted.ai_family = family_of(of);
    wanted.ai_socktype = SOCK_STREAM; // Otherwise each address comes three times.
    wanted.ai_flags = passive ? AI_PASSIVE : 0;
    addrinfo* list = nullptr;
    lookup_result result;
    const int code = ::getaddrinfo(*host != '\0' ? host : nullptr,
                                   *service != '\0' ? service : nullptr, &wanted, &list);
    result.error = error_of(code);
    if (code == 0) {
        result.error = lookup_error::none;
        try {
            collect(list, result.found);
        } catch (const std::bad_alloc&) {
            result.error = lookup_error::system;
            result.system_error = ENOMEM;
        }
        ::freeaddrinfo(list);
    } else if (result.error == lookup_error::system) {
        result.system_error = code == EAI_MEMORY ? ENOMEM : errno;
    }
    return result;
}

} // namespace sennit::sys
