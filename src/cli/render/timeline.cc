#include "cli/render/timeline.h"

#include "base/enum_words.h"
#include "cli/render/money.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace dormouse::cli {
namespace {

using Bar = Timeline::Bar;
using Wake = Timeline::Wake;
using WaitsFor = Timeline::WaitsFor;

template <class T> T* open_one(std::vector<T>& list) {
    return list.empty() || list.back().end ? nullptr : &list.back();
}

template <class T> void close(std::vector<T>& list, std::int64_t at) {
    if (auto* const one = open_one(list)) one->end = at;
}

void end_bar(std::vector<Bar>& bars, std::int64_t at, Timeline::End how) {
    auto* const bar = open_one(bars);
    if (!bar) return;
    bar->end = at;
    bar->how = how;
}

WaitsFor waits_for(std::string_view reason) {
    if (reason == "handoff") return WaitsFor::timer;
    bool const person = reason == "approval" || reason == "user_input" || reason == "elicitation" ||
                        reason == "budget";
    return person ? WaitsFor::person : WaitsFor::job;
}

// "token:alice" and "webhook:ci" as names; the runtime has none.
std::string actor(std::string const& by) {
    if (by == "runtime") return {};
    auto const colon = by.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
    bool const has_kind = colon != std::string::npos && colon > 0 && by[colon] == ':';
    return has_kind ? by.substr(colon + 1) : by;
}

std::string or_else(std::string const& name, std::string_view other) {
    return name.empty() ? std::string(other) : name;
}

Wake submitted_wake(json::View data, std::int64_t at, WaitsFor kind) {
    auto const by = data["receipt"]["by"].string_or("");
    auto const wake = [&](std::string_view verb) { return Wake{at, actor(by), std::string(verb)}; };
    if (kind == WaitsFor::timer) return {at, "timer", "time is up"};
    if (by.starts_with("webhook")) return wake("webhook");
    if (auto const decision = data["decision"]; decision.kind() == json::Kind::object)
        return wake(decision["approved"].boolean_or(true) ? "approved" : "denied");
    if (data["error"].string()) return wake("failed");
    return wake(kind == WaitsFor::person ? "answered" : "result");
}

// Returns the cause that an event gives for the end of a sleep; empty: it cannot end one.
std::optional<Wake> wake_of(json::View data, std::string_view type, std::int64_t at,
                            WaitsFor kind) {
    auto const by = [&] { return actor(data["by"].string_or("")); };
    if (type == "submitted") return submitted_wake(data, at, kind);
    if (type == "expired") return Wake{at, "deadline", "passed"};
    if (type == "cancelled") return Wake{at, or_else(by(), "call"), "cancelled"};
    if (type == "input_received") return Wake{at, or_else(by(), "prompt"), "prompt"};
    if (type == "mail_received" || type == "mail_released")
        return Wake{at, data["fromAlias"].string_or(or_else(by(), "mail")), "mail"};
    if (type == "task_changed") return Wake{at, "task", data["status"].string_or("")};
    if (type == "tool_finished") return Wake{at, "tool", "finished"};
    return {};
}

void settle(Timeline::Call& call, std::int64_t at, std::string_view how) {
    close(call.bars, at);
    close(call.waits, at);
    if (!call.settled) call.settled = Timeline::Mark{at, std::string(how)};
}

void wait(Timeline::Call& call, json::View data, std::int64_t at, std::string_view label) {
    close(call.bars, at);
    close(call.waits, at);
    call.waits.push_back({.start = at,
                          .kind = waits_for(data["reason"].string_or("")),
                          .label = std::string(label)});
}

// An external agent asks for approval, a client for any outcome.
std::string_view asked_for(json::View data) {
    std::string const reason = data["reason"].string_or("");
    if (reason == "tool_result") return "its result";
    return reason == "user_input" ? "an answer" : "approval";
}

bool is_work(std::string_view type) {
    return type.starts_with("turn_") || type.starts_with("model_") || type.starts_with("agent_") ||
           type == "detached";
}

}  // namespace

void TimelineFold::add(json::View event) {
    auto const given = event["at"].integer_or(0);
    // The clock may step back; the order is that of the numbers.
    auto const at = std::max(given, last_);
    if (line_.start == 0) line_.start = given;
    auto const data = event["data"];
    auto const type = event["type"].string_or("");
    restart(data, at);
    if (is_work(type)) {
        work(event, data, type, at);
    } else {
        if (type == "input_received" && !open_one(line_.turns))
            line_.wakes.push_back(
                {at, or_else(actor(data["by"].string_or("")), "prompt"), "prompt"});
        if (data["callID"].string()) call_event(data, type, at);
        if (auto wake = wake_of(data, type, at, last_wait(data))) cause_ = std::move(wake);
    }
    activity(event, at);
    last_ = at;
}

Timeline TimelineFold::done(std::int64_t now) {
    bool const open = open_one(line_.turns) != nullptr;
    line_.end = std::max({last_, open ? now : last_, line_.start + 1});
    auto line = std::exchange(line_, {});
    *this = {};
    return line;
}

