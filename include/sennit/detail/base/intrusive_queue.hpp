// SPDX-License-Identifier: Apache-2.0
// A doubly linked list of nodes that carry their own links: no allocation, constant time
// everywhere.
//
// Not thread-safe: the owner of the list guards it. A node is in at most one list at a time.
#pragma once

#include <cstddef>

namespace sennit::base {

// The links of a node. Their values mean nothing while the node is in no list.
struct list_node {
    list_node* previous;
    list_node* next;
};

// A first-in, first-out list. `T` derives from list_node. The last node's `next` is null. The first
// node's `previous` means nothing, so that removing the first node does not touch the second.
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
        node.next = first_;
        (first_ ? first_->previous : last_) = &node;
        first_ = &node;
    }

    // Moves all nodes of `other` to the end of this list; `other` is empty afterwards.
    void append(intrusive_queue& other) noexcept {
        if (!other.first_) return;
        other.first_->previous = last_;
        (last_ ? last_->next : first_) = other.first_;
        last_ = other.last_;
        other.first_ = other.last_ = nullptr;
    }

    // A removed node keeps its old links, which mean nothing.
    T* pop_front() noexcept {
        list_node* node = first_;
        if (!node) return nullptr;
        first_ = node->next;
        if (!first_) last_ = nullptr;
        return static_cast<T*>(node);
    }
    T* pop_back() noexcept {
        list_node* node = last_;
        if (node) drop_last(*node);
        return static_cast<T*>(node);
    }
    void remove(T& item) noexcept {
        const list_node& node = item;
        if (&node == first_)
            (void)pop_front();
        else if (&node == last_)
            drop_last(node);
        else
            (node.previous->next = node.next)->previous = node.previous;
    }
    // Appends `item`, then removes and returns the first node. The list must not be empty, and it
    // never becomes empty in between.
    T& exchange_front(T& item) noexcept {
        list_node& node = item;
        list_node& first = *first_;
        // Read before the last node's `next` is written, because the first node may also be the
        // last.
        list_node* const second = first.next;
        node.previous = last_;
        node.next = nullptr;
        last_->next = &node;
        last_ = &node;
        first_ = second ? second : &node;
        return static_cast<T&>(first);
    }

    T* front() const noexcept { return static_cast<T*>(first_); }
    T* back() const noexcept { return static_cast<T*>(last_); }
    static T* after(T& item) noexcept {
        return static_cast<T*>(static_cast<list_node&>(item).next);
    }
    static const T* after(const T& item) noexcept {
        return static_cast<const T*>(static_cast<const list_node&>(item).next);
    }

private:
    void drop_last(const list_node& node) noexcept {
        if (&node == first_) {
            first_ = last_ = nullptr;
        } else {
            last_ = node.previous;
            last_->next = nullptr;
        }
    }

    list_node* first_ = nullptr;
    list_node* last_ = nullptr;
};

} // namespace sennit::base
