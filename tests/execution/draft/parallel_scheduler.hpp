// SPDX-License-Identifier: Apache-2.0
// The parallel scheduler of the C++26 draft: the interface of its backend, and a front end for
// schedule. The tests call the backend's bulk functions themselves.
#pragma once

#include "algorithms.hpp"

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace draft::execution {

template <class T>
inline constexpr char type_number = 0;

namespace system_context_replaceability {

struct receiver_proxy {
    virtual ~receiver_proxy() = default;
    virtual void set_value() noexcept = 0;
    virtual void set_error(std::exception_ptr) noexcept = 0;
    virtual void set_stopped() noexcept = 0;
    template <class P, class Query>
    std::optional<P> try_query(Query) noexcept {
        std::optional<P> answer;
        (void)query_env(&type_number<Query>, &type_number<P>, &answer);
        return answer;
    }

protected:
    virtual bool query_env(const void* query, const void* type, void* answer) noexcept = 0;
};
struct bulk_item_receiver_proxy : receiver_proxy {
    virtual void execute(std::size_t first, std::size_t last) noexcept = 0;
};
struct parallel_scheduler_backend {
    virtual ~parallel_scheduler_backend() = default;
    virtual void schedule(receiver_proxy&, std::span<std::byte>) noexcept = 0;
    virtual void schedule_bulk_chunked(std::size_t, bulk_item_receiver_proxy&,
                                       std::span<std::byte>) noexcept = 0;
    virtual void schedule_bulk_unchunked(std::size_t, bulk_item_receiver_proxy&,
                                         std::span<std::byte>) noexcept = 0;
};

// The tests link a definition: sennit::parallel_scheduler.
std::shared_ptr<parallel_scheduler_backend> query_parallel_scheduler_backend();

} // namespace system_context_replaceability

// A proxy of a receiver R.
template <class R, class Base>
class proxy_of : public Base {
public:
    explicit proxy_of(R&& to) : to_(std::move(to)) {}
    void set_value() noexcept override { execution::set_value(std::move(to_)); }
    void set_error(std::exception_ptr error) noexcept override {
        execution::set_error(std::move(to_), std::move(error));
    }
    void set_stopped() noexcept override { execution::set_stopped(std::move(to_)); }

private:
    bool query_env(const void* query, const void* type, void* answer) noexcept override {
        using token = stop_token_of_t<env_of_t<R>>;
        if (query != &type_number<get_stop_token_t> || type != &type_number<token>) return false;
        static_cast<std::optional<token>*>(answer)->emplace(get_stop_token(get_env(to_)));
        return true;
    }
    R to_;
};

// The bytes that an operation state lends to the backend.
inline constexpr std::size_t lent_bytes = 72;

class parallel_scheduler {
public:
    using scheduler_concept = scheduler_t;

    struct attributes {
        std::shared_ptr<system_context_replaceability::parallel_scheduler_backend> backend;
        parallel_scheduler query(get_completion_scheduler_t<set_value_t>) const noexcept {
            return parallel_scheduler(backend);
        }
    };
    template <class R>
    struct operation {
        using operation_state_concept = operation_state_t;
        operation(attributes on, R&& to) : on_(std::move(on)), proxy_(std::move(to)) {}
        operation(const operation&) = delete;
        void start() & noexcept { on_.backend->schedule(proxy_, storage_); }

    private:
        attributes on_;
        proxy_of<R, system_context_replaceability::receiver_proxy> proxy_;
        alignas(8) std::array<std::byte, lent_bytes> storage_;
    };
    struct sender {
        using sender_concept = sender_t;
        attributes on;
        template <class, class...>
        static consteval auto get_completion_signatures() {
            return completion_signatures<set_value_t(), set_error_t(std::exception_ptr),
                                         set_stopped_t()>();
        }
        template <receiver R>
        operation<R> connect(R to) const {
            return {on, std::move(to)};
        }
        attributes get_env() const noexcept { return on; }
    };

    sender schedule() const noexcept { return {{backend_}}; }
    bool operator==(const parallel_scheduler&) const = default;

private:
    friend parallel_scheduler get_parallel_scheduler();
    explicit parallel_scheduler(
        std::shared_ptr<system_context_replaceability::parallel_scheduler_backend> backend) noexcept
        : backend_(std::move(backend)) {}
    std::shared_ptr<system_context_replaceability::parallel_scheduler_backend> backend_;
};

inline parallel_scheduler get_parallel_scheduler() {
    return parallel_scheduler(system_context_replaceability::query_parallel_scheduler_backend());
}

} // namespace draft::execution
