#include "webhook/outgoing.h"

#include "base/text.h"
#include "base/utf8.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace dormouse::webhook {

using namespace dormouse::session;

namespace {

// Below stand those of posts between sessions.
constexpr std::uint32_t first_number = 1'000;
constexpr std::size_t shown_input = 300;
constexpr std::size_t shown_message = 1'000;

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

void write_outcome(json::Writer& out, Event::Body const& body) {
    if (std::get_if<Expired>(&body)) return (void)out.member("error", "Tool execution timed out");
    auto const* const settled = std::get_if<Submitted>(&body);
    if (auto const* const e = std::get_if<Cancelled>(&body); e && !e->reason.empty())
        return (void)out.member("error", "cancelled: " + e->reason);
    if (!settled) return (void)out.member("error", "cancelled");
    switch (settled->what.kind) {
        case SubmissionKind::result: return write_result(out, settled->what);
        case SubmissionKind::decision: return write_decision(out, settled->what);
        default: out.member("error", settled->what.error);
    }
}

std::string outcome_body(Receipt const& receipt, Event::Body const& body) {
    json::Writer out;
    out.begin_object().member("pendingID", receipt.pending.text());
    write_outcome(out, body);
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

// All that the program may have kept of the session.
std::string program_body(State const& state) {
    json::Writer out;
    out.begin_object().key("names").begin_array();
    if (!state.acp_session.empty()) out.value(state.acp_session);
    for (std::string const& left : state.acp_left) out.value(left);
    return out.end_array().member("cwd", state.cwd).end_object().take();
}

// What Slack would take for markup or a mention is none.
std::string plain(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else {
            out += c;
        }
    }
    return out;
}

// Cut at a character's beginning.
std::string head(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return std::string(text);
    return std::string(cut_utf8(text, bytes)) + "…";
}

// What there is to tell of one pending call.
struct Word {
    std::string event;
    PendingId pending;
    PauseReason reason = PauseReason::tool_result;
    std::string tool, input, message;
    std::optional<Time> deadline;
};

std::string said(Word const& word) {
    std::string const about = word.tool + " " + head(word.input, shown_input);
    if (word.event == "expired") return "Nobody answered in time: " + about;
    if (word.event == "deadline_near") return "Still waiting, and the deadline is near: " + about;
    std::string const question = head(word.message, shown_message);
    std::string what = word.reason == PauseReason::approval ? "Approval wanted: " : "Waiting: ";
    if (word.event == "in_doubt") what = "In doubt: ";
    if (word.event == "reminded") what = "Still waiting: ";
    return what + (question.empty() ? about : question + "\n" + about);
}

std::string notice_body(Notice const& notice, Word const& word, std::string const& page) {
    std::string text = escape_for_terminal(said(word), true);
    if (word.deadline) text += "\nuntil " + iso_time(*word.deadline);
    if (!page.empty()) text += "\n" + page;
    json::Writer out;
    out.begin_object();
    if (notice.kind == Notice::Kind::slack)
        return out.member("text", plain(text)).end_object().take();
    out.member("type", "notify").member("event", word.event);
    out.member("reason", session::text(word.reason)).member("tool", word.tool);
    out.member("pendingID", word.pending.text());
    out.member("sessionID", word.pending.session.text());
    out.member("message", word.message).member("text", text);
    out.member("timeout", word.deadline ? std::optional(to_ms(*word.deadline)) : std::nullopt);
    page.empty() ? out.member_null("url") : out.member("url", page);
    return out.end_object().take();
}

std::optional<PendingId> pending_of(Event::Body const& body) {
    if (auto const receipt = receipt_of(body)) return receipt->pending;
    if (auto const* const e = std::get_if<CallPaused>(&body)) return e->pending;
    if (auto const* const e = std::get_if<GateAsked>(&body)) return e->pending;
    if (auto const* const e = std::get_if<AgentAsked>(&body)) return e->pending;
    if (auto const* const e = std::get_if<DeadlineNear>(&body)) return e->pending;
    if (auto const* const e = std::get_if<Reassigned>(&body)) return e->pending;
    if (auto const* const e = std::get_if<Reminded>(&body)) return e->pending;
    if (auto const* const e = std::get_if<InDoubt>(&body)) return e->question.value_or(e->pending);
    return std::nullopt;
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
        for (Notice const& notice : outgoing_.notices) {
            if (has(notice.on, type)) tell(notice);
        }
        bool const kept = !state_.acp_session.empty() || !state_.acp_left.empty();
        if (outgoing_.programs && kept && std::get_if<SessionDeleted>(&record.event.body))
            put("agent:" + state_.agent,
                {Letter::Kind::program, std::nullopt, {}, program_body(state_)});
    }
    [[nodiscard]] std::vector<port::PostRow> take() { return std::move(rows_); }

private:
    void add_outcome() {
        Event::Body const& body = record_->event.body;
        auto const receipt = receipt_of(body);
        PendingChange const* const change = receipt ? change_of(receipt->pending) : nullptr;
        if (!change || change->webhook_url.empty()) return;
        put(change->webhook_url,
            {Letter::Kind::call, receipt->pending, change->tool, outcome_body(*receipt, body)});
    }
    [[nodiscard]] PendingChange const* change_of(PendingId const& pending) const {
        for (PendingChange const& change : changes_) {
            if (change.pending == pending && change.settled == record_->event.seq) return &change;
        }
        return nullptr;
    }
    void tell(Notice const& notice) {
        auto const word = word_of();
        if (!word) return;
        using enum PauseReason;
        auto const wanted = notice.reasons.empty()
                                ? std::vector<PauseReason>{approval, user_input, elicitation}
                                : notice.reasons;
        if (std::ranges::find(wanted, word->reason) == wanted.end()) return;
        std::string const page = outgoing_.page ? outgoing_.page(word->pending) : "";
        put(notice.target,
            {Letter::Kind::notice, std::nullopt, {}, notice_body(notice, *word, page)});
    }
    // nullopt: the event is about no call that waits or waited for somebody.
    [[nodiscard]] std::optional<Word> word_of() const {
        Event::Body const& body = record_->event.body;
        auto const pending = pending_of(body);
        if (!pending) return std::nullopt;
        Word out{std::string(type_name(body)), *pending, PauseReason::tool_result, "", "", "", {}};
        if (PendingChange const* const change = change_of(*pending)) {
            out.tool = change->tool;
            out.reason = change->reason.value_or(out.reason);
        }
        auto const call = state_.calls.find(pending->call);
        if (call == state_.calls.end()) return out;
        out.tool = call->second.spec.tool;
        out.input = std::string(call->second.spec.input.text());
        if (auto const& pause = call->second.pause) {
            out.reason = pause->terms.reason;
            out.message = pause->terms.message;
            out.deadline = pause->deadline;
        }
        auto const& question = call->second.question;
        if (question && question->pending == *pending) {
            out.reason = PauseReason::elicitation;
            out.message =
                "Nobody knows what this tool did. Run it again, say what it gave, or give up?";
        }
        return out;
    }
    void put(std::string target, Letter const& letter) {
        port::PostRow row;
        row.key = {state_.id, record_->event.seq, number_++};
        row.kind = post_kind;
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
    std::vector<port::PostRow> rows_;
};

constexpr std::string_view kind_words[] = {"call", "event", "notice", "program"};

}  // namespace

