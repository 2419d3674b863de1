// SPDX-License-Identifier: Apache-2.0
// A reader of the part of the Itanium C++ ABI's name mangling that names functions use. Types are
// only skipped. Each step either moves forward or gives up, and none reads beyond the terminator.
#include "sys/brief_name.hpp"

#include <cstring>

namespace sennit::sys {

namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool is_lower(char c) noexcept {
    return c >= 'a' && c <= 'z';
}
bool begins(const char* text, const char* with) noexcept {
    return std::strncmp(text, with, std::strlen(with)) == 0;
}

class mangled_name {
public:
    // `to` may be null.
    mangled_name(const char* text, bounded_text* to) noexcept : at_(text), to_(to) {}

    const char* at() const noexcept { return at_; }

    // Reads the name of a function, up to its parameters.
    bool read_function() noexcept {
        bool known = false;
        if (*at_ == 'Z') {
            ++at_;
            // The name of the enclosing function, its parameters, and then the name inside of it.
            known = read_function() && skip_block() && read_local();
        } else if (*at_ == 'N') {
            ++at_;
            known = read_nested();
        } else {
            if (begins(at_, "St")) read_component();
            known = read_component();
        }
        if (known && *at_ == 'I') {
            ++at_;
            known = skip_block();
        }
        return known;
    }

    // Skips up to the end of the block whose first letter was just read.
    bool skip_block() noexcept {
        std::uint64_t closures =
            0; // one bit for each open block: 1 for the parameters of a closure
        for (unsigned depth = 1; *at_ != '\0';) {
            if (*at_ == 'E') {
                ++at_;
                if ((closures & 1) != 0) skip_number();
                closures >>= 1;
                if (--depth == 0) return true;
            } else if (opens_block()) {
                if (++depth > 60) return false;
                closures = closures << 1 | (begins(at_, "Ul") ? 1 : 0);
                at_ += *at_ == 'U' || *at_ == 'D' ? 2 : 1;
            } else {
                skip_token();
            }
        }
        return false;
    }

    bool opens_block() const noexcept {
        return std::strchr("INXJFZ", *at_) || begins(at_, "Ul") || begins(at_, "DT") ||
               begins(at_, "Dt");
    }

    // Skips one token that opens or closes no block.
    void skip_token() noexcept {
        if (is_digit(*at_)) {
            (void)skip_identifier();
        } else if (*at_ == 'S' && is_lower(at_[1])) {
            at_ += 2;
        } else if (*at_ == 'S' || *at_ == 'T' || *at_ == 'A') { // to the underscore behind a number
            while (*at_ != '\0' && *at_ != '_') ++at_;
            if (*at_ == '_') ++at_;
        } else if (*at_ == 'L' && is_lower(at_[1])) { // a literal of a type that has one letter
            while (*at_ != '\0' && *at_ != 'E') ++at_;
            if (*at_ == 'E') ++at_;
        } else if (*at_ == '_') { // the number of a local name may follow
            ++at_;
            while (is_digit(*at_)) ++at_;
        } else {
            ++at_;
        }
    }

private:
    // The name of an entity inside of a function.
    bool read_local() noexcept {
        if (*at_ == 'N') {
            ++at_;
            return read_nested();
        }
        return read_component();
    }

    bool read_nested() noexcept {
        while (*at_ != '\0' && std::strchr("KVrRO", *at_)) ++at_;
        while (*at_ != 'E') {
            if (*at_ == 'I') {
                ++at_;
                if (!skip_block()) return false;
            } else if (!read_component()) {
                return false;
            }
        }
        ++at_;
        return true;
    }

    bool read_component() noexcept {
        if (*at_ == 'L' && is_digit(at_[1])) ++at_; // a function that only its file knows
        if (is_digit(*at_)) return read_identifier();
        if (begins(at_, "St")) {
            at_ += 2;
            write("std", 3);
            return true;
        }
        if (*at_ == 'S') { // a name from above, which is left out
            skip_token();
            return true;
        }
        if (begins(at_, "Ul")) {
            at_ += 2;
            write("lambda", 6);
            if (!skip_block()) return false;
            skip_number();
            return true;
        }
        if (begins(at_, "Ut")) {
            at_ += 2;
            skip_number();
            write("unnamed", 7);
            return true;
        }
        if (*at_ == 'B' && is_digit(at_[1])) {
            ++at_;
            return skip_identifier();
        }
        if ((*at_ == 'C' || *at_ == 'D') && is_digit(at_[1])) {
            const bool destroys = *at_ == 'D';
            at_ += 2;
            if (last_length_ == 0) return false;
            write(last_, last_length_, destroys);
            return true;
        }
        if (begins(at_, "cl")) {
            at_ += 2;
            if (last_length_ != 6 || !begins(last_, "lambda")) write("operator()", 10);
            return true;
        }
        if (is_lower(*at_) && (is_lower(at_[1]) || at_[1] == 'S')) {
            at_ += 2;
            write("operator", 8);
            return true;
        }
        return false;
    }

