// SPDX-License-Identifier: Apache-2.0
// Savina's chameneos with Theron.
#pragma once

#include "actors/savina.hpp"
#include "with_theron.hpp"

namespace lab {
namespace theron {

class mall : public Theron::Actor {
public:
    mall(Theron::Framework& framework, std::int64_t meetings) : Actor(framework), left_(meetings) {
        RegisterHandler(this, &mall::enter);
    }

private:
    void enter(const meeting& who, const Theron::Address) {
        if (left_ == 0) {
            TailSend(result_wanted{}, who.with);
        } else if (!taken_) {
            waiting_ = who.with;
            taken_ = true;
        } else {
            taken_ = false;
            --left_;
            TailSend(who, waiting_);
        }
    }

    std::int64_t left_;
    Theron::Address waiting_;
    bool taken_ = false;
};

class creature : public Theron::Actor {
public:
    creature(Theron::Framework& framework, std::int32_t colour, const Theron::Address& where,
             theron_finish* whole)
        : Actor(framework), colour_(colour), where_(where), whole_(whole) {
        RegisterHandler(this, &creature::begin);
        RegisterHandler(this, &creature::tell);
        RegisterHandler(this, &creature::change);
        RegisterHandler(this, &creature::meet);
    }

private:
    void begin(const go_on&, const Theron::Address) {
        DeregisterHandler(this, &creature::begin);
        ask();
    }
    void meet(const meeting& other, const Theron::Address) {
        colour_ = colour_ == other.colour ? colour_ : 3 - colour_ - other.colour;
        ++meetings_;
        Send(changed{colour_}, other.with);
        ask();
    }
    void change(const changed& now, const Theron::Address) {
        colour_ = now.colour;
        ++meetings_;
        ask();
    }
    void tell(const result_wanted&, const Theron::Address) { whole_->one_more(meetings_); }
    void ask() { TailSend(meeting{colour_, GetAddress()}, where_); }

    std::int32_t colour_;
    std::int64_t meetings_ = 0;
    const Theron::Address where_;
    theron_finish* const whole_;
};

} // namespace theron

struct theron_savina_chameneos : savina::chameneos_size {
    using chameneos_size::chameneos_size;
    std::int64_t run_in(with_theron& runtime) const {
        theron_finish whole;
        whole.left = savina::creatures;
        auto where = std::make_unique<theron::mall>(runtime.framework, n);
        theron_actors all;
        for (std::int64_t i = 0; i < savina::creatures; ++i)
            all.push_back(std::make_unique<theron::creature>(
                runtime.framework, static_cast<std::int32_t>(i % 3), where->GetAddress(), &whole));
        for (const auto& one : all) runtime.send(theron::go_on{}, *one);
        all.push_back(std::move(where));
        whole.wait();
        end(all);
        return whole.answer;
    }
};

} // namespace lab
