// The part of the agent that reads the streams of its sessions.

#include "acp_agent/agent.h"

#include "base/url.h"
#include "cli/client/fault.h"

#include <algorithm>
#include <ostream>

namespace dormouse::acp_agent {

using cli::bad_params;

namespace {

constexpr int pause_max_s = 30;

}  // namespace

void AcpAgent::connect(std::string const& id, Session& session) {
    session.stream = client_.open("/api/sessions/" + percent_encode(id) + "/events", session.after);
}

// Sessions outlive a restart of the server: it is retried as long as the editor is connected.
void AcpAgent::lost(std::string const& id, Session& session, Failure const& why) {
    session.stream.reset();
    if (!is_away(why)) {
        log_ << "dormouse acp: " << id << ": " << text(why) << std::flush;
        AcpReport gone;
        gone.gone = true;
        return forward(id, session, gone);
    }
    if (session.tries == 1)
        log_ << "dormouse acp: the server cannot be reached; trying again\n" << std::flush;
    auto const pause = std::min(1 << std::min(session.tries++, 10), pause_max_s);
    session.again = std::chrono::steady_clock::now() + std::chrono::seconds(pause);
}

void AcpAgent::read_stream(std::string const& id, Session& session) {
    if (!session.stream) return;
    auto const events = session.stream->read();
    if (!events) return lost(id, session, events.error());
    for (SseEvent const& event : *events) {
        session.tries = 0;
        auto const data = json::check(event.data);
        if (!data) continue;
        if (!event.id.empty()) session.after = event.id;
        auto const report = session.updates.on_event(event.name, json::View(*data), false);
        forward(id, session, report);
        if (report.gone) return;
    }
}

void AcpAgent::update(std::string const& session, Json const& update) {
    json::Writer out;
    out.begin_object().member("sessionId", session).member("update", update).end_object();
    stdio_.write(rpc::notification("session/update", out.json()));
}

void AcpAgent::forward(std::string const& id, Session& session, AcpReport const& report) {
    for (Json const& each : report.updates) update(id, each);
    for (std::string const& pending : report.settled) drop_ask(session, pending);
    for (std::string const& pending : report.asked) ask(id, session, pending);
    for (AcpEnd const& end : report.ends) {
        if (end.turn == session.prompt.turn) end_prompt(session, end);
    }
    // A person's answer is the next prompt, so the current one must be answered.
    if (report.rests && !session.prompt.turn.empty())
        end_prompt(session, {.stop_reason = "end_turn"});
    if (!report.gone) return;
    if (!session.prompt.turn.empty()) end_prompt(session, {.error = "the session does not exist"});
    for (auto const& [pending, request] : session.asks) asks_.erase(request);
    session.stream.reset();
    session.gone = true;
}

void AcpAgent::end_prompt(Session& session, AcpEnd const& end) {
    auto const prompt = std::exchange(session.prompt, {});
    if (end.stop_reason.empty()) {
        return answer(prompt.id, std::unexpected(rpc::Fault{.code = rpc::code::internal_error,
                                                            .message = end.error}));
    }
    json::Writer out;
    answer(prompt.id, out.begin_object().member("stopReason", end.stop_reason).end_object().json());
}

void AcpAgent::ask(std::string const& id, Session& session, std::string const& pending) {
    auto const reply = client_.get("/async-tool/pending/" + percent_encode(pending));
    if (!reply) {
        log_ << "dormouse acp: " << pending << ": " << text(reply.error()) << std::flush;
        return;
    }
    json::View const call(reply->body);
    auto const word = call["status"].string_or("");
    if (word != "waiting" && word != "processing") return;  // its end will be reported
    AcpAsk const asked = acp_ask(id, call, session.updates.of_doubt(pending), forms_);
    if (asked.choice == AcpChoice::words) {
        session.updates.ask_in_words(pending);
        session.words[pending] = asked;
        return send_text(id, acp_words_of(asked));
    }
    auto const question =
        acp_question(asked, call, session.updates.tool_call_id(call["callID"].string_or("")));
    auto const number = ++requests_;
    session.asks[pending] = number;
    asks_[number] = asked;
    stdio_.write(rpc::request(number, question.method, question.params));
}

// The call was decided elsewhere, or its time has passed.
void AcpAgent::drop_ask(Session& session, std::string const& pending) {
    auto const found = session.asks.find(pending);
    if (found == session.asks.end()) return;
    json::Writer out;
    out.begin_object().member("requestId", found->second).end_object();
    stdio_.write(rpc::notification("$/cancel_request", out.json()));
    asks_.erase(found->second);
    session.asks.erase(found);
}

void AcpAgent::take_answer(rpc::Message const& message) {
    auto const number = json::View(message.id).integer();
    auto const found = number ? asks_.find(static_cast<std::uint64_t>(*number)) : asks_.end();
    if (found == asks_.end()) return;
    auto const asked = found->second;
    asks_.erase(found);
    if (auto const session = sessions_.find(asked.session); session != sessions_.end())
        session->second.asks.erase(asked.pending);
    if (message.fault) {
        log_ << "dormouse acp: the editor did not ask: " << message.fault->message << '\n';
        return;
    }
    // Cancelled: no decision was made, and the call still waits for one.
    auto const body = acp_decision(asked, json::View(message.result));
    if (!body) return;
    auto const reply = client_.post("/async-tool/decision", *body);
    if (reply) return;
    log_ << "dormouse acp: the decision was rejected: " << text(reply.error()) << std::flush;
    send_text(asked.session, "(The decision was rejected: " + reply.error().what + ".)");
}

void AcpAgent::send_text(std::string const& session, std::string const& text) {
    json::Writer chunk;
    chunk.begin_object().member("sessionUpdate", "agent_message_chunk").key("content");
    chunk.begin_object().member("type", "text").member("text", text).end_object();
    update(session, chunk.end_object().json());
}

bool AcpAgent::answer_in_words(Json const& id, Session& session, AcpInput const& input) {
    auto const& questions = session.updates.questions();
    auto const found =
        questions.empty() ? session.words.end() : session.words.find(questions.front());
    if (input.member != "text" || found == session.words.end()) return false;
    auto const body = acp_decision_in_words(found->second, json::View(input.value).string_or(""));
    if (!body) {
        answer(id, bad_params(body.error()));
        return true;
    }
    auto const reply = client_.post("/async-tool/decision", *body);
    if (!reply) {
        answer(id, std::unexpected(fault_of(reply.error())));
        return true;
    }
    session.words.erase(found);
    session.prompt = {.id = id, .turn = session.updates.open_turn()};
    session.used = ++uses_;
    return true;
}

}  // namespace dormouse::acp_agent
