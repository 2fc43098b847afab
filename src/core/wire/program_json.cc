#include "wire/program_json.h"

#include "wire/event_json.h"

namespace dormouse::wire {

using namespace dormouse::session;

void write_news(json::Writer& out, News const& what) {
    out.member("kind", text(what.kind));
    if (what.begins) out.member("begins", true);
    if (what.kind == NewsKind::tool) {
        out.member("toolCallID", what.tool_call).member("status", text(what.status));
        if (!what.title.empty()) out.member("title", what.title);
    }
    out.member("body", what.body);
}

News read_news(json::View object) {
    News out;
    out.kind = parse<NewsKind>(object["kind"].string_or("")).value_or(NewsKind::plan);
    out.begins = object["begins"].boolean_or(false);
    out.tool_call = object["toolCallID"].string_or("");
    out.title = object["title"].string_or("");
    out.status =
        parse<AgentToolStatus>(object["status"].string_or("")).value_or(AgentToolStatus::pending);
    if (object["body"].exists()) out.body = object["body"].copy();
    return out;
}

namespace {

void write_verdict(json::Writer& out, Verdict const& verdict) {
    out.begin_object().member("call", verdict.call).member("seq", verdict.seq);
    out.member("attempt", verdict.attempt).member("ask", verdict.ask);
    out.member("toolCallID", verdict.tool_call).member("tool", verdict.tool);
    out.member("digest", digest_text(verdict.input_digest)).member("approved", verdict.approved);
    out.member("cancelled", verdict.cancelled).member("granted", verdict.granted);
    out.member("told", verdict.told);
    if (verdict.shown) out.member("shown", digest_text(*verdict.shown));
    out.end_object();
}

Verdict read_verdict(json::View v) {
    auto const number = [&](std::string_view name) {
        return static_cast<std::uint32_t>(v[name].integer_or(0));
    };
    Verdict out{
        number("call"),
        static_cast<Seq>(v["seq"].integer_or(0)),
        number("attempt"),
        number("ask"),
        v["toolCallID"].string_or(""),
        v["tool"].string_or(""),
        read_digest(v["digest"]),
        v["approved"].boolean_or(false),
        v["cancelled"].boolean_or(false),
        v["granted"].boolean_or(false),
        v["told"].boolean_or(true)};  // written before this was known: a person is asked again
    if (v["shown"].exists()) out.shown = read_digest(v["shown"]);
    return out;
}

}  // namespace

void write_program_turn(json::Writer& out, ProgramTurn const& turn) {
    if (turn == ProgramTurn()) return;
    out.key("program").begin_object().member("seen", turn.seen).member("updates", turn.updates);
    out.member("message", turn.message).member("heard", turn.heard).member("goOn", turn.go_on);
    out.key("tools").begin_array();
    for (auto const& [id, title] : turn.tools) out.begin_array().value(id).value(title).end_array();
    out.end_array().key("lost").begin_array();
    for (std::string const& title : turn.lost) out.value(title);
    out.end_array().key("verdicts").begin_array();
    for (Verdict const& verdict : turn.verdicts) write_verdict(out, verdict);
    out.end_array().end_object();
}

ProgramTurn read_program_turn(json::View object) {
    ProgramTurn out;
    out.seen = static_cast<Seq>(object["seen"].integer_or(0));
    out.updates = static_cast<std::uint32_t>(object["updates"].integer_or(0));
    out.message = static_cast<Seq>(object["message"].integer_or(0));
    out.heard = object["heard"].boolean_or(false);
    out.go_on = object["goOn"].boolean_or(false);
    object["tools"].elements([&](json::View tool) {
        std::vector<std::string> pair;
        tool.elements([&](json::View text) { pair.push_back(text.string_or("")); });
        if (pair.size() == 2) out.tools[pair[0]] = pair[1];
    });
    object["lost"].elements([&](json::View title) { out.lost.push_back(title.string_or("")); });
    object["verdicts"].elements([&](json::View v) { out.verdicts.push_back(read_verdict(v)); });
    return out;
}

}  // namespace dormouse::wire
