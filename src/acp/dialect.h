#pragma once
// One version of the protocol that programs speak (ACP): values in, lines out, and the other way
// round. Which process it is and what is done with its words is the driver's business. On the loop.

#include "acp/words.h"
#include "port/world.h"

#include <expected>
#include <functional>

namespace dormouse::acp {

class Dialect {
public:
    template <class T> using Answer = std::expected<T, Refusal>;
    // Comes once: with the answer, or refused; of an open one when close() is called with
    // Refusal::Why::gone.
    template <class T> using Then = port::Fn<void(Answer<T>)>;
    // All outlive the dialect.
    struct Ears {
        std::function<void(std::string const& line)> write;
        std::function<void(Said)> said;  // of the session that was opened or taken up last
        std::function<void(Question)> asked;
    };

    virtual ~Dialect() = default;

    // What the program wrote. False: a line is longer than may be, and nothing more is read. The
    // dialect may be destroyed only after this has returned.
    [[nodiscard]] virtual bool receive(std::string_view bytes) = 0;
    // The program has ended: nothing is written any more.
    virtual void close() = 0;
    // The last line that it wrote and that is no message; empty: there was none.
    [[nodiscard]] virtual std::string nonsense() const { return {}; }
    [[nodiscard]] virtual std::string version() const = 0;  // for people

    virtual void greet(Then<Hello> then) = 0;
    virtual void sign_in(std::string const& login, Then<void> then) = 0;
    virtual void open(Place const& place, Then<Opened> then) = 0;
    // `with_past`: what was said in it is told before the answer.
    virtual void take_up(std::string const& session, Place const& place, bool with_past,
                         Then<Opened> then) = 0;
    // Of a folder, from `cursor` on; empty: from the first one.
    virtual void list(std::string const& folder, std::string const& cursor, Then<Listed> then) = 0;
    virtual void set_mode(std::string const& session, std::string const& mode, Then<void> then) = 0;
    virtual void set_option(std::string const& session, std::string const& option,
                            Json const& value, Then<void> then) = 0;
    // Answered when the turn has ended, in whichever way the program tells it.
    virtual void prompt(std::string const& session, std::vector<Block> const& blocks,
                        Then<TurnEnd> then) = 0;
    // The prompt is answered some time later.
    virtual void cancel(std::string const& session) = 0;
    // Of a question that is not open any more: nothing.
    virtual void answer(std::uint64_t question, Decision decision) = 0;
    // The program may let go of it; what it keeps stays.
    virtual void close_session(std::string const& session, Then<void> then) = 0;
    virtual void remove_session(std::string const& session, Then<void> then) = 0;
};

}  // namespace dormouse::acp
