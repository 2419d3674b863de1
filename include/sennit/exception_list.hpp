// SPDX-License-Identifier: Apache-2.0
// exception_list: the exceptions of several tasks. wait_first_success and `race` throw it when all
// attempts have failed; its elements are then in the order of the attempts. A `nursery` with
// collect_errors throws it when children have failed; its elements are then in the order of the
// failures.
#pragma once

#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace sennit {

class exception_list : public std::exception {
public:
    using iterator = std::vector<std::exception_ptr>::const_iterator;

    exception_list() = default;
    explicit exception_list(std::vector<std::exception_ptr> errors) noexcept
        : errors_(std::move(errors)) {}

    const char* what() const noexcept override {
        return "sennit: [SNT-227] tasks failed; the exception_list holds the exception of each";
    }

    std::size_t size() const noexcept { return errors_.size(); }
    const std::exception_ptr& operator[](std::size_t i) const noexcept { return errors_[i]; }
    iterator begin() const noexcept { return errors_.begin(); }
    iterator end() const noexcept { return errors_.end(); }

private:
    std::vector<std::exception_ptr> errors_;
};

} // namespace sennit