void TimelineFold::start(json::View start) {
    starts_.push_back({.epoch = start["epoch"].integer_or(0),
                       .started = start["startedAt"].integer_or(0),
                       .alive = start["aliveAt"].integer(),
                       .clean = start["clean"].boolean_or(false)});
}

TimelineFold::Start const* TimelineFold::start_of(std::int64_t epoch) const {
    auto const found = std::ranges::find(starts_, epoch, &Start::epoch);
    return found == starts_.end() ? nullptr : &*found;
}

// When the process of an epoch ended and the next one began.
Timeline::Crash TimelineFold::crash(std::int64_t before, std::int64_t epoch,
                                    std::int64_t until) const {
    auto const* const ended = start_of(before);
    auto const* const begun = start_of(epoch);
    auto const alive = ended ? ended->alive.value_or(last_) : last_;
    auto const at = std::min(std::max(alive, last_), until);
    auto const started = std::min(std::max(begun ? begun->started : until, at), until);
    return {.at = at, .started = started, .clean = ended && ended->clean};
}

// Another process continues the session; the work of the process before it is cut off.
void TimelineFold::restart(json::View data, std::int64_t at) {
    auto const epoch = data["epoch"].integer();
    if (!epoch) return;
    if (epoch_ && *epoch > *epoch_) {
        bool cut = false;
        auto const crash = this->crash(*epoch_, *epoch, at);
        auto const cut_off = [&](std::vector<Bar>& bars) {
            cut = cut || open_one(bars);
            end_bar(bars, crash.at, Timeline::End::cut);
        };
        cut_off(line_.model);
        for (auto& call : line_.calls) cut_off(call.bars);
        if (cut)
            line_.crashes.push_back(crash);
        else if (!line_.sleeps.empty())
            line_.sleeps.back().restarted = true;
    }
    epoch_ = std::max(*epoch, epoch_.value_or(*epoch));
}

TimelineFold::Call& TimelineFold::call_of(json::View data) {
    auto const id = data["callID"].string_or("?");
    auto const found = std::ranges::find(line_.calls, id, &Call::id);
    if (found != line_.calls.end()) return *found;
    return line_.calls.emplace_back(Call{.id = id, .tool = data["tool"].string_or(id)});
}

Timeline::WaitsFor TimelineFold::last_wait(json::View data) const {
    auto const found = std::ranges::find(line_.calls, data["callID"].string_or(""), &Call::id);
    bool const known = found != line_.calls.end() && !found->waits.empty();
    return known ? found->waits.back().kind : WaitsFor::job;
}

void TimelineFold::work(json::View event, json::View data, std::string_view type, std::int64_t at) {
    if (type == "turn_started") {
        auto const id = event["turnID"].string_or("");
        std::int64_t number = 0;
        auto const cut = id.rfind('_');
        auto const digits = std::string_view(id).substr(cut == std::string::npos ? 0 : cut + 1);
        auto const* const last = digits.data() + digits.size();
        auto const [end, error] = std::from_chars(digits.data(), last, number);
        bool const good = error == std::errc() && end == last;
        if (!good) number = static_cast<std::int64_t>(line_.turns.size()) + 1;
        line_.turns.push_back({.number = number, .start = at});
    } else if (type == "turn_ended") {
        if (auto* const turn = open_one(line_.turns)) {
            turn->end = at;
            turn->failed = data["error"].kind() == json::Kind::object;
        }
        close(line_.model, at);
    } else {
        model_event(data, type, at);
    }
}

void TimelineFold::model_event(json::View data, std::string_view type, std::int64_t at) {
    if (type == "model_requested" || type == "agent_prompted") {
        line_.model.push_back({.start = at, .attempt = data["attempt"].integer_or(1)});
    } else if (type == "model_replied" || type == "agent_replied") {
        close(line_.model, at);
        data["calls"].elements([&](json::View call) { (void)call_of(call); });
        auto const usage = data["usage"];
        tokens_ += usage["inputTokens"].integer_or(0) + usage["outputTokens"].integer_or(0);
        for (auto const& [currency, micros] : read_cost(usage["cost"])) {
            auto& total = cost_[currency];
            if (__builtin_add_overflow(total, micros, &total)) total = INT64_MAX;
        }
        line_.use.push_back({.at = at, .tokens = tokens_, .cost = cost_});
    } else if (type == "model_failed" || type == "detached") {
        end_bar(line_.model, at, Timeline::End::failed);
    } else if (type == "agent_asked") {
        bool const nested = data["call"].kind() == json::Kind::object;
        wait(call_of(nested ? data["call"] : data), data, at, asked_for(data));
    }
}

