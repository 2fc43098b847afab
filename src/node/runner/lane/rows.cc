#include "runner/lane/rows.h"

#include "base/check.h"
#include "base/enum_words.h"
#include "session/fold/fold.h"
#include "wire/outbox_json.h"

#include <algorithm>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

port::PendingStatus status_of(std::optional<CallStatus> status) {
    if (!status) return port::PendingStatus::waiting;
    return from_word<port::PendingStatus>(text(*status)).value_or(port::PendingStatus::waiting);
}

bool shown_in_row(State const& state, Event::Body const& body) {
    if (auto const* e = std::get_if<InputReceived>(&body))
        return e->source == InputSource::prompt && !state.auto_title.empty() &&
               title_in(e->parts) == state.auto_title;
    if (auto const* e = std::get_if<Redacted>(&body)) return e->title || e->set_title || e->alias;
    return std::holds_alternative<SessionCreated>(body) ||
           std::holds_alternative<SessionChanged>(body) ||
           std::holds_alternative<StatusChanged>(body) ||
           std::holds_alternative<SessionEnded>(body) ||
           std::holds_alternative<SessionDeleted>(body);
}

}  // namespace

port::PendingRow pending_row(PendingChange const& change) {
    return {change.pending.call,
            change.pending.generation,
            status_of(change.status),
            change.tool,
            change.created,
            change.deadline,
            change.paused,
            change.settled,
            change.external_ref};
}

namespace {

// The pause that the outcome of a tool or a poll is, and its call; null: it is none.
std::pair<PauseTerms*, CallNo> paused_by(Command& command) {
    if (auto* const outcome = std::get_if<ToolOutcome>(&command.body))
        return {std::get_if<PauseTerms>(&outcome->what), outcome->pending.call};
    if (auto* const outcome = std::get_if<PollOutcome>(&command.body))
        return {std::get_if<PauseTerms>(&outcome->what), outcome->pending.call};
    return {};
}

}  // namespace

namespace {

// The frames are many bytes: they are copied, because the command may be decided again.
port::Rewrite rewrite_of(Redact const& redact) {
    CHECK(redact.frames);
    port::Rewrite out;
    for (Redact::Rewritten const& frame : *redact.frames)
        out.frames.push_back({frame.first, frame.count, frame.bytes});
    out.artifacts = redact.artifacts;
    for (OutboxKey const& key : redact.outbox) out.outbox.push_back({key.from, key.seq, key.n});
    out.calls = redact.calls;
    return out;
}

std::optional<port::SourceFrame> source_of(Create::ForkOf const& fork) {
    if (fork.head == 0) return std::nullopt;
    return port::SourceFrame{fork.from, {fork.head, port::Stamp{fork.stamp}}};
}

port::OutboxRow quarantine_row(State const& state, Seq seq, Time at, Mail const& mail) {
    CHECK(seq > 0 && seq <= state.head);
    port::OutboxRow row;
    row.key = quarantine_key(state.id, seq, 0);
    row.kind = quarantined_kind;
    row.target = state.project;
    row.body = wire::write_outbox_body(mail);
    row.created = at;
    return row;
}

}  // namespace

port::OutboxKey quarantine_key(SessionId session, Seq seq, std::uint32_t rewrites) {
    return {session, seq, quarantined_n - rewrites};
}

