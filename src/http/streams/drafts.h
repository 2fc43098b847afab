#pragma once
// The text of replies in progress. A reader that joins in mid-turn receives it first, so that every
// reader has each part from its beginning. On the loop.

#include "port/effects.h"
#include "wire/journal/record.h"

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace dormouse::http {

class Drafts {
public:
    // The limit of one reply. A longer draft is not kept, and a reader that joins waits for the
    // durable reply.
    static constexpr std::size_t bytes_max = std::size_t{512} << 10;

    // Adds the next piece of the session's reply and returns its frame `delta`.
    [[nodiscard]] std::string add(SessionId session, session::AskModel const& ask,
                                  port::Delta const& delta);
    // Removes what these durable records contain or void.
    void appended(SessionId session, std::vector<wire::RecordPtr> const& records);
    // Forgets the session's draft.
    void erase(SessionId session) { drafts_.erase(session); }

    // Returns the frames of the draft so far, one for each part that is not durable yet. Empty:
    // this turn has no draft.
    [[nodiscard]] std::string so_far(SessionId session, TurnNo turn) const;
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
    struct Draft {
        session::AskModel ask;
        std::deque<Part> parts;  // not durable, oldest first
        std::size_t begun = 0;   // parts that were ever started
        std::size_t bytes = 0;   // of the texts
        bool whole = true;
    };

    static Part& part_of(Draft& draft, port::Delta const& delta);
    static void confirm(Draft& draft, port::Delta::Kind kind, std::size_t bytes);
    static std::string frame(SessionId session, session::AskModel const& ask, Part const& part,
                             std::size_t offset, std::string_view text);

    std::unordered_map<SessionId, Draft> drafts_;
};

}  // namespace dormouse::http
