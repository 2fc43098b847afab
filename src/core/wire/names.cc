#include "wire/names.h"

#include "base/enum_words.h"
#include "base/text/text.h"
#include "json/json.h"

namespace dormouse::wire {

std::string call_text(CallNo call) { return "call_" + std::to_string(call); }

std::optional<CallNo> parse_call(std::string_view text) {
    if (!text.starts_with("call_")) return std::nullopt;
    auto const number = parse_number(text.substr(5));
    if (!number || *number == 0 || *number > UINT32_MAX) return std::nullopt;
    return static_cast<CallNo>(*number);
}

std::string actor_text(session::Actor const& actor) {
    std::string out(session::text(actor.type));
    if (!actor.name.empty()) out += ":" + actor.name;
    return out;
}

session::Actor parse_actor(std::string_view text) {
    auto const colon = text.find(':');
    session::Actor actor;
    actor.type = session::parse<session::ActorType>(text.substr(0, colon))
                     .value_or(session::ActorType::runtime);
    if (colon != std::string_view::npos) actor.name = text.substr(colon + 1);
    return actor;
}

Json cost_json(session::Cost const& cost) {
    if (cost.empty()) return {};
    json::Writer out;
    out.begin_object();
    for (auto const& [currency, micros] : cost) out.member(currency, micros);
    return out.end_object().json();
}

std::string_view source_text(session::InputSource source) { return word_of(source); }

session::InputSource parse_source(std::string_view text) {
    return from_word<session::InputSource>(text).value_or(session::InputSource::external);
}

}  // namespace dormouse::wire
