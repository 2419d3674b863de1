// SPDX-License-Identifier: Apache-2.0
// System calls on sockets and pipes. Each returns a negative error number where it fails. None
// blocks, except where the descriptor was made by the program and blocks. None raises SIGPIPE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sennit::sys {

inline constexpr std::size_t address_size = 112; // That of the longest address, a path.

// The address of a socket, in the system's form.
struct socket_address {
    alignas(8) std::byte data[address_size]{};
    std::uint32_t size = 0; // 0: none.
};

struct const_part { // The system's iovec.
    const void* data;
    std::size_t size;
};

enum class socket_option : std::uint8_t {
    no_delay,
    keep_alive,
    reuse_address,
    reuse_port,
    receive_buffer,
    send_buffer,
    ipv6_only,
};

// Addresses. They return false, or an empty text, where the address has not that form.
bool parse_ip(const char* text, std::uint16_t port, socket_address& into) noexcept;
bool make_unix(const char* path, std::size_t length, socket_address& into) noexcept;
std::uint16_t port_of(const socket_address& address) noexcept; // 0: none.
bool is_unix(const socket_address& address) noexcept;
std::string text_of(const socket_address& address);

// Descriptors. New ones do not block and are closed at exec.
int open_stream_socket(const socket_address& like) noexcept;
int bind_socket(int descriptor, const socket_address& to) noexcept;
int listen_socket(int descriptor, int backlog) noexcept;
int connect_socket(int descriptor, const socket_address& to) noexcept;
int accept_socket(int descriptor, socket_address& from) noexcept;
int pending_error(int descriptor) noexcept; // The error of a connection attempt; 0: none.
int shutdown_socket(int descriptor, bool writing) noexcept;
int reset_at_close(int descriptor) noexcept;
int local_address(int descriptor, socket_address& into) noexcept;
int remote_address(int descriptor, socket_address& into) noexcept;
int set_option(int descriptor, socket_option which, int value) noexcept;
int get_option(int descriptor, socket_option which) noexcept;
int make_socket_pair(int (&into)[2]) noexcept;
int make_pipe(int (&into)[2]) noexcept;
int close_descriptor(int descriptor) noexcept;
int remove_path(const char* path) noexcept;

std::ptrdiff_t receive(int descriptor, void* into, std::size_t size) noexcept;
std::ptrdiff_t send(int descriptor, const void* from, std::size_t size) noexcept;
std::ptrdiff_t send_parts(int descriptor, const const_part* parts, std::size_t count) noexcept;
std::ptrdiff_t read_descriptor(int descriptor, void* into, std::size_t size) noexcept;
std::ptrdiff_t write_descriptor(int descriptor, const void* from, std::size_t size) noexcept;

// Kinds of errors, so that the callers need no system header.
bool would_block(std::ptrdiff_t result) noexcept;
bool interrupted(std::ptrdiff_t result) noexcept;
bool in_progress(std::ptrdiff_t result) noexcept;
bool connection_went_away(std::ptrdiff_t result) noexcept; // accept: try again.
bool out_of_resources(int error) noexcept; // accept: no descriptor or no memory at present.

} // namespace sennit::sys
