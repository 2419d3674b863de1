// SPDX-License-Identifier: Apache-2.0
// A stack of nodes that carry their own links: newest first, no allocation, two stores to push.
//
// Not thread-safe: the owner of the stack guards it. A node is in at most one list at a time.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"

namespace sennit::base {

// `T` derives from list_node, of which the stack uses only `next`.
template <class T>
class intrusive_stack {
public:
    bool empty() const noexcept { return first_ == nullptr; }

    void push_front(T& item) noexcept {
        list_node& node = item;
        node.next = first_;
        first_ = &node;
    }
    T* pop_front() noexcept {
        list_node* node = first_;
        if (node) first_ = node->next;
        return static_cast<T*>(node);
    }

private:
    list_node* first_ = nullptr;
};

} // namespace sennit::base
