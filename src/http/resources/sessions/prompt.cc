#include "http/objects/objects.h"
#include "http/resources/sessions/handlers.h"
#include "http/resources/sessions/session_fields.h"

#include "json/json.h"

#include <algorithm>

namespace dormouse::http {

using namespace dormouse::session;

namespace {

struct AskedPrompt {
    Prompt command;
    Duration wait{};
};

Result<AskedPrompt> read_prompt(ExchangePtr const& x) {
    Query query{x->request};
    AskedPrompt asked;
    asked.wait = query.wait();
    Body body(json::View(x->body), prompt_request);
    if (query.error) body.refuse(*query.error);
    if (auto const when = body.string("when")) asked.command.when = parse<PromptMode>(*when);
    asked.command.reopen = body.boolean("reopen").value_or(false);
    auto const answers = body.string("answers");
    auto input = read_input(body);
    if (!input || body.error()) return std::unexpected(*body.error());
    if (answers) {
        asked.command.answers = PendingId::parse(*answers);
        bool const here =
            asked.command.answers && asked.command.answers->session.text() == x->params[0];
        if (!here) return std::unexpected(not_found());
    }
    asked.command.parts = input->parts;
    asked.command.files = std::move(input->files);
    asked.command.only_text = input->only_text;
    asked.command.answer_output = Json::trusted(json::quote(input->text));
    asked.command.answer_digest =
        sha256(json::canonical_object("output", asked.command.answer_output));
    return asked;
}

// Answers with the turn: 200 when it has ended or sleeps, 202 when the time is over.
// `from`: an event that is not after the turn's first one.
void answer_turn(Api& api, ExchangePtr const& x, SessionId session, TurnNo turn, Seq from) {
    read_history_from(
        api, session, from, [&api, x, session, turn, from](Result<Snapshot> snapshot) {
            if (!snapshot) return x->fail(snapshot.error());
            auto const known = snapshot->history.turns().find(turn);
            bool const whole = known != snapshot->history.turns().end() && known->second.input != 0;
            if (!whole && from > 1) return answer_turn(api, x, session, turn, 1);
            State const& state = snapshot->lane->state();
            bool const open = state.turn && state.turn->no == turn;
            bool const ended = snapshot->history.turns().at(turn).ended.has_value();
            bool const sleeps = open && activity(state) == Activity::waiting_async;
            x->json(ended || sleeps ? 200 : 202, turn_object(state, snapshot->history, turn));
        });
}

// Returns the first event of the prompt's turn; 1: unknown.
Seq first_event(State const& state, Answer const& answer) {
    if (state.turn && state.turn->no == answer.turn) return std::min(state.turn->input, answer.seq);
    bool const is_new = answer.outcome == Answer::Outcome::applied;
    return is_new ? answer.seq : 1;
}

// Returns true if the turn has ended (neither open nor queued) or sleeps.
bool turn_rests(State const& state, TurnNo turn) {
    if (state.turn && state.turn->no == turn) return activity(state) == Activity::waiting_async;
    for (QueuedInput const& input : state.queue) {
        if (input.turn == turn) return false;
    }
    return true;
}

void give_prompt(Api& api, ExchangePtr const& x, SessionId id, AskedPrompt asked) {
    Duration const wait = asked.wait;
    api.services().runner.command(
        id, std::move(asked.command), x->asker(), [&api, x, id, wait](Result<Answer> answer) {
            if (!answer) return x->fail(answer.error());
            bool const took_nothing =
                answer->turn == 0;  // a repeated answer to a question: the receipt has the turn
            if (wait == Duration(0) || took_nothing)
                return x->json(202, object_text(AcceptedPrompt{id, *answer}));
            api.services().runner.read_lane(id, [&api, x, id, wait, answer = *answer](auto lane) {
                if (!lane) return x->fail(lane.error());
                TurnNo const turn = answer.turn;
                Seq const from = first_event((*lane)->state(), answer);
                auto const rests = [turn](State const& state) { return turn_rests(state, turn); };
                wait_until(api, *lane, wait, x, rests,
                           [&api, x, id, turn, from] { answer_turn(api, x, id, turn, from); });
            });
        });
}

}  // namespace

void post_prompt(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    read_aside<AskedPrompt>(
        api, x, [x] { return read_prompt(x); },
        [&api, x, id = *id](AskedPrompt asked) { give_prompt(api, x, id, std::move(asked)); });
}

}  // namespace dormouse::http
