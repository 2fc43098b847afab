#include "acp/driver/prompt_exchange.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

namespace {

using Exchange = PromptExchange::State;
using Act = ExchangeAction::Kind;
using Actions = std::vector<ExchangeAction>;

ExchangeAction answer_to(std::uint64_t question, Decision decision = Decision::cancelled) {
    return {.kind = Act::answer, .question = question, .decision = decision};
}

// Moves to `to`: cancels the undecided questions, then performs `kinds`.
ExchangeStep over(PromptExchange from, Exchange to, std::initializer_list<Act> kinds) {
    Actions actions;
    for (PromptExchange::Open const& open : std::exchange(from.open, {}))
        actions.push_back(answer_to(open.question));
    for (Act const kind : kinds) actions.push_back({.kind = kind});
    from.state = to;
    return {std::move(from), std::move(actions)};
}

ExchangeStep leave_screen(PromptExchange from) {
    Actions actions;
    for (std::uint64_t const question : std::exchange(from.screen, {}))
        actions.push_back(answer_to(question));
    return {std::move(from), std::move(actions)};
}

ExchangeStep begin(PromptExchange from) {
    CHECK(from.is_free());
    from.state = Exchange::waiting;
    from.asked = 0;
    return leave_screen(std::move(from));
}

ExchangeStep answered(PromptExchange from, Act report) {
    switch (from.state) {
        case Exchange::sent:
            return over(std::move(from), Exchange::settling, {Act::settle, report});
        case Exchange::cancelling:
            return over(std::move(from), Exchange::settling,
                        {Act::settle_long, Act::forget_updates, Act::report_free});
        default: return {std::move(from)};
    }
}

ExchangeStep failed(PromptExchange from) {
    if (from.state == Exchange::waiting)  // the process ends
        return over(std::move(from), Exchange::idle, {Act::report_failure});
    return answered(std::move(from), Act::report_failure);
}

ExchangeStep cancel(PromptExchange from) {
    if (from.state == Exchange::waiting)
        return over(std::move(from), Exchange::settling, {Act::retire_prompt, Act::settle});
    if (from.state != Exchange::sent) return {std::move(from)};
    ExchangeStep out = over(std::move(from), Exchange::cancelling, {Act::cancel_prompt});
    out.actions.insert(out.actions.begin(), {.kind = Act::retire_prompt});
    return out;
}

// The agent is gone, so no question can be answered.
ExchangeStep exited(PromptExchange from) {
    bool const prompted = from.state == Exchange::waiting || from.state == Exchange::sent;
    from.state = Exchange::idle;
    from.open.clear();
    from.screen.clear();
    if (prompted) return {std::move(from), {{.kind = Act::report_failure}}};
    return {std::move(from)};
}

ExchangeStep ask(PromptExchange from, std::uint64_t question, bool at_screen) {
    bool const to_person =
        from.state == Exchange::sent && from.open.size() < PromptExchange::open_max;
    if (to_person) {
        std::uint32_t const number = ++from.asked;
        from.open.push_back({number, question});
        return {std::move(from),
                {{.kind = Act::ask_person, .question = question, .number = number}}};
    }
    if (at_screen && from.is_free() && from.screen.size() < PromptExchange::open_max) {
        from.screen.push_back(question);
        return {std::move(from)};
    }
    return {std::move(from), {answer_to(question)}};
}

ExchangeStep decide(PromptExchange from, ExchangeEvent const& event) {
    auto const found = std::ranges::find(from.open, event.number, &PromptExchange::Open::number);
    if (found == from.open.end()) return {std::move(from)};
    std::uint64_t const question = found->question;
    from.open.erase(found);
    return {std::move(from), {answer_to(question, event.decision)}};
}

}  // namespace

ExchangeStep step(PromptExchange from, ExchangeEvent const& event) {
    using enum ExchangeEvent::Kind;
    switch (event.kind) {
        case begin: return acp::begin(std::move(from));
        case send:
            if (from.state != Exchange::waiting) break;
            return over(std::move(from), Exchange::sent, {Act::send_prompt});
        case answered: return acp::answered(std::move(from), Act::report_reply);
        case failed: return acp::failed(std::move(from));
        case cancel: return acp::cancel(std::move(from));
        case cancel_limit:
            if (from.state != Exchange::cancelling) break;
            return over(std::move(from), Exchange::cancelling, {Act::end_process});
        case settled:
            if (from.state != Exchange::settling) break;
            return over(std::move(from), Exchange::idle, {Act::finish_message});
        case exited: return acp::exited(std::move(from));
        case question: return ask(std::move(from), event.question, false);
        case screen_question: return ask(std::move(from), event.question, true);
        case decide: return acp::decide(std::move(from), event);
        case leave_screen: return acp::leave_screen(std::move(from));
    }
    return {std::move(from)};
}

}  // namespace dormouse::acp
