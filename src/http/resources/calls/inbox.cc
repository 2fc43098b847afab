#include "http/resources/calls/inbox.h"

#include "base/text/cut.h"
#include "http/resources/calls/call_fields.h"
#include "http/resources/pages/page.h"

#include <algorithm>

// The fields of a call in the inbox in addition to the call itself.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::size_t last_text_max = std::size_t{4} << 10;

// Outcomes of jobs, and timers, are not for people.
bool is_for_people(PauseReason reason) {
    return reason == PauseReason::approval || reason == PauseReason::user_input ||
           reason == PauseReason::elicitation || reason == PauseReason::budget;
}

bool is_asked(Principal const& who, AnswerTerms const& terms) {
    if (who.role < Role::answer) return false;
    constexpr std::string_view prefix = "role:";
    return terms.from.empty() || std::ranges::any_of(terms.from, [&](std::string const& from) {
               if (!from.starts_with(prefix)) return from == who.row.name;
               auto const role = parse_role(std::string_view(from).substr(prefix.size()));
               return role && who.role >= *role;
           });
}

bool has_voted(wire::PauseView const& pause, std::string const& name) {
    return std::ranges::any_of(pause.votes, [&](Vote const& vote) { return vote.by.name == name; });
}

}  // namespace

// Returns the agent's text in the message of the call.
std::optional<std::string> InboxSource::last_text() const {
    auto const& messages = history.get().messages();
    auto const message = messages.find(call.get().message);
    if (message == messages.end() || !message->second.assistant) return std::nullopt;
    std::string out;
    json::View(message->second.parts).elements([&](json::View part) {
        if (part["type"].string_or("text") != "text") return;
        std::string const text = part["text"].string_or("");
        if (!text.empty()) out += (out.empty() ? "" : "\n\n") + text;
    });
    if (out.empty()) return std::nullopt;
    return cut_with_mark(std::move(out), last_text_max);
}

// Returns who started the turn; nullopt when the history that was read does not contain its
// beginning.
std::optional<Ref<Actor>> InboxSource::requester() const {
    TurnNo const turn = call.get().turn;
    auto const& open = state.get().turn;
    if (open && open->no == turn) return open->by;
    auto const seen = history.get().turns().find(turn);
    bool const known = seen != history.get().turns().end() && seen->second.input != 0;
    return known ? std::optional(Ref<Actor>(seen->second.by)) : std::nullopt;
}

std::optional<InboxSource::Gate> InboxSource::gate() const {
    wire::PauseView const& p = pause;
    if (p.gate.empty()) return std::nullopt;
    return Gate{p.gate, p.terms.always_ask, p.terms.definition.has_value()};
}

std::optional<InboxSource::Claim> InboxSource::claim() const {
    wire::PauseView const& p = pause;
    if (p.receipt || p.claimed_until <= now) return std::nullopt;
    return Claim{p.claimed_by, p.claimed_until};
}

std::optional<OnDeadline> InboxSource::at_deadline() const {
    wire::PauseView const& p = pause;
    return p.deadline && !p.receipt ? std::optional(p.terms.on_deadline) : std::nullopt;
}

bool InboxSource::mine() const {
    wire::PauseView const& p = pause;
    bool const claimed = p.claimed_until > now && p.claimed_by != who.get().row.name;
    return waits_for(who, p) && !claimed;
}

bool InboxSource::doubt_question() const { return asks_of_doubt(state, pause.get().pending); }

bool waits_for(Principal const& who, wire::PauseView const& pause) {
    return !pause.receipt && is_for_people(pause.terms.reason) &&
           is_asked(who, pause.terms.answer) && !has_voted(pause, who.row.name);
}

std::string inbox_object(State const& state, wire::History const& history,
                         wire::PauseView const& pause, Principal const& who, Time now) {
    wire::CallView const& call = history.calls().at(pause.pending.call);
    json::Writer out;
    out.begin_object();
    write_rows(out, rows<PendingSource>.list, PendingSource{state, history, pause, call, now});
    write_rows(out, rows<InboxSource>.list, InboxSource{state, history, pause, call, who, now});
    return out.end_object().take();
}

}  // namespace dormouse::http
