#include "mcp_client/rounds.h"

namespace dormouse::mcp_client {
namespace {

constexpr std::string_view asks_people = "elicitation/create";

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

Question question_of(Json const& requests, std::string const& key) {
    auto question = read_question(json::View(requests)[key]["params"]);
    return question ? *std::move(question) : Question{};
}

Json copy_or_null(json::View value) { return value.exists() ? value.copy() : Json(); }

Round read_state(Json const& state) {
    json::View const round = json::View(state)["round"];
    auto const number = json::View(state)["number"].integer_or(0);
    return {.requests = round["requests"].copy(),
            .responses = round["responses"].copy(),
            .request_state = copy_or_null(round["requestState"]),
            .number = static_cast<unsigned>(number)};
}

}  // namespace

bool needs_input(json::View result) {
    return result["resultType"].string_or("") == "input_required";
}

std::expected<Round, std::string> read_round(json::View result, unsigned number) {
    json::View const requests = result["inputRequests"];
    if (requests.kind() != json::Kind::object || requests.size() == 0)
        return std::unexpected("its result asks for input, and does not say which");
    if (requests.size() > round_questions_max)
        return std::unexpected("its result asks for more than 10 inputs");
    std::string wrong;
    requests.members([&](std::string_view, json::View request) {
        auto const method = request["method"].string_or("");
        if (method != asks_people) wrong = "it asks for " + method + ", which is not offered";
        if (method != asks_people || !wrong.empty()) return;
        if (auto const question = read_question(request["params"]); !question)
            wrong = "its question is invalid: " + question.error();
    });
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    json::View const state = result["requestState"];
    if (state.raw().size() > request_state_bytes_max)
        return std::unexpected("its requestState must be at most 64 KiB");
    return Round{.requests = json::compact(requests.copy()),
                 .responses = Json::trusted("{}"),
                 .request_state = copy_or_null(state),
                 .number = number};
}

bool is_complete(Round const& round) { return json::View(round.requests).size() == 0; }

session::PauseTerms ask_next(Round round, std::string const& server, Duration limit,
                             std::string const& wrong) {
    auto const question = question_of(round.requests, first_key(round.requests));
    auto out = pause_of(question, server, limit, ++round.number, wrong);
    json::Writer kept;
    kept.begin_object().member("requests", round.requests).member("responses", round.responses);
    kept.member("requestState", round.request_state).end_object();
    out.state = with(out.state, "round", kept.json());
    return out;
}

bool is_round(Json const& state) { return json::View(state)["round"].kind() == json::Kind::object; }

Round round_after(Json const& state, session::Submission const& decision, std::string& wrong) {
    Round out = read_state(state);
    auto const key = first_key(out.requests);
    auto const question = question_of(out.requests, key);
    wrong = misfit(question, decision);
    if (!wrong.empty()) return out;
    out.responses = with(out.responses, key, answer_of(question, decision));
    out.requests = without(out.requests, key);
    return out;
}

Json with_input(Json const& params, Round const& round) {
    Json const out = with(params, "inputResponses", round.responses);
    return round.request_state.is_null() ? out : with(out, "requestState", round.request_state);
}

}  // namespace dormouse::mcp_client
