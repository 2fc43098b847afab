#pragma once
// Text of replies that one process of a shared store is writing, for readers at the others.
//
// A process says which sessions have readers there, when one comes and every `renew_every`. The
// process that writes a reply then says its draft so far and what follows, as pieces with numbers,
// every `apart`. Who misses a number asks for the beginning again: a reader gets each byte once,
// whatever is lost, and at last the durable reply. On the loop.

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
    struct World {
        port::Loop& loop;
        Drafts const& drafts;
        // Says this to all other processes, which may not hear it.
        std::function<void(std::string_view)> say;
    };
    // What became of a piece that follows those before it.
    enum class Taken : std::uint8_t {
        done,   // sent to the readers, or not needed any more
        early,  // this process has not read yet that this reply is being written: see caught_up()
        stale   // what is durable has grown meanwhile: all that is not is needed again
    };
    using Take = std::function<Taken(SessionId, Piece const&)>;

    explicit Relay(World world) : world_(std::move(world)) {}

    // The session has its first reader here.
    void opened(SessionId session);
    // It has none any more.
    void closed(SessionId session) { heard_.erase(session); }
    // This process has read what another one appended to the session.
    void caught_up(SessionId session);
    // This process has added to the session's draft.
    void added(SessionId session);
    // Another process said this. Gives a piece of it to `take`.
    void said(Epoch from, std::string_view text, Take const& take);
    static constexpr Duration apart{50};
    static constexpr Duration renew_every{5'000};
    static constexpr int renewals_kept = 3;         // without one, nothing is said for a session
    static constexpr std::size_t text_max = 7'800;  // of what is said at once
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
    // What another process says of a session that is read here.
    struct Heard {
        enum class State : std::uint8_t { asked, early, follows };
        State state = State::asked;  // for the beginning
        Epoch from = 0;
        std::uint64_t next = 0;
    };

    void ask(SessionId session, Heard& heard);
    void say_read(std::string_view name, std::vector<SessionId> const& sessions);
    void want(std::string_view list, bool again);
    void renew();
    void renew_later();
    void send();
    bool send_some(SessionId session, Wanted& wanted, std::size_t& left);
    void take(Epoch from, SessionPiece const& said, Take const& take);

    World const world_;
    std::map<SessionId, Wanted> wanted_;
    std::map<SessionId, Heard> heard_;
    SessionId last_ = {};   // the session that was served last
    bool sending_ = false;  // send() follows
    bool renewing_ = false;
    Scope scope_;
};

}  // namespace dormouse::http