void TimelineFold::call_event(json::View data, std::string_view type, std::int64_t at) {
    auto& call = call_of(data);
    if (type == "tool_started") {
        close(call.waits, at);
        call.bars.push_back({.start = at, .attempt = data["attempt"].integer_or(1)});
    } else if (type == "tool_finished") {
        settle(call, at, data["error"].string() ? "failed" : "done");
    } else if (type == "tool_failed") {
        end_bar(call.bars, at, Timeline::End::failed);
    } else if (type == "call_paused") {
        bool const person = waits_for(data["reason"].string_or("")) == WaitsFor::person;
        wait(call, data, at, person ? "an answer" : "its result");
    } else if (type == "gate_asked") {
        wait(call, data, at, "approval");
    } else if (type == "in_doubt") {
        end_bar(call.bars, at, Timeline::End::cut);
        call.waits.push_back({.start = at, .kind = WaitsFor::person, .label = "in doubt"});
    } else if (type == "gate_decided") {
        close(call.waits, at);
        if (data["verdict"].string_or("") == "deny") settle(call, at, "denied");
    } else {
        outcome(call, data, type, at);
    }
}

void TimelineFold::outcome(Call& call, json::View data, std::string_view type, std::int64_t at) {
    if (type == "submitted") {
        bool const doubt = !call.waits.empty() && call.waits.back().label == "in doubt";
        close(call.waits, at);
        auto const decision = data["decision"];
        if (decision.kind() != json::Kind::object)
            settle(call, at, data["error"].string() ? "failed" : "done");
        else if (!decision["approved"].boolean_or(true) && !doubt)
            settle(call, at, "denied");
    } else if (type == "expired" || type == "cancelled") {
        settle(call, at, type);
    } else if (type == "note") {
        call.notes.push_back({at, data["about"].string_or("note")});
    }
}

void TimelineFold::activity(json::View event, std::int64_t at) {
    auto const kind = event["activity"]["type"].string();
    if (!kind) return;
    auto* const sleep = open_one(line_.sleeps);
    bool const asleep = *kind == "waiting_async";
    if (asleep == (sleep != nullptr)) return;
    if (asleep) {
        line_.sleeps.push_back({.start = at});
    } else {
        sleep->end = at;
        sleep->wake = cause_;
        if (cause_ && cause_->verb != "prompt") line_.wakes.push_back(*cause_);
    }
    cause_.reset();
}

namespace {

void times(json::Writer& out, std::int64_t start, Timeline::OptionalTime end) {
    out.member("start", start).member("end", end);
}

void write(json::Writer& out, Bar const& bar) {
    times(out.begin_object(), bar.start, bar.end);
    out.member("attempt", bar.attempt).member("outcome", word_of(bar.how)).end_object();
}

void write(json::Writer& out, Timeline::Wait const& wait) {
    times(out.begin_object(), wait.start, wait.end);
    out.member("for", word_of(wait.kind)).end_object();
}

void write(json::Writer& out, Wake const& wake) {
    out.begin_object()
        .member("at", wake.at)
        .member("name", wake.name)
        .member("verb", wake.verb)
        .end_object();
}

void write(json::Writer& out, Timeline::Mark const& mark) {
    out.begin_object().member("at", mark.at).member("what", mark.text).end_object();
}

void write(json::Writer& out, Timeline::Turn const& turn) {
    times(out.begin_object().member("number", turn.number), turn.start, turn.end);
    out.member("failed", turn.failed).end_object();
}

void write(json::Writer& out, Timeline::Sleep const& sleep) {
    times(out.begin_object(), sleep.start, sleep.end);
    out.member("restarted", sleep.restarted).key("wake");
    if (sleep.wake)
        write(out, *sleep.wake);
    else
        out.null();
    out.end_object();
}

void write(json::Writer& out, Timeline::Crash const& crash) {
    out.begin_object().member("at", crash.at).member("started", crash.started);
    out.member("clean", crash.clean).end_object();
}

void write(json::Writer& out, Timeline::Use const& use) {
    out.begin_object().member("at", use.at).member("tokens", use.tokens).key("cost");
    if (use.cost.empty()) {
        out.null();
    } else {
        out.begin_object();
        for (auto const& [currency, micros] : use.cost) out.member(currency, micros);
        out.end_object();
    }
    out.end_object();
}

void write(json::Writer& out, Timeline::Call const& call);

template <class T>
void list(json::Writer& out, std::string_view name, std::vector<T> const& items) {
    out.key(name).begin_array();
    for (auto const& item : items) write(out, item);
    out.end_array();
}

void write(json::Writer& out, Timeline::Call const& call) {
    out.begin_object().member("callID", call.id).member("tool", call.tool);
    list(out, "attempts", call.bars);
    list(out, "waits", call.waits);
    out.key("settled");
    if (call.settled)
        write(out, *call.settled);
    else
        out.null();
    list(out, "notes", call.notes);
    out.end_object();
}

}  // namespace

Json timeline_json(Timeline const& line) {
    json::Writer out;
    out.begin_object().member("start", line.start).member("end", line.end);
    list(out, "turns", line.turns);
    list(out, "model", line.model);
    list(out, "calls", line.calls);
    list(out, "sleeps", line.sleeps);
    list(out, "wakes", line.wakes);
    list(out, "crashes", line.crashes);
    list(out, "use", line.use);
    return out.end_object().json();
}

}  // namespace dormouse::cli
