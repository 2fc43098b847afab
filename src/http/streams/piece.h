#pragma once
// Pieces of a reply that is still being written, as processes with one store tell them each other.

#include <dormouse/error.h>
#include <dormouse/id.h>

#include "port/effects.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::http {

// Identifies the request whose reply is being written, and how much of the reply is durable. The
// order is that in which a session makes its requests.
struct Writing {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    std::uint32_t updates = 0;  // durable updates of an external agent
    friend auto operator<=>(Writing const&, Writing const&) = default;
    [[nodiscard]] bool same_request(Writing const& other) const {
        return turn == other.turn && step == other.step && attempt == other.attempt;
    }
};

struct Piece {
    Writing of;
    std::uint64_t n = 0;   // number of the piece; 0: the first one after the durable part
    std::size_t part = 0;  // of the draft, from 0
    port::Delta::Kind kind{};
    std::uint32_t call = 0;  // as in port::Delta
    std::string tool = {};
    std::size_t offset = 0;  // bytes of the part before it
    std::string text = {};
    friend bool operator==(Piece const&, Piece const&) = default;
};

struct DraftPlace {
    Writing of = {};
    std::size_t part = 0;
    std::size_t offset = 0;
};

// Returns the piece as one line of JSON.
[[nodiscard]] std::string write_piece(SessionId session, Piece const& piece);
struct SessionPiece {
    SessionId session;
    Piece piece;
};
// Returns nullopt if the text is not a piece.
[[nodiscard]] std::optional<SessionPiece> read_piece(std::string_view text);

}  // namespace dormouse::http
