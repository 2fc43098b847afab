#pragma once
// One version of ACP: converts values to lines of the protocol and back. The driver decides which
// process runs and what its reports mean. Runs on the loop.
// Example: prompt("s1", blocks, then) writes a request; its answer calls `then` with a TurnEnd, and
// until then listener.on_update gets what the agent reports.

#include "acp/protocol_types.h"
#include "port/world.h"

#include <expected>
#include <functional>

namespace dormouse::acp {

class Dialect {
public:
    template <class T> using Answer = std::expected<T, Refusal>;
    // Called once, with the answer or a refusal. close() refuses open requests with
    // Refusal::Why::gone.
    template <class T> using Then = port::Fn<void(Answer<T>)>;
    // All callbacks outlive the dialect.
    struct Listener {
        std::function<void(std::string const& line)> write;
        std::function<void(Update)> on_update;  // of the session opened or continued last
        std::function<void(Question)> on_question;
    };

    virtual ~Dialect() = default;

    // Reads what the agent wrote. Returns false when a line is too long; after that the dialect
    // reads nothing. REQUIRES: no callback destroys the dialect.
    [[nodiscard]] virtual bool receive(std::string_view bytes) = 0;
    // Call it when the agent has ended: nothing is written any more.
    virtual void close() = 0;
    // The last line that was not a message; empty if there was none.
    [[nodiscard]] virtual std::string last_invalid_line() const = 0;
    [[nodiscard]] virtual std::string version() const = 0;  // for people

    virtual void greet(Then<Hello> then) = 0;
    virtual void sign_in(std::string const& login, Then<void> then) = 0;
    virtual void open(Place const& place, Then<Opened> then) = 0;
    // Continues a session. `with_past`: the agent replays the session's past before it answers.
    virtual void take_up(std::string const& session, Place const& place, bool with_past,
                         Then<Opened> then) = 0;
    // Lists the sessions of a folder from `cursor` on; empty: from the first one.
    virtual void list(std::string const& folder, std::string const& cursor, Then<Listed> then) = 0;
    virtual void set_mode(std::string const& session, std::string const& mode, Then<void> then) = 0;
    virtual void set_option(std::string const& session, std::string const& option,
                            Json const& value, Then<void> then) = 0;
    // `then` is called when the turn has ended, however this version reports that.
    // `trace`: what the agent is to pass on.
    virtual void prompt(std::string const& session, std::vector<Block> const& blocks,
                        session::TraceHeaders const& trace, Then<TurnEnd> then) = 0;
    // Asks the agent to stop. The prompt is answered later.
    virtual void cancel(std::string const& session) = 0;
    // Does nothing if the question is not open any more.
    virtual void answer(std::uint64_t question, Decision decision) = 0;
    // Asks the agent to release the session's resources; the agent keeps what it stored.
    virtual void close_session(std::string const& session, Then<void> then) = 0;
    virtual void remove_session(std::string const& session, Then<void> then) = 0;
};

}  // namespace dormouse::acp
