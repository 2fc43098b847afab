#include "webhook/outgoing.h"

#include "base/crypto/sha256.h"
#include "base/text/cut.h"
#include "base/text/iso_time.h"
#include "base/text/text.h"
#include "json/json.h"
#include "session/expiry.h"
#include "webhook/kinds/kinds.h"
#include "webhook/notification.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <span>

namespace dormouse::webhook {

using namespace dormouse::session;

namespace {

// Lower numbers belong to messages between sessions.
constexpr std::uint32_t first_number = 1'000;
constexpr std::size_t mark_length = 8;
constexpr std::size_t reason_shown = 200;
constexpr std::size_t tool_shown = 200;

bool has(std::vector<std::string> const& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

std::optional<Receipt> receipt_of(Event::Body const& body) {
    if (auto const* const e = std::get_if<Submitted>(&body)) return e->receipt;
    if (auto const* const e = std::get_if<Expired>(&body)) return e->receipt;
    auto const* const e = std::get_if<Cancelled>(&body);
    return e ? e->receipt : std::nullopt;
}

void write_receipt(json::Writer& out, Receipt const& receipt) {
    out.key("receipt").begin_object().member("status", text(receipt.status));
    out.member("digest", digest_text(receipt.digest)).member("at", to_ms(receipt.at)).end_object();
}

void write_result(json::Writer& out, Submission const& what) {
    out.key("result").begin_object();
    what.title.empty() ? out.member_null("title") : out.member("title", what.title);
    out.member("output", what.output).member("metadata", what.metadata).end_object();
}

void write_decision(json::Writer& out, Submission const& what) {
    out.key("decision").begin_object().member("approved", what.approved);
    out.member("reason", what.reason).member("arguments", what.arguments);
    out.member("content", what.content).end_object();
}

// `asked`: what the call waited for.
void write_outcome(json::Writer& out, Event::Body const& body, PauseReason asked) {
    if (auto const* const e = std::get_if<Expired>(&body))
        return (void)out.member("error", std::string(expiry_text(asked, e->reason)));
    auto const* const settled = std::get_if<Submitted>(&body);
    if (auto const* const e = std::get_if<Cancelled>(&body); e && !e->reason.empty())
        return (void)out.member("error", "cancelled: " + e->reason);
    if (!settled) return (void)out.member("error", "cancelled");
    switch (settled->what->kind) {
        case SubmissionKind::result: return write_result(out, settled->what);
        case SubmissionKind::decision: return write_decision(out, settled->what);
        default: out.member("error", settled->what->error);
    }
}

std::string outcome_body(Receipt const& receipt, Event::Body const& body, PauseReason asked) {
    json::Writer out;
    out.begin_object().member("pendingID", receipt.pending.text());
    write_outcome(out, body, asked);
    out.member("status", text(receipt.status));
    out.member("sessionID", receipt.pending.session.text());
    write_receipt(out, receipt);
    return out.end_object().take();
}

std::string event_body(State const& state, wire::Record const& record) {
    json::Writer out;
    out.begin_object().member("type", type_name(record.event.body));
    out.member("timestamp", iso_time(record.event.at));
    out.member_raw("data", wire::event_object(state.id, state.project, record));
    return out.end_object().take();
}

// Lists every session of the external agent that may belong to ours.
std::string agent_body(State const& state) {
    json::Writer out;
    out.begin_object().key("names").begin_array();
    if (!state.acp_session.empty()) out.value(state.acp_session);
    for (std::string const& left : state.acp_left) out.value(left);
    return out.end_array().member("cwd", state.cwd).end_object().take();
}

std::string agent_target(std::string const& agent, std::string const& node) {
    return "agent:" + agent + (node.empty() ? "" : "@" + node);
}

std::string who(Actor const& by) { return by.name.empty() ? std::string(text(by.type)) : by.name; }

// What a call waited for; a result if that is unknown. nullptr: its change is unknown.
PauseReason reason_of(PendingChange const* change) {
    PauseReason const unknown = PauseReason::tool_result;
    return change ? change->reason.value_or(unknown) : unknown;
}

// "Approved by bob", of the event that settled a call. `asked`: what the call waited for.
std::string outcome_of(Event::Body const& body, Receipt const& receipt, PauseReason asked) {
    auto const* const settled = std::get_if<Submitted>(&body);
    if (auto const* const e = std::get_if<Expired>(&body))
        return "Expired: " + std::string(expiry_text(asked, e->reason));
    // A question about a call in doubt ends with the call.
    if (receipt.kind == SubmissionKind::expiry) return "Expired: nobody answered in time";
    std::string word = "Answered";
    if (receipt.kind == SubmissionKind::cancel) word = "Cancelled";
    if (receipt.kind == SubmissionKind::error) word = "Failed";
    if (receipt.kind == SubmissionKind::decision && settled)
        word = settled->what->approved ? "Approved" : "Denied";
    std::string out = word + " by " + who(receipt.by) + " at " + utc_minute(receipt.at);
    if (settled && !settled->what->reason.empty())
        out += ": " + cut_with_mark(settled->what->reason, reason_shown);
    return out;
}

// Texts of agents, as a person must see them: no invisible characters, and not without end.
std::string shown(std::string_view text, std::size_t bytes) {
    return cut_with_mark(escape_for_terminal(text, true), bytes);
}

std::optional<PendingId> pending_of(Event::Body const& body) {
    if (auto const receipt = receipt_of(body)) return receipt->pending;
    if (auto const* const e = std::get_if<CallPaused>(&body)) return e->pending;
    if (auto const* const e = std::get_if<GateAsked>(&body)) return e->pending;
    if (auto const* const e = std::get_if<AgentAsked>(&body)) return e->pending;
    if (auto const* const e = std::get_if<BudgetReached>(&body)) return e->pending;
    if (auto const* const e = std::get_if<DeadlineNear>(&body)) return e->pending;
    if (auto const* const e = std::get_if<Reassigned>(&body)) return e->pending;
    if (auto const* const e = std::get_if<Reminded>(&body)) return e->pending;
    if (auto const* const e = std::get_if<CallInDoubt>(&body))
        return e->question.value_or(e->pending);
    return std::nullopt;
}

// The event's time and its random bytes are in it.
std::string mark_of(wire::Record const& record) {
    Sha256 const digest = sha256(record.data);
    return hex(std::span(digest).first(mark_length / 2));
}

class Maker {
public:
    Maker(Outgoing const& outgoing, State const& state, std::vector<PendingChange> const& changes)
        : outgoing_(outgoing), state_(state), changes_(changes) {}

    void add(wire::Record const& record) {
        record_ = &record;
        number_ = first_number;
        add_outcome();
        std::string_view const type = type_name(record.event.body);
        for (Hook const& hook : outgoing_.hooks) {
            bool const meant = hook.project.empty() || hook.project == state_.project;
            if (meant && has(hook.events, type))
                put(hook.url, {Letter::Kind::event, std::nullopt, {}, event_body(state_, record)});
        }
        for (Notice const& notice : outgoing_.notices)
            notice.kind == NotifyKind::web_push ? notify_devices(notice, type)
                                                : notify(notice, type);
        bool const kept = !state_.acp_session.empty() || !state_.acp_left.empty();
        if (outgoing_.programs && kept && std::get_if<SessionDeleted>(&record.event.body))
            put(agent_target(state_.agent, state_.node),
                {Letter::Kind::external_agent, std::nullopt, {}, agent_body(state_)});
    }
    [[nodiscard]] std::vector<port::OutboxRow> take() { return std::move(rows_); }

private:
    void add_outcome() {
        Event::Body const& body = record_->event.body;
        auto const receipt = receipt_of(body);
        PendingChange const* const change = receipt ? change_of(receipt->pending) : nullptr;
        if (!change || change->webhook_url.empty()) return;
        put(change->webhook_url, {Letter::Kind::call, receipt->pending, change->tool,
                                  outcome_body(*receipt, body, reason_of(change))});
    }
    [[nodiscard]] PendingChange const* change_of(PendingId const& pending) const {
        for (PendingChange const& change : changes_) {
            if (change.pending == pending && change.settled == record_->event.seq) return &change;
        }
        return nullptr;
    }
    // Each device is a receiver of its own.
    void notify_devices(Notice const& notice, std::string_view type) {
        if (!outgoing_.devices || (!has(notice.on, type) && !receipt_of(record_->event.body)))
            return;
        for (PushReceiver const& device : outgoing_.devices()) {
            if (!notice.to.empty() && !has(notice.to, device.person)) continue;
            Notice one = notice;
            one.target = std::string(push_target) + device.device;
            one.person = device.person;
            one.projects = device.projects;
            one.roles = device.roles;
            notify(one, type);
        }
    }
    void notify(Notice const& notice, std::string_view type) {
        bool const asks = has(notice.on, type);
        bool const ends = can_change(notice) && receipt_of(record_->event.body);
        if (!asks && !ends) return;
        auto it = notification();
        if (!it || !wants(notice, *it) || !concerns(notice)) return;
        if (asks) put_notice(notice, *it);
        if (!ends) return;
        // A second row changes the messages that were sent while the call waited.
        Event::Body const& body = record_->event.body;
        auto const receipt = receipt_of(body);
        PendingChange const* const change = change_of(receipt->pending);
        it->outcome = outcome_of(body, *receipt, reason_of(change));
        put_notice(notice, *it);
    }
    void put_notice(Notice const& notice, Notification const& it) {
        put(notice.target,
            {Letter::Kind::notice, PendingId::parse(it.pending), {}, write_notification(it)});
    }
    [[nodiscard]] static bool wants(Notice const& notice, Notification const& it) {
        using enum PauseReason;
        auto const wanted = notice.reasons.empty()
                                ? std::vector{approval, user_input, elicitation, budget}
                                : notice.reasons;
        return std::ranges::any_of(
            wanted, [&](PauseReason reason) { return session::text(reason) == it.reason; });
    }
    // Notifies a person only of calls they may answer.
    [[nodiscard]] bool concerns(Notice const& notice) const {
        if (notice.person.empty()) return true;
        if (!notice.projects.empty() && !has(notice.projects, state_.project)) return false;
        auto const pending = pending_of(record_->event.body);
        auto const call = pending ? state_.calls.find(pending->call) : state_.calls.end();
        if (call == state_.calls.end() || !call->second.pause) return true;
        auto const& asked = call->second.pause->terms.answer.from;
        return asked.empty() || std::ranges::any_of(asked, [&](std::string const& name) {
                   return name == notice.person || has(notice.roles, name);
               });
    }
    // Returns nullopt if the event is not about a pending call.
    [[nodiscard]] std::optional<Notification> notification() const {
        Event::Body const& body = record_->event.body;
        auto const pending = pending_of(body);
        if (!pending) return std::nullopt;
        PauseReason reason = PauseReason::tool_result;
        Notification out{.event = std::string(type_name(body)),
                         .reason = {},
                         .pending = pending->text(),
                         .session = pending->session.text()};
        // In a session without an agent, who asks instead.
        out.agent = state_.agent == no_agent ? who(state_.created_by) : state_.agent;
        if (outgoing_.page) out.url = outgoing_.page(*pending);
        if (PendingChange const* const change = change_of(*pending)) {
            out.tool = shown(change->tool, tool_shown);
            reason = change->reason.value_or(reason);
        }
        auto const call = state_.calls.find(pending->call);
        if (call != state_.calls.end()) reason = describe(call->second, *pending, reason, out);
        out.reason = session::text(reason);
        return out;
    }
    // Adds what the call in the state says; returns the reason of its pause.
    static PauseReason describe(Call const& call, PendingId const& pending, PauseReason reason,
                                Notification& out) {
        out.tool = shown(call.spec.tool, tool_shown);
        out.arguments = shown(call.spec.input.text(), arguments_shown);
        out.digest = digest_text(call.spec.input_digest);
        // If an external agent showed more than the input, only the page has all of it.
        out.is_whole = !call.spec.shown && out.tool == call.spec.tool &&
                       out.arguments == call.spec.input.text();
        if (auto const& pause = call.pause; pause && call.pending == pending) {
            reason = pause->terms.reason;
            out.question = shown(pause->terms.message, question_shown);
            out.is_whole = out.is_whole && out.question == pause->terms.message;
            out.deadline = pause->deadline;
            out.always_ask = pause->terms.always_ask;
        }
        if (!call.question || call.question->pending != pending) return reason;
        out.question =
            "It is unknown what this tool did. Run it again, enter its result, or give up?";
        return PauseReason::elicitation;
    }
    // The turn may have ended with the record.
    [[nodiscard]] TraceHeaders trace() const {
        if (!state_.turn && !state_.last_turn) return {};
        TurnNo const turn = state_.turn ? state_.turn->no : state_.last_turn->no;
        TraceHeaders const& received = state_.turn ? state_.turn->trace : state_.last_turn->trace;
        return passed_on(outgoing_.tracing, state_.id, turn, received, turn_span(state_.id, turn));
    }
    void put(std::string target, Letter letter) {
        letter.trace = trace();
        letter.mark = mark_of(*record_);
        port::OutboxRow row;
        row.key = {state_.id, record_->event.seq, number_++};
        row.kind = webhook_kind;
        row.target = std::move(target);
        row.body = write_letter(letter);
        row.created = row.next_at = record_->event.at;
        rows_.push_back(std::move(row));
    }

    Outgoing const& outgoing_;
    State const& state_;
    std::vector<PendingChange> const& changes_;
    wire::Record const* record_ = nullptr;
    std::uint32_t number_ = first_number;
    std::vector<port::OutboxRow> rows_;
};

constexpr std::string_view kind_words[] = {"call", "event", "notice", "program"};

}  // namespace

std::string write_letter(Letter const& letter) {
    json::Writer out;
    out.begin_object().member("kind", kind_words[static_cast<std::size_t>(letter.kind)]);
    if (letter.pending) out.member("pendingID", letter.pending->text());
    if (!letter.tool.empty()) out.member("tool", letter.tool);
    if (!letter.trace.parent.empty()) out.member("traceparent", letter.trace.parent);
    if (!letter.trace.state.empty()) out.member("tracestate", letter.trace.state);
    if (!letter.mark.empty()) out.member("mark", letter.mark);
    return out.end_object().take() + "\n" + letter.body;
}

std::optional<Letter> read_letter(std::string_view text) {
    auto const end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    auto const head = json::check(text.substr(0, end));
    if (!head) return std::nullopt;
    json::View const view(*head);
    std::string const word = view["kind"].string_or("");
    auto const* const kind = std::ranges::find(kind_words, word);
    if (kind == std::end(kind_words)) return std::nullopt;
    Letter out;
    out.kind = static_cast<Letter::Kind>(kind - std::begin(kind_words));
    out.pending = PendingId::parse(view["pendingID"].string_or(""));
    out.tool = view["tool"].string_or("");
    out.trace = {view["traceparent"].string_or(""), view["tracestate"].string_or("")};
    out.mark = view["mark"].string_or("");
    out.body = text.substr(end + 1);
    return out;
}

std::vector<port::OutboxRow> outbox_of(Outgoing const& outgoing, State const& state,
                                       std::span<wire::RecordPtr const> records,
                                       std::vector<PendingChange> const& changes) {
    Maker maker(outgoing, state, changes);
    for (wire::RecordPtr const& record : records) maker.add(*record);
    return maker.take();
}

std::string delivery_text(DeliveryId const& id) {
    std::string const out =
        numbered_id("dlv_", id.key.from, id.key.seq) + "_" + std::to_string(id.key.n);
    return id.mark.empty() ? out : out + "_" + id.mark;
}

std::string delivery_text(port::OutboxRow const& row) {
    auto const letter = read_letter(row.body);
    return delivery_text(DeliveryId{row.key, letter ? letter->mark : std::string()});
}

std::optional<DeliveryId> parse_delivery(std::string_view text) {
    // The session's part has a fixed length, and may have underscores.
    std::size_t const number_at = numbered_id("dlv_", {}, 1).size() - 1;
    auto const second = text.find('_', number_at);
    if (second == std::string_view::npos) return std::nullopt;
    auto const third = std::min(text.find('_', second + 1), text.size());
    auto const id = parse_numbered("dlv_", text.substr(0, second));
    auto const n = parse_number(text.substr(second + 1, third - second - 1));
    if (!id || !n || *n > UINT32_MAX) return std::nullopt;
    DeliveryId out{{id->session, id->number, static_cast<std::uint32_t>(*n)}, {}};
    if (third == text.size()) return out;
    out.mark = text.substr(third + 1);
    bool const valid = out.mark.size() == mark_length &&
                       out.mark.find_first_not_of("0123456789abcdef") == std::string::npos;
    return valid ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace dormouse::webhook