std::string iso_time(Time at) {
    auto const day = std::chrono::floor<std::chrono::days>(at);
    std::chrono::year_month_day const date(day);
    auto const ms = (at - day).count();
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(ms / 3'600'000),
                  static_cast<int>(ms / 60'000 % 60), static_cast<int>(ms / 1'000 % 60),
                  static_cast<int>(ms % 1'000));
    return text.data();
}

std::string write_letter(Letter const& letter) {
    json::Writer out;
    out.begin_object().member("kind", kind_words[static_cast<std::size_t>(letter.kind)]);
    if (letter.pending) out.member("pendingID", letter.pending->text());
    if (!letter.tool.empty()) out.member("tool", letter.tool);
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
    out.body = text.substr(end + 1);
    return out;
}

std::vector<port::PostRow> posts_of(Outgoing const& outgoing, State const& state,
                                    std::span<wire::RecordPtr const> records,
                                    std::vector<PendingChange> const& changes) {
    Maker maker(outgoing, state, changes);
    for (wire::RecordPtr const& record : records) maker.add(*record);
    return maker.take();
}

std::string delivery_text(port::PostKey const& key) {
    return numbered_id("dlv_", key.from, key.seq) + "_" + std::to_string(key.n);
}

std::optional<port::PostKey> parse_delivery(std::string_view text) {
    auto const last = text.rfind('_');
    if (last == std::string_view::npos) return std::nullopt;
    auto const id = parse_numbered("dlv_", text.substr(0, last));
    auto const n = parse_number(text.substr(last + 1));
    if (!id || !n || *n > UINT32_MAX) return std::nullopt;
    return port::PostKey{id->session, id->number, static_cast<std::uint32_t>(*n)};
}

}  // namespace dormouse::webhook
