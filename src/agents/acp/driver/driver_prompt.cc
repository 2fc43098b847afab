// A prompt at the agent: what is sent, what the agent reports and asks meanwhile, and the outcome.
#include "acp/driver/driver.h"
#include "acp/driver/prompt.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "json/json.h"

#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr Duration flush_every{2'000};
constexpr Duration second{1'000};
constexpr std::uint32_t updates_per_second_max = 1'000;
constexpr std::size_t title_max = 200;

// Returns those names of the agent's tool that a gate can use.
std::vector<std::string> names_of(Question const& question) {
    std::vector<std::string> out;
    for (std::string const& name : question.names) {
        std::string const word = lower_case(name);
        bool const one_word =
            !word.empty() && word.size() <= 64 && word.find_first_of(" \n\t") == std::string::npos;
        if (one_word) out.push_back("acp:" + word);
    }
    return out;
}

// Completes a request that shows too little with what updates of its tool call reported. That may
// change until the call starts, so the question stays vague.
Json with_input(Question const& question, Json const& known) {
    json::Writer out;
    out.begin_object().member("kind", question.kind).member("title", question.title);
    return out.member("input", known).end_object().json();
}

// Finds out from the replay of the agent's past and from the journal how far the prompt was
// delivered. `marker`: the prompt's marker, without the attempt.
Delivery delivery_of(Replay const& replay, AgentContext const& context, std::string const& marker,
                     std::uint32_t attempt) {
    bool const found = replay.is_whole() && replay.holds(marker, attempt);
    bool const missed = replay.is_whole() && !found;
    if (context.again && found)
        return replay.holds(marker, attempt, 2) ? Delivery::notified : Delivery::remembered;
    if (context.again && context.turn.prompt_received) return Delivery::received;
    bool const possible = (context.again && !missed) || !context.turn.permissions.empty();
    return possible ? Delivery::possible : Delivery::none;
}

}  // namespace

void Driver::send_prompt() {
    prompt_->sent = true;
    port::ModelRequest const& request = prompt_->request;
    AskModel const& ask = request.ask;
    AgentContext const& context = *request.external;
    std::string const marker = marker_of(id_, ask.turn, ask.step);
    PromptTerms terms{.delivery = delivery_of(replay_, context, marker, ask.attempt),
                      .images = can_.images,
                      .past_bytes = settings_.past_bytes};
    terms.with_past = std::exchange(past_, Past::known) == Past::unnotified;
    terms.past_by_tool = !servers_.empty();
    replay_.clear();
    dialect_->prompt(acp_session_,
                     prompt_blocks(request, terms, marker + std::to_string(ask.attempt)), ask.trace,
                     [this](Dialect::Answer<TurnEnd> const& end) { on_answer(end); });
}

void Driver::on_answer(Dialect::Answer<TurnEnd> const& end) {
    using enum ExchangeEvent::Kind;
    if (end) return on_event(ExchangeEvent{.kind = answered}, {.end = *end});
    Refusal const& refusal = end.error();
    if (refusal.why == Refusal::Why::gone) return;  // on_exit() follows
    Failure failure = failure_of(refusal);
    bool const sent = exchange_.state == PromptExchange::State::sent;
    if (sent && refusal.why == Refusal::Why::unknown) on_event(SessionEvent::lost);
    on_event(ExchangeEvent{.kind = failed}, {.failure = std::move(failure)});
}

void Driver::report_reply(TurnEnd const& end) {
    AskModel const& ask = prompt_->request.ask;
    AgentReply reply;
    reply.turn = ask.turn;
    reply.step = ask.step;
    reply.attempt = ask.attempt;
    flush_delta();
    auto outputs = coalescer_.flush();
    if (!outputs.empty() && outputs.back().kind == AgentOutputKind::message) {
        reply.last = std::move(outputs.back());
        outputs.pop_back();
    }
    keep(std::move(outputs));
    reply.updates = kept_;
    reply.finish = end.finish;
    reply.usage = end.usage;
    reply.spent = spent_;
    last_ = std::exchange(prompt_, std::nullopt);
    last_->request.view = {};
    last_->done(std::move(reply));
}

void Driver::retire_prompt() {
    last_ = std::exchange(prompt_, std::nullopt);
    last_->request.view = {};
    keep(coalescer_.flush());
}

void Driver::on_question(Question question) {
    using Kind = ExchangeEvent::Kind;
    ExchangeEvent const event{.kind = lease_.is_set() ? Kind::screen_question : Kind::question,
                              .question = question.number};
    on_event(event, {.question = std::move(question)});
}

void Driver::ask_person(Question question, std::uint32_t number) {
    keep(coalescer_.flush());
    if (!prompt_) return;  // keep() has cancelled the prompt, and with it the question
    coalescer_.end_message();
    coalescer_.complete(question);
    Json const known = question.vague ? coalescer_.input_of(question.call) : Json();
    if (!known.is_null()) question.input = with_input(question, known);
    AskModel const& step = prompt_->request.ask;
    AgentAsk out{step.turn, step.step, step.attempt, kept_, {}, {}, names_of(question)};
    out.own = std::move(question.own);
    out.spec.shown = shown_by(question);
    out.spec.model_id = std::move(question.call);
    out.spec.tool = "acp:" + question.kind;
    out.spec.input = std::move(question.input);
    out.spec.input_digest = sha256(json::canonical(out.spec.input));
    out.spec.ask = number;
    out.spec.ask_attempt = step.attempt;
    out.terms.reason = PauseReason::approval;
    out.terms.message = std::move(question.title);
    if (out.terms.message.empty()) out.terms.message = "The agent asks for " + out.spec.tool;
    prompt_->done(std::move(out));
}

