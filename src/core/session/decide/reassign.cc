#include "session/decide/decider.h"
#include "session/decide/values.h"
#include "session/fold/fold.h"

#include <algorithm>

// Reassigns a waiting call to other answerers (rule 8).
namespace dormouse::session {

namespace {

bool is_role(std::string const& name) { return name.starts_with("role:"); }

bool contains(std::vector<std::string> const& all, std::string const& one) {
    return std::ranges::find(all, one) != all.end();
}

// An administrator of the project may name anybody.
bool is_admin(Decider const& d) {
    ActorType const type = d.command.by.type;
    bool const job = type == ActorType::capability || type == ActorType::webhook;
    return !job && !d.context.roles;
}

// Returns true if all whom `to` names may answer now.
bool is_asked(AnswerTerms const& terms, Reassign::To const& to) {
    return terms.from.empty() || contains(terms.from, to.name) ||
           std::ranges::any_of(to.roles, [&](std::string const& role) {
               return is_role(role) && contains(terms.from, role);
           });
}

std::optional<Error> refuse_call(State const& state, Call const& call, PendingId const& pending) {
    if (call.question && call.question->pending == pending)
        return Error{Code::wrong_kind,
                     "A question about a call in doubt cannot be reassigned; anyone who may answer "
                     "can decide it."};
    if (call.phase != CallPhase::waiting)
        return Error{Code::not_ready, "The call is not waiting yet; try again.", {}, 1000};
    FITS(call.pause.has_value());
    PauseReason const reason = call.pause->terms.reason;
    if (reason == PauseReason::tool_result || reason == PauseReason::handoff) {
        return Error{Code::wrong_kind,
                     "This call does not wait for people (" + std::string(text(reason)) + ").",
                     object_json("reason", text(reason))};
    }
    if (!state.turn) return unknown().error();
    return std::nullopt;
}

// Only those who are asked may pass a call on, and only to people who could answer it anyway.
std::optional<Error> refuse_by(Decider const& d, Call const& call, Reassign const& c) {
    FITS(call.pause && d.state.turn);
    if (is_admin(d)) return std::nullopt;
    Actor const& by = d.command.by;
    AnswerTerms const& terms = call.pause->terms.answer;
    bool const asker = terms.forbid_requester && d.state.turn->by == by;
    if (asker || !may_answer(terms, by, d.context))
        return Error{Code::not_an_answerer, "You are not among the answerers of this call."};
    if (call.claim && call.claim->until > d.at && call.claim->by != by) {
        return Error{Code::claimed, call.claim->by.name + " has claimed this call.",
                     object_json("until", to_ms(call.claim->until))};
    }
    for (Reassign::To const& to : c.to) {
        if (!is_asked(terms, to) || (!is_role(to.name) && to.roles.empty()))
            return Error{Code::forbidden,
                         "\"" + to.name +
                             "\" could not answer this call before. Name people who are asked "
                             "already, or ask an admin to reassign it.",
                         object_json("role", "admin")};
    }
    return std::nullopt;
}

// Refuses if too few people would be left to settle the call.
std::optional<Error> refuse_too_few(State const& state, Call const& call, Reassign const& c) {
    FITS(call.pause && state.turn);
    AnswerTerms const& terms = call.pause->terms.answer;
    std::size_t people = 0;
    for (Reassign::To const& to : c.to) {
        if (is_role(to.name)) return std::nullopt;
        bool const requester = terms.forbid_requester && state.turn->by.name == to.name;
        bool const voted = std::ranges::any_of(
            call.votes, [&](Vote const& vote) { return vote.by.name == to.name; });
        if (!requester && !voted) ++people;
    }
    if (people > 0 && people + call.votes.size() >= terms.need) return std::nullopt;
    std::string const need =
        std::to_string(terms.need - std::min<std::size_t>(call.votes.size(), terms.need - 1));
    return Error{Code::bad_value, "to must name people who can settle the call: it needs " + need +
                                      " more, who have not voted and are not the requester if "
                                      "that is excluded."};
}

}  // namespace

Result<Answer> handle(Decider& d, Reassign const& c) {
    Call const* const call = open_pause(d.state, c.pending);
    if (!call) return answer_closed(d, c.pending, std::nullopt);
    if (auto error = refuse_call(d.state, *call, c.pending)) return std::unexpected(*error);
    if (auto error = refuse_by(d, *call, c)) return std::unexpected(*error);
    if (auto error = refuse_too_few(d.state, *call, c)) return std::unexpected(*error);
    FITS(call->phase == CallPhase::waiting);
    std::vector<std::string> names;
    for (Reassign::To const& to : c.to) {
        if (!contains(names, to.name)) names.push_back(to.name);
    }
    if (names.empty() || names == call->pause->terms.answer.from) return done(d);
    d.emit(Reassigned{c.pending, std::move(names), call->pause->deadline, d.command.by});
    return done(d);
}

}  // namespace dormouse::session
