// SPDX-License-Identifier: Apache-2.0
// name_registry: actors by name.
//
//     sennit::name_registry names;
//     names.put("stats", actors.spawn<counter>());
//     if (auto stats = names.find<counter>("stats")) stats->tell(add{1});
//
// Use it where different parts of a program make the actors that talk to each other. Also use it
// where a new actor takes over the role of an old one: each actor puts itself into the registry, in
// its constructor. A reference passed along is cheaper. A registry needs no group and no runtime;
// its users keep it alive as long as they use it.
//
// Guarantees. A name has one actor at a time. A name is free from the moment at which its actor has
// ended: a watcher that gets `down` finds it free. Thread safety: any thread may call all members.
// Blocking: for a moment, while another thread is inside. Cost: a lock and a look-up in a hash
// table; now and then `put` removes ended actors.
#pragma once

#include "sennit/actor/actor_ref.hpp"
#include "sennit/mutex.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <vector>

namespace sennit {

class name_taken : public std::runtime_error {
public:
    explicit name_taken(const std::string& name)
        : std::runtime_error("sennit: [SNT-509] a living actor has this name already: " + name) {}
};

class name_registry {
public:
    name_registry() = default;
    name_registry(const name_registry&) = delete;
    name_registry& operator=(const name_registry&) = delete;

    // Gives the actor that name; an actor may have several. Throws name_taken if another living
    // actor has the name, and std::bad_alloc. Does nothing if the actor has ended.
    template <class A>
    void put(std::string_view name, const actor_ref<A>& whom) {
        if (!put(name, {whom.address(), &typeid(A)})) throw name_taken(std::string(name));
    }
    // Returns null if no actor has the name, if the actor was put there as another class, or if it
    // is still under construction.
    template <class A>
    std::optional<actor_ref<A>> find(std::string_view name) const {
        const holder found = find(name);
        if (!found.who || *found.type != typeid(A)) return std::nullopt;
        return actor_ref<A>(found.who);
    }
    // True: a living actor had that name.
    bool remove(std::string_view name);
    // Returns the names of the living actors, sorted. Throws std::bad_alloc.
    std::vector<std::string> names() const;

private:
    struct holder {
        sched::address who;
        const std::type_info* type;
    };
    struct hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept {
            return std::hash<std::string_view>()(name);
        }
    };
    bool put(std::string_view name, const holder& whom);
    holder find(std::string_view name) const;

    mutable mutex lock_; // guards all members below
    std::unordered_map<std::string, holder, hash, std::equal_to<>> holders_;
    std::size_t clear_at_ = 64; // with this many names, `put` removes those of ended actors
};

} // namespace sennit
