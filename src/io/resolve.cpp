// SPDX-License-Identifier: Apache-2.0
#include "sennit/io/resolve.hpp"

#include "io/access.hpp"
#include "io/runtime/io_lookups.hpp"
#include "sennit/promise.hpp"
#include "sennit/task.hpp"

#include <charconv>
#include <memory>
#include <optional>
#include <utility>

namespace sennit::io {

// Not without a name: the frame of a coroutine with linkage has an object of these types.
namespace detail {

// The lookup of a caller that waits for a future.
class lookup final : public sched::io_lookup {
public:
    using io_lookup::io_lookup;
    future<sys::lookup_result> result() { return done_.get_future(); }

private:
    void finish(sys::lookup_result&& found) noexcept override { done_.set_value(std::move(found)); }
    promise<sys::lookup_result> done_;
};

// Gives the lookup up if the caller leaves before the result has come.
class begun_lookup {
public:
    begun_lookup(std::string host, std::string service, const resolve_options& how)
        : lookup_(std::make_shared<lookup>(std::move(host), std::move(service),
                                           static_cast<sys::address_family>(how.family),
                                           how.passive)),
          result(lookup_->result()) {
        sched::io_lookup::begin(lookup_);
    }
    ~begun_lookup() { lookup_->abandon(); }
    begun_lookup(const begun_lookup&) = delete;

private:
    std::shared_ptr<lookup> lookup_;

public:
    future<sys::lookup_result> result;
};

} // namespace detail

using detail::begun_lookup;

namespace {

std::error_code code_of(const sys::lookup_result& of) noexcept {
    switch (of.error) {
    case sys::lookup_error::none:
        return {};
    case sys::lookup_error::host_not_found:
        return errc::host_not_found;
    case sys::lookup_error::try_again:
        return errc::resolve_again;
    case sys::lookup_error::service_not_found:
        return errc::service_not_found;
    case sys::lookup_error::failed:
        return errc::resolve_failed;
    case sys::lookup_error::system:
        return {of.system_error, std::generic_category()};
    }
    return {};
}

// The endpoint of a host and a service that are numbers.
std::optional<endpoint> numeric(const std::string& host, const std::string& service,
                                const resolve_options& how) {
    const bool v6 = host.find(':') != std::string::npos;
    if (host.empty() || (how.family == address_family::ipv4 && v6) ||
        (how.family == address_family::ipv6 && !v6))
        return {};
    return endpoint::parse(v6 ? '[' + host + "]:" + service : host + ':' + service);
}

std::vector<endpoint> endpoints_of(const sys::lookup_result& from) {
    std::vector<endpoint> made;
    made.reserve(from.found.size());
    for (const sys::socket_address& one : from.found)
        made.push_back(detail::endpoint_access::from(one));
    return made;
}

void check(const std::error_code& failed, const std::string& host, const std::string& service) {
    if (failed) throw error(failed, "resolve", '\'' + host + "' (service '" + service + "')");
}

} // namespace

std::vector<endpoint> resolve(const std::string& host, const std::string& service,
                              const resolve_options& how, std::error_code& failed) {
    failed.clear();
    if (const auto known = numeric(host, service, how)) return {*known};
    try {
        begun_lookup one(host, service, how);
        const sys::lookup_result found = one.result.get();
        failed = code_of(found);
        return endpoints_of(found);
    } catch (const std::system_error& refused) { // A thread.
        failed = refused.code();
        return {};
    }
}

std::vector<endpoint> resolve(const std::string& host, const std::string& service,
                              const resolve_options& how) {
    std::error_code failed;
    std::vector<endpoint> found = resolve(host, service, how, failed);
    check(failed, host, service);
    return found;
}

task<std::vector<endpoint>> async_resolve(std::string host, std::string service,
                                          resolve_options how) {
    if (const auto known = numeric(host, service, how)) co_return std::vector{*known};
    std::error_code failed;
    std::optional<begun_lookup> one;
    try {
        one.emplace(host, service, how);
    } catch (const std::system_error& refused) {
        failed = refused.code();
    }
    check(failed, host, service);
    const sys::lookup_result found = co_await std::move(one->result);
    check(code_of(found), host, service);
    co_return endpoints_of(found);
}

} // namespace sennit::io
