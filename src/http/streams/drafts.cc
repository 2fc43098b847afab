#include "http/streams/drafts.h"

#include "base/text/utf8.h"
#include "http/objects/objects.h"
#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::http {

using namespace dormouse::session;

Drafts::Part& Drafts::part_of(Draft& draft, port::Delta const& delta) {
    bool const same = !draft.parts.empty() && draft.parts.back().kind == delta.kind &&
                      draft.parts.back().call == delta.call;
    if (same) return draft.parts.back();
    draft.parts.push_back({.number = draft.begun++,
                           .kind = delta.kind,
                           .call = delta.call,
                           .tool = delta.tool,
                           .end = 0,
                           .text = {}});
    return draft.parts.back();
}

Drafts::Draft& Drafts::draft_of(SessionId session, AskModel const& ask) {
    Draft& draft = drafts_[session];
    if (draft.ask != ask) {
        draft = {};
        draft.ask = ask;
    }
    return draft;
}

void Drafts::add_unread(SessionId session, AskModel const& ask, port::Delta const& delta) {
    Draft& draft = draft_of(session, ask);
    keep(draft, part_of(draft, delta), delta.text);
}

std::string Drafts::add(SessionId session, AskModel const& ask, port::Delta const& delta) {
    Draft& draft = draft_of(session, ask);
    Part& part = part_of(draft, delta);
    std::string out = frame(session, ask, part, part.end, delta.text);
    keep(draft, part, delta.text);
    return out;
}

// Adds the text to the newest part.
void Drafts::keep(Draft& draft, Part& part, std::string_view text) {
    part.end += text.size();
    if (!draft.whole) {
        draft.parts.erase(draft.parts.begin(), draft.parts.end() - 1);
        return;
    }
    part.text += text;
    draft.bytes += text.size();
    draft.whole = draft.bytes <= bytes_max && draft.parts.size() <= parts_max;
    if (!draft.whole) {
        for (Part& each : draft.parts) each.text = {};
    }
}

// Text before the piece that is missing here is durable.
std::string Drafts::mirror(SessionId session, Piece const& piece, Seq known) {
    AskModel const ask{.turn = piece.of.turn, .step = piece.of.step, .attempt = piece.of.attempt};
    Draft& draft = drafts_[session];
    if (draft.writer == Writer::here && writing_of(draft).same_request(piece.of)) return {};
    if (draft.ask != ask) {
        draft = {};
        draft.ask = ask;
        draft.writer = Writer::elsewhere;
    }
    draft.updates = piece.of.updates;
    draft.known = known;
    if (!draft.parts.empty() && draft.parts.back().number > piece.part) return {};
    if (draft.parts.empty() || draft.parts.back().number < piece.part)
        draft.parts.push_back({piece.part, piece.kind, piece.call, piece.tool, piece.offset, {}});
    draft.begun = std::max(draft.begun, piece.part + 1);
    Part& part = draft.parts.back();
    std::size_t const old = part.end - std::min(part.end, piece.offset);
    if (old >= piece.text.size()) return {};
    if (piece.offset > part.end) {
        draft.bytes -= part.text.size();
        part.text = {};
        part.end = piece.offset;
    }
    std::string_view const text = std::string_view(piece.text).substr(old);
    std::string out = frame(session, ask, part, part.end, text);
    keep(draft, part, text);
    return out;
}

// Removes the oldest `bytes` of this kind, which are durable now.
void Drafts::confirm(Draft& draft, port::Delta::Kind kind, std::size_t bytes) {
    for (auto part = draft.parts.begin(); bytes > 0 && part != draft.parts.end();) {
        if (part->kind != kind) {
            ++part;
            continue;
        }
        std::size_t const taken = std::min(bytes, part->text.size());
        part->text.erase(0, taken);
        draft.bytes -= taken;
        bytes -= taken;
        // The next text after the newest part begins a new part.
        if (part->text.empty())
            part = draft.parts.erase(part);
        else
            ++part;
    }
}

