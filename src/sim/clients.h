#pragma once
// Clients of a runner: create sessions, prompt, submit (repeated, conflicting, early, late, to
// wrong ids), cancel and read; repeat unanswered requests; and compare every answer with what is
// durable at that instant.

#include "runner/runner.h"
#include "sim/checks/durable.h"
#include "sim/checks/history.h"
#include "sim/knobs.h"

#include <functional>
#include <memory>

namespace dormouse::sim {

class Clients {
public:
    // A process that accepts requests now.
    struct Server {
        runner::Runner* runner = nullptr;  // nullptr: none
        port::Loop* loop = nullptr;        // of the same process
    };
    // Any of them; asked for each request.
    using Up = std::function<Server()>;
    // All arguments must outlive this object. Observes `durable`, as clients do by webhooks and
    // reads.
    Clients(World& world, Durable& durable, Findings& findings, Knobs const& knobs, Up up);

    // Schedules all requests of the busy time.
    void begin();
    // Answers every call that would wait forever, as a person would.
    void answer_open();

    [[nodiscard]] History const& history() const { return history_; }
    [[nodiscard]] std::uint64_t requests() const { return requests_; }
    [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }

private:
    // Repeated as the same request until it is answered.
    struct Request {
        std::function<void(std::shared_ptr<Request> const&)> ask;
        unsigned tries = 1;
        bool answered = false;
    };

    void repeat(std::shared_ptr<Request> const& request);
    void start(std::function<void(std::shared_ptr<Request> const&)> ask, unsigned tries);
    [[nodiscard]] std::string name(std::string_view kind);
    [[nodiscard]] runner::Asker asker(std::string const& name, bool keyed) const;
    // False: the request may be repeated. Reports errors that no client should get.
    // `may_be_unknown`: the request named a run that did not pause, whose id only its tool knows,
    // or the disk fell back since: in the lost history the session may have been deleted.
    [[nodiscard]] bool is_answer(SessionId session, Error const& error,
                                 bool may_be_unknown = false);
    [[nodiscard]] bool never_paused(PendingId const& pending) const;
    // The disk lost events: clients know them no more.
    void forget(Durable::Lost const& lost);
    // Returns a check whether the disk fell back since this call: then an answer counts no more.
    [[nodiscard]] auto line() const {
        return [this, falls = durable_.falls()] { return durable_.falls() != falls; };
    }

    void create();
    void created(std::string const& name, SessionId session);
    void live(SessionId session);
    void prompt(SessionId session);
    void ask_prompt(std::shared_ptr<Request> const& request, SessionId session,
                    std::string const& name, bool keyed, session::Prompt const& prompt);
    void prompted(SessionId session, std::string const& name, session::Answer const& answer);
    void meddle(SessionId session);
    void cancel_turn(SessionId session);
    void move(SessionId session, session::Move::To to);
    void remove(SessionId session);
    void write_and_leave(SessionId session);
    void read(SessionId session);
    void check_read(SessionId session, Seq known, runner::Runner::Read const& read);
    void stream(SessionId session);
    static constexpr Duration stream_delay{4'000};
    void expect_events(port::Loop& loop, std::shared_ptr<runner::Lane> const& lane, Duration end);
    void check_stream(session::State const& state, Seq& cursor);
    void end_stream(runner::Runner& runner, std::shared_ptr<runner::Lane> const& lane,
                    std::uint64_t watch);
    void check_pauses(runner::Runner::Read const& read, std::uint64_t since);

    void on_event(SessionId session, session::Event const& event);
    void deliver(PendingId const& pending, session::PauseReason reason);
    void misdeliver(PendingId pending);
    void submit(PendingId const& pending, session::Submission const& what);
    void ask_submit(std::shared_ptr<Request> const& request, PendingId const& pending,
                    session::Submission const& what);
    void cancel_call(PendingId const& pending);
    void submitted(PendingId const& pending, std::size_t place,
                   Result<session::Answer> const& answer, bool lost);
    void answer_call(session::Call const& call);

    World& world_;
    Durable& durable_;
    Findings& findings_;
    Knobs const& knobs_;
    Up up_;
    History history_;
    std::map<std::string, SessionId> created_;  // by the request's name
    std::map<SessionId, Seq> known_;            // the newest event that a client knows of
    std::uint64_t names_ = 0;
    std::uint64_t aliases_ = 0;
    std::uint64_t requests_ = 0;
    std::uint64_t acknowledged_ = 0;
};

}  // namespace dormouse::sim
