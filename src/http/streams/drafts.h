#pragma once
// The text of replies in progress. A reader that joins in mid-turn receives it first, so that every
// reader has each part from its beginning. On the loop.

#include "http/streams/piece.h"
#include "port/effects.h"
#include "wire/journal/record.h"

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace dormouse::http {

class Drafts {
public:
    // The limit of one reply. A longer draft is not kept, and a reader that joins waits for the
    // durable reply.
    static constexpr std::size_t bytes_max = std::size_t{512} << 10;
    static constexpr std::size_t parts_max = 1'000;  // texts of calls may come in turn

    // Adds the next piece of the session's reply and returns its frame `delta`.
    [[nodiscard]] std::string add(SessionId session, session::AskModel const& ask,
                                  port::Delta const& delta);
    // Adds it without a frame: nobody reads the session.
    void add_unread(SessionId session, session::AskModel const& ask, port::Delta const& delta);
    // Adds a piece of a draft that another process writes, and returns the frame of what is new in
    // it; empty: nothing. `known`: the session's newest event of which the caller knows that it
    // does not void the piece.
    [[nodiscard]] std::string mirror(SessionId session, Piece const& piece, Seq known);
    // Removes the text that these durable records contain or make void. Records of another process
    // may be read twice: those that mirror() already knew of remove nothing.
    void appended(SessionId session, std::vector<wire::RecordPtr> const& records);
    // Forgets the session's draft.
    void erase(SessionId session) { drafts_.erase(session); }

    // Returns the frames of the draft so far, one for each part that is not durable yet. Empty:
    // this turn has no draft.
    [[nodiscard]] std::string so_far(SessionId session, TurnNo turn) const;
    // Returns the reply that the session's draft belongs to; nullopt: there is no draft.
    [[nodiscard]] std::optional<Writing> writing(SessionId session) const;
    // Returns what follows `place` in the draft, at most `bytes`, and moves it there; a place
    // in another draft counts as the beginning. nullopt: nothing follows, the draft is too long, or
    // another process writes it.
    [[nodiscard]] std::optional<Piece> next(SessionId session, DraftPlace& place,
                                            std::size_t bytes) const;
    // Returns false if the draft is too long to be sent from its beginning.
    [[nodiscard]] bool whole(SessionId session) const;

private:
    struct Part {
        std::size_t number = 0;
        port::Delta::Kind kind{};
        std::uint32_t call = 0;
        std::string tool;
        std::size_t end = 0;  // bytes of the part so far
        std::string text;     // the end of the part that is not durable
    };
    enum class Writer : std::uint8_t { here, elsewhere };
    struct Draft {
        session::AskModel ask;
        Writer writer = Writer::here;
        std::deque<Part> parts;     // not durable, oldest first
        std::size_t begun = 0;      // parts that were ever started
        std::size_t bytes = 0;      // of the texts
        std::uint32_t updates = 0;  // of an external agent, that are durable
        bool whole = true;
        Seq known = 0;  // see mirror()
    };

    Draft& draft_of(SessionId session, session::AskModel const& ask);
    static Writing writing_of(Draft const& draft);
    static void keep(Draft& draft, Part& part, std::string_view text);
    static Part& part_of(Draft& draft, port::Delta const& delta);
    static void confirm(Draft& draft, port::Delta::Kind kind, std::size_t bytes);
    static std::string frame(SessionId session, session::AskModel const& ask, Part const& part,
                             std::size_t offset, std::string_view text);

    std::unordered_map<SessionId, Draft> drafts_;
};

}  // namespace dormouse::http