void Drafts::appended(SessionId session, std::vector<wire::RecordPtr> const& records) {
    for (wire::RecordPtr const& record : records) {
        auto const found = drafts_.find(session);
        if (found == drafts_.end()) return;
        if (record->event.seq <= found->second.known) continue;
        Event::Body const& body = record->event.body;
        if (std::holds_alternative<ModelReplied>(body) ||
            std::holds_alternative<ModelFailed>(body) ||
            std::holds_alternative<AgentReplied>(body) ||
            std::holds_alternative<AgentDetached>(body) ||
            std::holds_alternative<TurnStarted>(body) || std::holds_alternative<TurnEnded>(body) ||
            std::holds_alternative<SessionDeleted>(body)) {
            drafts_.erase(found);
            return;
        }
        auto const* const update = std::get_if<AgentUpdate>(&body);
        if (update && update->attempt > 0) found->second.updates = update->number;
        if (!update || update->what.kind != AgentOutputKind::message || !found->second.whole)
            continue;
        json::View(update->what.body).elements([&](json::View part) {
            bool const thought = part["type"].string_or("") == "reasoning";
            confirm(found->second, thought ? port::Delta::Kind::reasoning : port::Delta::Kind::text,
                    part["text"].string_or("").size());
        });
    }
}

std::string Drafts::so_far(SessionId session, TurnNo turn) const {
    auto const found = drafts_.find(session);
    if (found == drafts_.end() || found->second.ask.turn != turn) return {};
    std::string out;
    for (Part const& part : found->second.parts) {
        if (part.text.empty()) continue;
        out += frame(session, found->second.ask, part, part.end - part.text.size(), part.text);
    }
    return out;
}

Writing Drafts::writing_of(Draft const& draft) {
    return {draft.ask.turn, draft.ask.step, draft.ask.attempt, draft.updates};
}

std::optional<Writing> Drafts::writing(SessionId session) const {
    auto const found = drafts_.find(session);
    if (found == drafts_.end()) return std::nullopt;
    return writing_of(found->second);
}

std::optional<Piece> Drafts::next(SessionId session, DraftPlace& place, std::size_t bytes) const {
    auto const found = drafts_.find(session);
    if (found == drafts_.end()) return std::nullopt;
    Draft const& draft = found->second;
    if (!draft.whole || draft.writer == Writer::elsewhere) return std::nullopt;
    Writing const of = writing_of(draft);
    bool const same = place.of.same_request(of);
    place.of = of;
    if (!same) place = {.of = of};
    for (Part const& part : draft.parts) {
        if (part.number < place.part) continue;
        std::size_t const begin = part.end - part.text.size();
        std::size_t const offset =
            part.number == place.part ? std::max(begin, place.offset) : begin;
        if (offset >= part.end) continue;
        auto const text = cut_utf8(std::string_view(part.text).substr(offset - begin), bytes);
        place.part = part.number;
        place.offset = offset + text.size();
        if (text.empty()) return std::nullopt;
        return Piece{of,        0,         part.number, part.kind,
                     part.call, part.tool, offset,      std::string(text)};
    }
    return std::nullopt;
}

bool Drafts::whole(SessionId session) const {
    auto const found = drafts_.find(session);
    return found == drafts_.end() || found->second.whole;
}

// The message gets its id when it is durable; until then the draft has an id of its own.
std::string Drafts::frame(SessionId session, AskModel const& ask, Part const& part,
                          std::size_t offset, std::string_view text) {
    std::string const id = session.text().substr(std::string_view("ses_").size()) + "_t" +
                           std::to_string(ask.turn) + "-" + std::to_string(ask.step) + "-" +
                           std::to_string(ask.attempt);
    constexpr std::string_view kinds[] = {"text", "reasoning", "input"};
    json::Writer out;
    out.begin_object()
        .member("turnID", numbered_id("trn_", session, ask.turn))
        .member("step", ask.step);
    out.member("attempt", ask.attempt).member("messageID", "msg_" + id);
    out.member("partID", "prt_" + id + "_" + std::to_string(part.number));
    out.member("kind", kinds[static_cast<std::size_t>(part.kind)]);
    out.member("offset", std::uint64_t{offset}).member("text", text);
    if (part.call > 0) out.member("call", part.call).member("tool", part.tool);
    return "event: delta\ndata: " + out.end_object().take() + "\n\n";
}

}  // namespace dormouse::http