Attachments take_attachments(Command& command) {
    Attachments out;
    if (auto const [terms, call] = paused_by(command); terms) {
        out.secrets[call] = std::exchange(terms->webhook_secret, {});
    } else if (auto* const reply = std::get_if<ModelReply>(&command.body)) {
        for (CallSpec& spec : reply->calls) {
            out.of_reply.push_back(spec.at_once ? std::exchange(spec.at_once->webhook_secret, {})
                                                : std::string());
        }
    } else if (auto* const create = std::get_if<Create>(&command.body)) {
        if (create->ask) out.secrets[1] = std::exchange(create->ask->terms.webhook_secret, {});
        if (create->fork) out.source = source_of(*create->fork);
    } else if (auto const* const message = std::get_if<Deliver>(&command.body)) {
        if (message->past) out.source = source_of(*message->past);
    } else if (auto const* const submit = std::get_if<Submit>(&command.body)) {
        for (Bits128 const& key : submit->delivery_keys)
            out.delivered.push_back({key, submit->delivery_digest});
    } else if (auto* const redact = std::get_if<Redact>(&command.body)) {
        out.rewrite = rewrite_of(*redact);
        if (redact->begin)
            out.base =
                port::BaseRow{{redact->begin->first, redact->begin->count, redact->begin->bytes},
                              redact->base,
                              redact->begin_call,
                              std::string(keys_of_calls),
                              redact->begin_artifacts};
        out.quarantined = std::move(redact->quarantined);
    } else if (auto* const cut = std::get_if<CutHistory>(&command.body)) {
        CHECK(cut->frame && cut->first <= cut->last);
        auto const count = static_cast<std::uint32_t>(cut->last - cut->first + 1);
        out.base = port::BaseRow{{cut->first, count, *cut->frame},
                                 cut->what.through,
                                 cut->what.call,
                                 std::string(keys_of_calls),
                                 std::move(cut->artifacts)};
    }
    return out;
}

void give_attachments(Attachments attachments, Command& command) {
    if (auto const [terms, call] = paused_by(command); terms) {
        terms->webhook_secret = std::move(attachments.secrets[call]);
    } else if (auto* const reply = std::get_if<ModelReply>(&command.body)) {
        CHECK(attachments.of_reply.size() == reply->calls.size());
        for (std::size_t i = 0; i < reply->calls.size(); ++i) {
            if (auto& at_once = reply->calls[i].at_once)
                at_once->webhook_secret = std::move(attachments.of_reply[i]);
        }
    } else if (auto* const create = std::get_if<Create>(&command.body)) {
        if (create->ask) create->ask->terms.webhook_secret = std::move(attachments.secrets[1]);
    } else if (auto* const cut = std::get_if<CutHistory>(&command.body)) {
        CHECK(attachments.base);
        cut->artifacts = std::move(attachments.base->artifacts);
    } else if (auto* const redact = std::get_if<Redact>(&command.body)) {
        redact->quarantined = std::move(attachments.quarantined);
    }
}

namespace {

void add_secret(std::map<CallNo, std::string> const& secrets, PendingId const& pending,
                port::Append& append) {
    auto const secret = secrets.find(pending.call);
    if (secret != secrets.end() && !secret->second.empty())
        append.secrets.push_back({pending.call, pending.generation, secret->second});
}

}  // namespace

void add_attachments(Attachments const& attachments, std::vector<Event> const& events,
                     port::Append& append) {
    std::map<CallNo, std::string> secrets = attachments.secrets;
    for (Event const& event : events) {
        if (auto const* const replied = std::get_if<ModelReplied>(&event.body)) {
            CHECK(replied->calls.size() <= attachments.of_reply.size());
            for (std::size_t i = 0; i < attachments.of_reply.size(); ++i)
                secrets[replied->first_call + static_cast<CallNo>(i)] = attachments.of_reply[i];
        } else if (auto const* const paused = std::get_if<CallPaused>(&event.body)) {
            add_secret(secrets, paused->pending, append);
        } else if (auto const* const asked = std::get_if<AgentAsked>(&event.body)) {
            add_secret(secrets, asked->pending, append);
        } else if (std::holds_alternative<Submitted>(event.body)) {
            append.delivered.insert(append.delivered.end(), attachments.delivered.begin(),
                                    attachments.delivered.end());
        } else if (std::holds_alternative<HistoryCut>(event.body)) {
            append.base = attachments.base;
        } else if (std::holds_alternative<Redacted>(event.body)) {
            append.rewrite = attachments.rewrite;
            append.base = attachments.base;
        } else if (std::holds_alternative<Forked>(event.body)) {
            append.source = attachments.source;
        }
    }
}