// A person approves what this program asks for, in this folder and sandbox. Earlier updates of the
// tool call supply what the request leaves out.
std::optional<Sha256> Driver::shown_by(Question const& question) const {
    auto const known = coalescer_.reported_of(question.call);
    if (question.vague || question.input.is_null() || question.shown.is_null() || !known)
        return std::nullopt;
    json::View const request(question.shown);
    json::Writer out;
    out.begin_object().member("request", question.shown).key("known").begin_object();
    json::View(*known).members([&](std::string_view name, json::View value) {
        if (!request[name].exists()) out.member(name, value.copy());
    });
    out.end_object().member("program", program_).member("started", started_);
    out.member("folder", cwd_);
    return sha256(json::canonical(out.end_object().json()));
}

void Driver::on_update(Update update) {
    if (auto* const change = std::get_if<ModeChange>(&update)) {
        mode_ = std::move(change->mode);  // chosen by the agent, or by a person at its screen
        if (session_.state == ProcessSession::State::ready) listener_.on_mode(mode_);
        return;
    }
    if (auto* const spent = std::get_if<Spent>(&update)) {
        spent_ = std::move(spent->cost);
        return;
    }
    if (replay_.is_recording()) {
        if (auto const* const user = std::get_if<UserText>(&update)) replay_.add(user->text);
        return;
    }
    ++activity_;
    bool const brief = count_update();
    auto added = coalescer_.add(std::move(update), brief);
    if (added.delta) show(*std::move(added.delta), brief);
    keep(std::move(added.outputs));
    if (!added.title.empty() && prompt_ && !std::exchange(prompt_->request.external->titled, true))
        prompt_->done(Change{std::string(cut_utf8(added.title, title_max)), {}, {}, {}, true});
    if (coalescer_.has_more() && !flush_.is_set())
        flush_.set(flush_every, [this] { keep(coalescer_.flush()); });
}

// Returns whether there are too many updates in this second.
bool Driver::count_update() {
    if (!second_.is_set()) {
        updates_ = 0;
        second_.set(second, [this] { flush_delta(); });
    }
    return ++updates_ > updates_per_second_max;
}

// Shows updates less often when there are too many, and loses none.
void Driver::show(port::Delta delta, bool brief) {
    bool const fits =
        pending_delta_ && pending_delta_->kind == delta.kind &&
        pending_delta_->text.size() + delta.text.size() <= UpdateCoalescer::piece_bytes_max;
    if (fits) {
        pending_delta_->text += delta.text;
    } else {
        flush_delta();
        pending_delta_ = std::move(delta);
    }
    if (!brief) flush_delta();
}

void Driver::flush_delta() {
    auto pending = std::exchange(pending_delta_, std::nullopt);
    if (pending && prompt_) prompt_->delta(*std::move(pending));
}

// An update that arrives outside a prompt counts as unprompted.
void Driver::keep(std::vector<AgentOutput> outputs) {
    using enum PromptExchange::State;
    keep(std::move(outputs), exchange_.state == idle || exchange_.state == waiting);
}

void Driver::keep(std::vector<AgentOutput> outputs, bool by_itself) {
    if (!outputs.empty()) flush_delta();
    bool const waits = exchange_.state == PromptExchange::State::waiting &&
                       session_.state != ProcessSession::State::gone;
    for (AgentOutput& one : outputs) {
        if (prompt_ && !waits) {
            AskModel const& ask = prompt_->request.ask;
            prompt_->done(AgentReport{ask.turn, ask.step, ask.attempt, ++kept_, std::move(one)});
        } else if (last_) {
            keep_late(std::move(one), by_itself);
        }
    }
}

// Unprompted output may answer what a person typed at the agent's screen, so what was typed is
// reported first.
void Driver::keep_late(AgentOutput output, bool by_itself) {
    if (session_.state == ProcessSession::State::gone)
        return report_late(std::move(output), by_itself);
    bool const has_screen = settings_.http && port_ != 0;
    if (has_screen && (by_itself || lease_.is_set())) {
        screen_.add(std::move(output), by_itself);
    } else {
        screen_.add_plain(std::move(output), by_itself);
    }
}

void Driver::report_late(AgentOutput output, bool by_itself) {
    AskModel const& ask = last_->request.ask;
    last_->done(AgentReport{ask.turn, ask.step, ask.attempt, 0, std::move(output), by_itself});
}

void Driver::on_typed(AgentTyped typed) {
    ++activity_;
    if (!prompt_) coalescer_.end_message();
    (prompt_ ? prompt_ : last_)->done(std::move(typed));
}

}  // namespace dormouse::acp
