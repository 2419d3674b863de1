// SPDX-License-Identifier: Apache-2.0
// Mail that waits for its receiver outside of a mailbox: what is stashed, what came before a birth.
#pragma once

#include "sennit/sched/mail.hpp"

#include <cstddef>

namespace sennit::detail {

// Mail in order. Its end returns what is left to nobody.
class mail_list {
public:
    mail_list() = default;
    ~mail_list();
    mail_list(const mail_list&) = delete;
    mail_list& operator=(const mail_list&) = delete;
    void push_back(sched::mail& one) noexcept;
    sched::mail* pop_front() noexcept;
    void return_all(std::uint32_t slot) noexcept; // all of it was for who has ended there
    void put_before(mail_list& more) noexcept;    // `more` comes first here, and is empty then
    std::size_t size() const noexcept { return size_; }

private:
    sched::mail* first_ = nullptr;
    sched::mail* last_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace sennit::detail