// Messages between sessions are delivered in the order of their sender's events, independent of
// clocks.
port::OutboxRow outbox_row(State const& state, OutboxMessage const& message, Time at) {
    CHECK(message.seq > 0 && message.seq <= state.head);
    port::OutboxRow row;
    row.key = {state.id, message.seq, message.n};
    row.kind = "session";
    row.target = message.to.text();
    row.body = wire::write_outbox_body(message.what);
    auto const* run = std::get_if<StartRun>(&message.what);
    if (run && run->run == 1) row.makes = message.to;
    row.created = at;
    return row;
}

void add_rewritten(Attachments const& attachments, State const& state,
                   std::vector<Event> const& events, port::Append& append) {
    if (events.empty()) return;
    for (Redact::Quarantined const& one : attachments.quarantined) {
        append.outbox.push_back(quarantine_row(state, one.seq, one.at, one.mail));
        append.outbox.back().key = quarantine_key(state.id, one.seq, one.rewrites + 1);
    }
}

std::vector<InboxItem> quarantined_in(State const& state) {
    std::vector<InboxItem> out;
    if (state.lifecycle == Lifecycle::deleted) return out;
    for (InboxItem const& item : state.inbox) {
        if (item.hold == MailHold::quarantined) out.push_back(item);
    }
    return out;
}

void add_quarantined(std::vector<InboxItem> const& before, State const& state,
                     std::vector<Event> const& events, port::Append& append) {
    for (Event const& event : events) {
        auto const* const e = std::get_if<MailReceived>(&event.body);
        if (!e || e->hold != MailHold::quarantined) continue;
        append.outbox.push_back(quarantine_row(state, event.seq, event.at, *e->mail));
    }
    if (before.empty()) return;
    auto const now = quarantined_in(state);
    for (InboxItem const& item : before) {
        bool const stays = std::ranges::find(now, item.seq, &InboxItem::seq) != now.end();
        if (!stays) append.taken.push_back(quarantine_key(state.id, item.seq, item.rewrites));
    }
}

port::SessionRow session_row(State const& state) {
    return {state.id,      state.project,      state.agent,
            state.alias,   shown_title(state), std::string(text(state.lifecycle)),
            state.created, state.updated,      row_turn(state)};
}

port::TurnState row_turn(State const& state) {
    bool const works = wake_at(state) == from_ms(0);
    return works && state.lifecycle == Lifecycle::active ? port::TurnState::rest
                                                         : turn_state(state);
}

port::TurnState turn_state(State const& state) {
    if (state.lifecycle != Lifecycle::active) return port::TurnState::rest;
    switch (activity(state)) {
        case Activity::busy:
        case Activity::retry: return port::TurnState::running;
        case Activity::waiting_async: return port::TurnState::rest;
        case Activity::idle: break;
    }
    bool const failed = state.last_turn && state.last_turn->failed;
    return failed ? port::TurnState::failed : port::TurnState::rest;
}

bool claims_alias(std::vector<wire::RecordPtr> const& records) {
    bool claims = false;
    for (wire::RecordPtr const& record : records) {
        Event::Body const& body = record->event.body;
        if (auto const* e = std::get_if<SessionCreated>(&body)) claims = !e->alias.empty();
        if (auto const* e = std::get_if<SessionChanged>(&body); e && e->alias)
            claims = !e->alias->empty();
    }
    return claims;
}

std::optional<port::SessionRow> changed_row(State const& state,
                                            std::vector<wire::RecordPtr> const& records,
                                            std::optional<port::TurnState> stored) {
    if (stored != row_turn(state)) return session_row(state);
    for (wire::RecordPtr const& record : records) {
        if (shown_in_row(state, record->event.body)) return session_row(state);
    }
    return std::nullopt;
}

}  // namespace dormouse::runner
