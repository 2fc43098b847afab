#include "http/streams/piece.h"

#include "json/json.h"

#include <array>
#include <limits>

namespace dormouse::http {

namespace {

using Kind = port::Delta::Kind;
constexpr std::array<std::string_view, 3> kinds{"text", "reasoning", "input"};

// Absent, negative or too large: nullopt.
template <class T> std::optional<T> number(json::View object, std::string_view name) {
    auto const n = object[name].integer();
    if (!n || *n < 0 || static_cast<std::uint64_t>(*n) > std::numeric_limits<T>::max())
        return std::nullopt;
    return static_cast<T>(*n);
}

std::optional<Writing> read_writing(json::View object) {
    auto const turn = number<TurnNo>(object, "turn");
    auto const step = number<std::uint32_t>(object, "step");
    auto const attempt = number<std::uint32_t>(object, "attempt");
    auto const updates = number<std::uint32_t>(object, "updates");
    if (!turn || !step || !attempt || !updates) return std::nullopt;
    return Writing{*turn, *step, *attempt, *updates};
}

std::optional<Kind> read_kind(std::string_view name) {
    for (std::size_t i = 0; i < kinds.size(); ++i)
        if (kinds[i] == name) return static_cast<Kind>(i);
    return std::nullopt;
}

}  // namespace

std::string write_piece(SessionId session, Piece const& piece) {
    json::Writer out;
    out.begin_object().member("session", session.text());
    out.member("turn", std::uint64_t{piece.of.turn}).member("step", piece.of.step);
    out.member("attempt", piece.of.attempt).member("updates", piece.of.updates);
    out.member("n", piece.n).member("part", std::uint64_t{piece.part});
    out.member("kind", kinds[static_cast<std::size_t>(piece.kind)]);
    if (piece.call > 0) out.member("call", piece.call).member("tool", piece.tool);
    out.member("offset", std::uint64_t{piece.offset}).member("text", piece.text);
    return out.end_object().take();
}

std::optional<SessionPiece> read_piece(std::string_view text) {
    auto const json = json::check(text);
    if (!json) return std::nullopt;
    json::View const object(*json);
    auto const session = SessionId::parse(object["session"].string_or(""));
    auto const of = read_writing(object);
    auto const kind = read_kind(object["kind"].string_or(""));
    auto const n = number<std::uint64_t>(object, "n");
    auto const part = number<std::size_t>(object, "part");
    auto const offset = number<std::size_t>(object, "offset");
    if (!session || !of || !kind || !n || !part || !offset) return std::nullopt;
    return SessionPiece{*session,
                        {*of, *n, *part, *kind, number<std::uint32_t>(object, "call").value_or(0),
                         object["tool"].string_or(""), *offset, object["text"].string_or("")}};
}

}  // namespace dormouse::http
