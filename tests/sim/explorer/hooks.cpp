// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include "sennit/detail/base/race_annotations.hpp"
#include "sys/mutant.hpp"

namespace sennit::sim {

namespace hooks {

std::uint64_t load(const void* address, std::uint64_t value, order with, place where) noexcept {
    return world::the().load(address, value, with, where);
}
void store(const void* address, std::uint64_t before, std::uint64_t value, order with,
           place where) noexcept {
    world::the().store(address, before, value, with, where);
}
std::uint64_t begin_update(const void* address, std::uint64_t value, operation what, order with,
                           place where) noexcept {
    return world::the().begin_update(address, value, what, with, where);
}
void end_update(std::uint64_t value) noexcept {
    world::the().end_update(value);
}
void abandon_update(order failure) noexcept {
    world::the().abandon_update(failure);
}
void construct(const void* address, std::uint64_t value) noexcept {
    world::the().construct(address, value);
}
void destroy(const void* address) noexcept {
    world::the().destroy(address);
}
void annotate_read(const void* address) noexcept {
    if (running) world::the().plain_read(world::the().plain_at(address), place::current());
}
void annotate_write(const void* address) noexcept {
    if (running) world::the().plain_write(world::the().plain_at(address), place::current());
}
bool mutated(const char* named) noexcept {
    return world::the().mutated(named);
}

} // namespace hooks

} // namespace sennit::sim
