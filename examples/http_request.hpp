// SPDX-License-Identifier: Apache-2.0
// Requests of HTTP/1, by the parser of Debian's libhttp-parser-dev.
#pragma once

#include <cctype>
#include <climits>
#include <cstddef>
#include <http_parser.h>
#include <stdexcept>
#include <string>
#include <string_view>

namespace http {

inline constexpr std::size_t most_header = 8 * 1024, most_body = 1024 * 1024; // Bytes.

struct request {
    std::string method, target, body;
    bool keep_alive = false;
    bool is_old = false;         // HTTP/1.0
    bool wants_continue = false; // The client waits for "100 Continue" before it sends the body.
};

// A request that gets an answer with an error.
struct bad_request : std::runtime_error {
    bad_request(int code, const char* reason) : std::runtime_error(reason), status(code) {}
    int status;
};

// Takes requests out of a stream of bytes.
class parser {
public:
    parser() {
        http_parser_init(&state_, HTTP_REQUEST);
        state_.data = this;
    }
    parser(const parser&) = delete;

    // Takes bytes from the front of `text`. Returns true when `next` is complete. Throws
    // bad_request.
    bool take(std::string_view& text, request& next) {
        next_ = &next;
        refusal_ = nullptr;
        if (complete_) { // The request before this one.
            complete_ = false;
            http_parser_pause(&state_, 0);
        }
        if (text.empty()) return false;
        const std::size_t n = http_parser_execute(&state_, &callbacks(), text.data(), text.size());
        const http_errno error = HTTP_PARSER_ERRNO(&state_);
        if (error == HPE_PAUSED && complete_) {
            // The parser pauses on the last byte of the request.
            text.remove_prefix(n);
            inside_ = false;
            return true;
        }
        if (refusal_) throw bad_request(refused_with_, refusal_);
        if (error == HPE_HEADER_OVERFLOW) throw bad_request(431, "the header is too large");
        if (error != HPE_OK) throw bad_request(400, http_errno_description(error));
        text.remove_prefix(n);
        return false;
    }
    // True in the middle of a request.
    bool inside() const noexcept { return inside_; }

private:
    static parser& of(http_parser* state) noexcept { return *static_cast<parser*>(state->data); }
    int refuse(int status, const char* reason) noexcept {
        refused_with_ = status;
        refusal_ = reason;
        return -1;
    }
    static bool is(std::string_view name, std::string_view wanted) noexcept {
        if (name.size() != wanted.size()) return false;
        for (std::size_t i = 0; i < name.size(); ++i)
            if (std::tolower(static_cast<unsigned char>(name[i])) != wanted[i]) return false;
        return true;
    }
    // Exceptions do not pass through the parser, which is written in C. The only ones are those of
    // a lack of memory, and end the program.
    static const http_parser_settings& callbacks() noexcept {
        static const http_parser_settings all = [] {
            http_parser_set_max_header_size(most_header);
            http_parser_settings set{};
            set.on_message_begin = [](http_parser* state) noexcept {
                *of(state).next_ = {};
                of(state).name_.clear();
                of(state).inside_ = true;
                return 0;
            };
            set.on_url = [](http_parser* state, const char* data, std::size_t size) noexcept {
                of(state).next_->target.append(data, size);
                return 0;
            };
            set.on_header_field = [](http_parser* state, const char* data,
                                     std::size_t size) noexcept {
                parser& me = of(state);
                if (me.in_value_) me.name_.clear();
                me.in_value_ = false;
                me.name_.append(data, size);
                return 0;
            };
            set.on_header_value = [](http_parser* state, const char* data,
                                     std::size_t size) noexcept {
                parser& me = of(state);
                me.in_value_ = true;
                if (is(me.name_, "expect") && is({data, size}, "100-continue"))
                    me.next_->wants_continue = true;
                return 0;
            };
            set.on_headers_complete = [](http_parser* state) noexcept {
                parser& me = of(state);
                me.next_->method = http_method_str(static_cast<http_method>(state->method));
                if (state->content_length != ULLONG_MAX && state->content_length > most_body)
                    return me.refuse(413, "the body is too large");
                return 0;
            };
            set.on_body = [](http_parser* state, const char* data, std::size_t size) noexcept {
                parser& me = of(state);
                if (me.next_->body.size() + size > most_body)
                    return me.refuse(413, "the body is too large");
                me.next_->body.append(data, size);
                return 0;
            };
            set.on_message_complete = [](http_parser* state) noexcept {
                parser& me = of(state);
                me.next_->keep_alive = http_should_keep_alive(state) != 0 && !state->upgrade;
                me.next_->is_old = state->http_major == 1 && state->http_minor == 0;
                me.complete_ = true;
                http_parser_pause(state, 1);
                return 0;
            };
            return set;
        }();
        return all;
    }

    http_parser state_{};
    request* next_ = nullptr;
    std::string name_; // Of the header that is being read.
    bool in_value_ = false;
    bool complete_ = false;
    bool inside_ = false;
    int refused_with_ = 0;
    const char* refusal_ = nullptr;
};

} // namespace http
