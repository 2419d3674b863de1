// SPDX-License-Identifier: Apache-2.0
#include "sys/symbolize.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace sennit::sys {

namespace {

std::string hex(std::uintptr_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
    return text;
}

std::uintptr_t number_of(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address);
}

// The file that contains the address, and the offset in it.
std::string place_of(const Dl_info& where, const void* address) {
    const char* slash = std::strrchr(where.dli_fname, '/');
    return std::string("(")
        .append(slash ? slash + 1 : where.dli_fname)
        .append("+")
        .append(hex(number_of(address) - number_of(where.dli_fbase)))
        .append(")");
}

} // namespace

std::string demangle(const char* name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    return text ? text.get() : name;
}

std::string symbolize(const void* address) {
    Dl_info where{};
    if (::dladdr(address, &where) == 0 || !where.dli_fname) return hex(number_of(address));
    std::string text;
    if (where.dli_sname) {
        text = demangle(where.dli_sname);
        text += '+';
        text += hex(number_of(address) - number_of(where.dli_saddr));
        text += ' ';
    }
    return text + place_of(where, address);
}

std::string symbolize_function(const void* address) {
    Dl_info where{};
    if (::dladdr(address, &where) == 0 || !where.dli_fname) return hex(number_of(address));
    const bool named = where.dli_sname && where.dli_saddr == address;
    return (named ? demangle(where.dli_sname) + ' ' : std::string()) + place_of(where, address);
}

std::string symbolize_data(const void* address) {
    Dl_info where{};
    if (::dladdr(address, &where) == 0 || !where.dli_sname) return {};
    return demangle(where.dli_sname);
}

} // namespace sennit::sys