    bool read_identifier() noexcept {
        const std::size_t length = read_number();
        if (std::memchr(at_, '\0', length)) return false;
        if (begins(at_, "_GLOBAL__N"))
            write("(anonymous namespace)", 21);
        else if (begins(at_, "$_")) // clang's name for a closure that only its file knows
            write("lambda", 6);
        else
            write(at_, length);
        at_ += length;
        return length != 0;
    }

    bool skip_identifier() noexcept {
        const std::size_t length = read_number();
        if (length != 0 && std::memchr(at_, '\0', length)) {
            at_ += std::strlen(at_);
            return false;
        }
        at_ += length;
        return true;
    }

    std::size_t read_number() noexcept {
        std::size_t number = 0;
        for (; is_digit(*at_); ++at_)
            if (number < 100'000) number = number * 10 + static_cast<std::size_t>(*at_ - '0');
        return number;
    }

    // The number of a closure or of an unnamed type, and the underscore behind it.
    void skip_number() noexcept {
        while (is_digit(*at_)) ++at_;
        if (*at_ == '_') ++at_;
    }

    void write(const char* text, std::size_t length, bool destroys = false) noexcept {
        last_ = text;
        last_length_ = length;
        if (!to_) return;
        if (wrote_) *to_ << "::";
        if (destroys) *to_ << "~";
        to_->append(text, length);
        wrote_ = true;
    }

    const char* at_;
    bounded_text* to_;
    bool wrote_ = false;
    const char* last_ = ""; // the last component
    std::size_t last_length_ = 0;
};

// Skips the letters before the first component of a name.
const char* first_component(const char* at) noexcept {
    while (*at == 'Z') ++at;
    if (*at == 'N') {
        ++at;
        while (*at != '\0' && std::strchr("KVrRO", *at)) ++at;
    }
    return *at == 'L' ? at + 1 : at;
}

bool names_library(const char* at) noexcept {
    at = first_component(at);
    if (*at == 'S' && is_lower(at[1])) return true; // std
    const char* text = at;
    while (is_digit(*text)) ++text;
    return begins(at, "6sennit") || (text != at && begins(text, "__"));
}

} // namespace

void write_brief_name(bounded_text& to, const char* symbol) noexcept {
    char text[256];
    bounded_text name(text, sizeof text);
    if (begins(symbol, "_Z") && mangled_name(symbol + 2, &name).read_function())
        to << text;
    else
        to << symbol;
}

bool is_library_symbol(const char* symbol) noexcept {
    if (begins(symbol, "_ZTh") || begins(symbol, "_ZTv")) { // a thunk of a virtual function
        const char* target = symbol + 4;
        while (*target != '\0' && !begins(target, "_N") && !begins(target, "_Z")) ++target;
        return *target != '\0' && names_library(target + 1);
    }
    if (begins(symbol, "_Z")) return names_library(symbol + 2);
    return *symbol == '_' || begins(symbol, "sennit_") || std::strcmp(symbol, "clone") == 0;
}

const char* closure_in(const char* symbol) noexcept {
    if (!begins(symbol, "_Z")) return nullptr;
    for (mangled_name rest(symbol + 2, nullptr); *rest.at() != '\0';) {
        const char* const here = rest.at();
        if (*here == 'Z' && !names_library(here)) {
            mangled_name enclosing(here + 1, nullptr);
            if (enclosing.read_function() && enclosing.skip_block() &&
                (begins(enclosing.at(), "Ul") || is_digit(*enclosing.at())))
                return here;
        }
        rest.skip_token();
    }
    return nullptr;
}

void write_brief_closure(bounded_text& to, const char* closure) noexcept {
    (void)mangled_name(closure, &to).read_function();
}

} // namespace sennit::sys
