// SPDX-License-Identifier: Apache-2.0
#include "sennit/io/handle.hpp"

#include "io/access.hpp"

namespace sennit::io {

handle::~handle() {
    if (record_) record_->release();
}

handle& handle::operator=(handle&& from) noexcept {
    if (this != &from) {
        if (record_) record_->release();
        record_ = std::exchange(from.record_, nullptr);
    }
    return *this;
}

bool handle::is_open() const noexcept {
    return record_ && record_->is_open();
}
int handle::native_handle() const noexcept {
    return is_open() ? record_->descriptor() : -1;
}
void handle::close() noexcept {
    if (record_) record_->close();
}
void handle::cancel() noexcept {
    if (record_) record_->cancel();
}
int handle::release() noexcept {
    return is_open() ? record_->give_up_descriptor() : -1;
}
void handle::set_limit(std::int64_t limit_ns) noexcept {
    if (record_) record_->set_limit_ns(limit_ns);
}

} // namespace sennit::io
