// SPDX-License-Identifier: Apache-2.0
// A doubly linked list of nodes that carry their own links: no allocation, constant time everywhere.
//
// Not thread-safe; whoever owns it guards it. A node is in at most one list at a time.
#pragma once

#include <cstddef>

namespace sennit::base {

struct list_node {
    list_node* previous = nullptr;
    list_node* next = nullptr;
};

// `T` derives from list_node.
template <class T>
class intrusive_queue {
public:
    bool empty() const noexcept { return first_ == nullptr; }

    void push_back(T& item) noexcept {
        list_node& node = item;
        node.previous = last_;
        node.next = nullptr;
        (last_ ? last_->next : first_) = &node;
        last_ = &node;
    }

    void push_front(T& item) noexcept {
        list_node& node = item;
        node.previous = nullptr;
        node.next = first_;
        (first_ ? first_->previous : last_) = &node;
        first_ = &node;
    }

    // Puts all of `other` behind what is here; `other` is empty then.
    void append(intrusive_queue& other) noexcept {
        if (!other.first_) return;
        other.first_->previous = last_;
        (last_ ? last_->next : first_) = other.first_;
        last_ = other.last_;
        other.first_ = other.last_ = nullptr;
    }

    T* pop_front() noexcept { return first_ ? &take(*first_) : nullptr; }
    T* pop_back() noexcept { return last_ ? &take(*last_) : nullptr; }
    void remove(T& item) noexcept { take(item); }

    T* front() const noexcept { return static_cast<T*>(first_); }
    T* back() const noexcept { return static_cast<T*>(last_); }
    static T* after(T& item) noexcept { return static_cast<T*>(static_cast<list_node&>(item).next); }

private:
    T& take(list_node& node) noexcept {
        (node.previous ? node.previous->next : first_) = node.next;
        (node.next ? node.next->previous : last_) = node.previous;
        node.previous = node.next = nullptr;
        return static_cast<T&>(node);
    }

    list_node* first_ = nullptr;
    list_node* last_ = nullptr;
};

} // namespace sennit::base
