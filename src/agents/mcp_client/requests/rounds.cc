#include "mcp_client/requests/rounds.h"

#include "base/check.h"
#include "mcp_client/requests/sampling.h"
#include "mcp_client/requests/task.h"

#include <string_view>
#include <utility>

namespace dormouse::mcp_client {
namespace {

constexpr std::string_view asks_people = "elicitation/create";

Json empty_object() { return Json::trusted("{}"); }

// The object with another member, or with it replaced.
Json with(Json const& object, std::string_view name, Json const& value) {
    json::Writer out;
    out.begin_object();
    if (!object.is_null())
        json::View(object).members([&](std::string_view key, json::View member) {
            if (key != name) out.member_raw(key, member.raw());
        });
    return out.member(name, value).end_object().json();
}

Json without(Json const& object, std::string_view name) {
    json::Writer out;
    out.begin_object();
    json::View(object).members([&](std::string_view key, json::View member) {
        if (key != name) out.member_raw(key, member.raw());
    });
    return out.end_object().json();
}

std::string first_key(Json const& object) {
    std::string out;
    bool first = true;
    json::View(object).members([&](std::string_view key, json::View) {
        if (std::exchange(first, false)) out = key;
    });
    return out;
}

std::expected<Question, std::string> read_request(json::View request, bool sampling) {
    auto const method = request["method"].string_or("");
    bool const samples = sampling && method == sampling_method;
    if (method != asks_people && !samples)
        return std::unexpected("it asks for " + method + ", which is not offered");
    auto question = samples ? read_sample(request["params"]) : read_question(request["params"]);
    if (!question) return std::unexpected("its question is invalid: " + question.error());
    return question;
}

// The questions in `inputRequests`, as they are kept.
std::expected<Json, std::string> read_requests(json::View requests, bool sampling) {
    if (requests.kind() != json::Kind::object || requests.size() == 0)
        return std::unexpected("its result requests input, but names none");
    if (requests.size() > round_questions_max)
        return std::unexpected("its result asks for more than 10 inputs");
    std::string wrong;
    json::Writer out;
    out.begin_object();
    requests.members([&](std::string_view key, json::View request) {
        auto const question = read_request(request, sampling);
        if (question) out.member(key, written(*question));
        if (!question && wrong.empty()) wrong = question.error();
    });
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    return out.end_object().json();
}

Json copy_or_null(json::View value) { return value.exists() ? value.copy() : Json(); }
Json copy_or_empty(json::View value) { return value.exists() ? value.copy() : empty_object(); }

unsigned number_in(json::View state) {
    return static_cast<unsigned>(state["number"].integer_or(0));
}

}  // namespace

bool needs_input(json::View result) {
    return result["resultType"].string_or("") == "input_required";
}

std::expected<Round, std::string> read_round(json::View result, unsigned number, bool sampling) {
    auto requests = read_requests(result["inputRequests"], sampling);
    if (!requests) return std::unexpected(requests.error());
    json::View const state = result["requestState"];
    if (state.raw().size() > request_state_bytes_max)
        return std::unexpected("its requestState must be at most 64 KiB");
    return Round{.requests = *std::move(requests),
                 .responses = empty_object(),
                 .request_state = copy_or_null(state),
                 .number = number};
}

std::expected<Round, std::string> read_task_round(json::View task, Round const& earlier,
                                                  bool sampling) {
    auto requests = read_requests(task["inputRequests"], sampling);
    if (!requests) return std::unexpected(requests.error());
    Round out{.requests = empty_object(),
              .responses = empty_object(),
              .number = earlier.number,
              .by = AnswerBy::update,
              .task = earlier.task};
    json::View const answered(earlier.responses);
    json::View(*requests).members([&](std::string_view key, json::View request) {
        if (answered[key].exists())
            out.responses = with(out.responses, key, answered[key].copy());
        else
            out.requests = with(out.requests, key, request.copy());
    });
    return out;
}

std::string key_of_question(Question const& question) { return digest_text(question.digest); }

Round asked_round(Question const& question, Round const& earlier) {
    return {.requests = with(Json(), key_of_question(question), written(question)),
            .responses = empty_object(),
            .number = earlier.number,
            .by = AnswerBy::response,
            .task = earlier.task};
}

bool is_complete(Round const& round) { return json::View(round.requests).size() == 0; }

Question next_question(Round const& round) {
    json::View const request = json::View(round.requests)[first_key(round.requests)];
    // Pauses of earlier versions keep the server's request.
    if (request["method"].exists()) return read_request(request, false).value_or(Question{});
    return read_written(request);
}

void answer_next(Round& round, Json const& response) {
    auto const key = first_key(round.requests);
    round.responses = with(round.responses, key, response);
    round.requests = without(round.requests, key);
}

session::PauseTerms ask_next(Round round, std::string const& server, Duration limit,
                             std::string const& wrong) {
    auto out = pause_of(next_question(round), server, limit, ++round.number, wrong);
    json::Writer kept;
    kept.begin_object().member("requests", round.requests).member("responses", round.responses);
    kept.member("requestState", round.request_state);
    if (!round.task.empty())
        kept.member("task", round.task).member("update", round.by == AnswerBy::update);
    out.state = with(out.state, "round", kept.end_object().json());
    return out;
}

bool is_round(Json const& state) { return json::View(state)["round"].kind() == json::Kind::object; }

Round round_in(Json const& state) {
    json::View const round = json::View(state)["round"];
    Round out{.requests = round["requests"].copy(),
              .responses = round["responses"].copy(),
              .request_state = copy_or_null(round["requestState"]),
              .number = number_in(json::View(state)),
              .task = round["task"].string_or("")};
    if (out.task.empty()) return out;
    out.by = round["update"].boolean_or(false) ? AnswerBy::update : AnswerBy::response;
    return out;
}

session::PauseTerms task_pause(Round const& round, Duration limit) {
    CHECK(!round.task.empty());
    auto out = pause_of(TaskState{.id = round.task}, limit);
    json::Writer state;
    state.begin_object().member("answers", round.responses).member("number", round.number);
    out.state = state.end_object().json();
    return out;
}

Round answers_in(Json const& state, std::string const& task) {
    json::View const kept(state);
    return {.requests = empty_object(),
            .responses = copy_or_empty(kept["answers"]),
            .number = number_in(kept),
            .by = AnswerBy::update,
            .task = task};
}

Json with_input(Json const& params, Round const& round) {
    Json const out = with(params, "inputResponses", round.responses);
    return round.request_state.is_null() ? out : with(out, "requestState", round.request_state);
}

Json update_params(Round const& round) {
    return with(task_params(round.task), "inputResponses", round.responses);
}

}  // namespace dormouse::mcp_client
