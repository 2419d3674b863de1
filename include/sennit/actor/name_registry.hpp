// SPDX-License-Identifier: Apache-2.0
// name_registry: actors by name.
//
//     sennit::name_registry names;
//     names.put("stats", actors.spawn<counter>());
//     if (auto stats = names.find<counter>("stats")) stats->tell(add{1});
//
// Use it where those that talk to each other are not made by the same hand, or where an actor is
// replaced by another one in the same role: let each one put itself, in its constructor. A
// reference passed along is cheaper. It needs no group and no runtime; who shares it keeps it alive
// as long as it is used. Guarantees. A name has one actor at a time. It is free from the moment at
// which that has ended: whoever was told of the end by `down` finds it free. Thread safety: all
// members. Blocking: for a moment, where others are inside. Cost: a lock and a look into a hash
// table; now and then `put` clears away what has ended.
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

    // Gives it that name, one of perhaps several. Throws name_taken when another living one has it,
    // std::bad_alloc. Nothing happens when the actor has ended.
    template <class A>
    void put(std::string_view name, const actor_ref<A>& whom) {
        if (!put(name, {whom.address(), &typeid(A)})) throw name_taken(std::string(name));
    }
    // Null: nobody has it, or it was put there as another class, or it is still being made.
    template <class A>
    std::optional<actor_ref<A>> find(std::string_view name) const {
        const holder found = find(name);
        if (!found.who || *found.type != typeid(A)) return std::nullopt;
        return actor_ref<A>(found.who);
    }
    // True: there was a living actor of that name.
    bool remove(std::string_view name);
    // Of those that live, in order. Throws std::bad_alloc.
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

    mutable mutex lock_; // guards all below
    std::unordered_map<std::string, holder, hash, std::equal_to<>> holders_;
    std::size_t clear_at_ = 64; // as many
};

} // namespace sennit
