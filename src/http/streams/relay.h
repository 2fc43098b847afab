#pragma once
// Passes the text of a reply that one process of a shared store is writing to the readers at the
// other processes. On the loop.
//
// Each process announces the sessions that it has readers for, when a reader comes and every
// `renew_every`. The writer then sends its draft from the start, as numbered pieces every `apart`.
// A receiver that misses a number requests the draft from its start. So a reader gets each byte
// once, whatever is lost, and in the end the durable reply.

#include "base/scope.h"
#include "http/streams/drafts.h"
#include "port/world.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

class Relay {
public:
    struct Services {
        port::Loop& loop;
        Drafts const& drafts;
        // Sends this to all other processes. It may be lost.
        std::function<void(std::string_view)> publish;
    };
    // The result of handing on the next piece.
    enum class Taken : std::uint8_t {
        done,   // sent to the readers, or not needed any more
        early,  // this process has not read yet that this reply is being written: see caught_up()
        stale   // more is durable meanwhile: all that is not durable is needed again
    };
    using Take = std::function<Taken(SessionId, Piece const&)>;

    explicit Relay(Services services) : services_(std::move(services)) {}

    // The session has its first reader here.
    void opened(SessionId session);
    // The session has no reader here any more.
    void closed(SessionId session) { remote_drafts_.erase(session); }
    // This process has read what another one appended to the session.
    void caught_up(SessionId session);
    // This process has added to the session's draft.
    void added(SessionId session);
    // Handles a message of another process. If it is a piece, calls `take`.
    void on_message(Epoch from, std::string_view text, Take const& take);
    static constexpr Duration apart{50};
    static constexpr Duration renew_every{5'000};
    static constexpr int renewals_kept =
        3;  // after as many without an announcement, nothing is sent
    static constexpr std::size_t text_max = 7'800;  // of one message
    static constexpr std::size_t each_max = 4;      // pieces of a session at a time
    static constexpr std::size_t pieces_max = 32;   // of all sessions
    static constexpr std::size_t sessions_max = 65'536;

private:
    // A session that has readers elsewhere.
    struct Wanted {
        int renewals = 0;  // until it is forgotten
        DraftPlace place = {};
        std::uint64_t n = 0;
    };
    // The draft, written by another process, of a session that has readers here.
    struct RemoteDraft {
        enum class State : std::uint8_t { requested, early, following };
        State state = State::requested;  // from its start
        Epoch from = 0;
        std::uint64_t next = 0;
    };

    void ask(SessionId session, RemoteDraft& draft);
    void announce(std::string_view name, std::vector<SessionId> const& sessions);
    void want(std::string_view list, bool again);
    void renew();
    void renew_later();
    void send();
    bool send_some(SessionId session, Wanted& wanted, std::size_t& left);
    void take(Epoch from, SessionPiece const& received, Take const& take);

    Services const services_;
    std::map<SessionId, Wanted> wanted_;
    std::map<SessionId, RemoteDraft> remote_drafts_;
    SessionId last_ = {};   // the session that was served last
    bool sending_ = false;  // send() follows
    bool renewing_ = false;
    Scope scope_;
};

}  // namespace dormouse::http
