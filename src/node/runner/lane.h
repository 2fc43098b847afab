#pragma once
// A lane drives one session. It is an output gate: while an append is on its way it is closed, and
// what comes waits in the inbox. When the append is durable, all that it caused leaves (answers,
// records, effects); then all that waited is decided, in order, into one append. So state() is
// durable whenever anyone can see it, and nothing leaves before it is.
//
// THE FILE TO READ FIRST. One command's way: receive → turn → load (if memory is empty) → look_up
// (closed things) → decide_batch (check, decide, apply, encode) → JournalWriter → release (answers,
// readers, effects) → reopen. A submission whose values take long to check waits beside the inbox
// meanwhile (set_aside). Everything here runs on the loop.

#include "port/effects.h"
#include "runner/journal_writer.h"
#include "runner/reading.h"
#include "runner/submission_check.h"
#include "session/decide.h"

#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace dormouse::wire {
class History;
}

namespace dormouse::runner {

class Lane;
struct Beside;

// About the bytes of memory that a record takes: its text, and the same once more as values.
[[nodiscard]] std::size_t weight_of(wire::Record const& record);

// What a runner that drains answers to commands.
[[nodiscard]] Error stopping();

// What a caller may touch.
struct Rights {
    std::vector<std::string> projects = {};  // sessions of these; empty: of all
    // Roles as which it may answer, besides its name ("role:approve"); nullopt: all.
    std::optional<std::vector<std::string>> roles = {};
};

// A command, when it came, and the random bytes drawn for it.
struct Incoming {
    session::Command command;
    Time at{};
    Random random{};
    Rights rights = {};
};

// What lanes share, and what a lane asks of its runner.
class Host {
public:
    virtual ~Host() = default;
    [[nodiscard]] virtual Time now() const = 0;
    [[nodiscard]] virtual Random random() = 0;
    // The number of the next new session, and that `count` of them are used from now on.
    [[nodiscard]] virtual std::uint64_t next_session() const = 0;
    virtual void take_sessions(std::uint64_t count) = 0;
    [[nodiscard]] virtual Epoch epoch() const = 0;
    [[nodiscard]] virtual session::Limits const& limits() const = 0;
    [[nodiscard]] virtual session::MailPolicy mail_policy(std::string const& project) const = 0;
    // Sessions of the one project may write to those of the other.
    [[nodiscard]] virtual bool may_mail(std::string const& from, std::string const& to) const = 0;
    [[nodiscard]] virtual SubmissionCheck::World checks() const = 0;
    [[nodiscard]] virtual port::Journal& journal() = 0;
    [[nodiscard]] virtual JournalWriter& writer() = 0;
    [[nodiscard]] virtual port::Effects& effects() = 0;
    [[nodiscard]] virtual port::AgentTerms const& agents() const = 0;
    // An effect's outcome, for the session's lane, which may be another object by now.
    virtual void offer(SessionId session, session::EffectId id, session::Command::Body outcome) = 0;
    // The same after a second: the store did not take it.
    virtual void offer_later(SessionId session, session::EffectId id,
                             session::Command::Body outcome) = 0;
    // The store did not take or give what a lane asked of it; after fail_stop it never will again
    // (P10).
    virtual void store_failed(Error const& error) = 0;
    // The lane wants a tick at `at` (the scan would bring it within a second or two).
    virtual void wake_soon(SessionId session, Time at) = 0;
    // These records of the lane have become durable; its state() holds them.
    virtual void appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) = 0;
    // What is sent to others than sessions because of these records of one command, which have not
    // been stored yet; rows of the append that brings them. `state` is the one after them.
    [[nodiscard]] virtual std::vector<port::PostRow> outgoing(
        session::State const& state, std::span<wire::RecordPtr const> records,
        std::vector<session::PendingChange> const& changes) = 0;
    // What the lane sent with them, which is durable too.
    virtual void posted(std::vector<port::PostRow> posts) = 0;
    // The lane has nothing in flight and may be put away.
    virtual void rested(SessionId session) = 0;
    virtual void delta(SessionId session, session::AskModel const& ask,
                       port::Delta const& delta) = 0;
    [[nodiscard]] virtual bool draining() const = 0;
};

class Lane : public std::enable_shared_from_this<Lane> {
public:
    using Reply = port::Fn<void(Result<session::Answer>)>;
    using Look = port::Fn<void(Result<Lane const*>)>;

    // `host` outlives this. `fresh`: the session was never stored (its first command creates it).
    Lane(SessionId id, Host& host, bool fresh);

    // Answers with overloaded when 10,000 wait. `create_key` goes with the append of a create.
    void receive(Incoming incoming, Reply reply);
    // The same for a command that prepare() has passed.
    void receive_prepared(Incoming incoming, Reply reply);
    // Checks a command and puts an output over `output_bytes` aside. It takes time by the bytes of
    // the command. Any thread. Errors: bad_value.
    [[nodiscard]] static Result<void> prepare(session::Command& command, std::size_t output_bytes);
    // Calls back with the lane when everything before it is durable, so that reads see only that.
    // Not found is an error.
    void look(Look look);
    // Taken up by dispatch: the outcome of an effect. Offered again until it has been answered.
    void offer(session::EffectId id, session::Command::Body outcome);
    // The same for one that prepare() has passed.
    void offer_prepared(session::EffectId id, session::Command::Body outcome);

    // `wake` is called after every append that became durable, until unwatch(). It must not destroy
    // the lane.
    [[nodiscard]] std::uint64_t watch(port::Fn<void()> wake);
    void unwatch(std::uint64_t id);

    [[nodiscard]] SessionId id() const { return id_; }
    // Durable. REQUIRES: called from a look or a wake.
    [[nodiscard]] session::State const& state() const { return *state_; }
    [[nodiscard]] bool loaded() const { return state_.has_value(); }
    // The newest records, oldest first; all of them when recent_from_start(), which REQUIRES what
    // state() does.
    [[nodiscard]] std::vector<wire::RecordPtr> const& recent() const { return recent_; }
    [[nodiscard]] bool recent_from_start() const {
        if (state_->base.through != 0) return false;
        return recent_.empty() || recent_.front()->event.seq == 1;
    }

    [[nodiscard]] bool may_sleep() const;
    // About the bytes of memory that it takes: its records (as bytes and as values), its state and
    // what it has closed.
    [[nodiscard]] std::size_t weight() const;
    // Its session was deleted, or never was.
    [[nodiscard]] bool gone() const;
    // When a tick would next do something that nothing in this process sees to already.
    [[nodiscard]] std::optional<Time> next_time() const;
    // The first gate that a call waits for because it is not there.
    [[nodiscard]] std::optional<std::string> missing_gate() const;
    // True when a tick at `now` could do something that nothing else in this process will.
    [[nodiscard]] bool wants_tick(Time now) const;
    void set_create_key(Bits128 key) { create_key_ = key; }
    [[nodiscard]] std::size_t effects_running() const { return running_.size(); }
    // It runs no more, or was not started after all.
    void forget_effect(session::EffectId id);
    // The runner goes. What waits here goes unanswered; some of it holds this lane.
    void abandon();

private:
    struct Asked {
        Incoming incoming;
        Reply reply;
        Look look;  // set: a read, and no command
        session::Found found = {};
        bool looked_up = false;
        std::shared_ptr<SubmissionCheck> check = {};  // of the values that the command brings
    };
    struct Answered {
        Reply reply;
        Result<session::Answer> answer;
        Look look;
    };

    void turn();
    void load();
    [[nodiscard]] bool repairs() const;
    void write_rows_anew(port::Append& append);
    void loaded(Result<LoadedSession> loaded);
    void take_up_state(LoadedSession loaded);
    // A step that finds no memory ends as one does that the store refuses: forget().
    void unless_exhausted(std::function<void()> const& step);
    void look_up_closed();
    void decide_waiting();
    void take_up_commit();
    [[nodiscard]] session::Adopt adoption() const;
    void look_up();
    void decide_batch();
    void decide_one(Asked& asked, struct Draft& draft);
    [[nodiscard]] bool may_touch(Rights const& rights) const;
    [[nodiscard]] session::Context context_of(Asked& asked) const;
    [[nodiscard]] bool check_values(Asked& asked, session::Context& context);
    void set_aside(Asked asked);
    void take_back(Asked asked);
    void write_down(Asked const& asked, Beside const& beside,
                    std::vector<session::InboxItem> const& held, session::Decision decision,
                    struct Draft& draft);
    void take_up(session::PostKey const& post, session::Command const& command,
                 session::Decision const& decision, port::Append& append);
    void keep_waiting(std::vector<Asked> rest);
    void send(struct Draft draft);
    void committed(Result<void> durable);
    void release();
    void forget_cut();
    void forget(Error const& error);
    void reopen();

    [[nodiscard]] Incoming of_effect(session::Command::Body outcome);
    [[nodiscard]] Reply offer_again(session::EffectId id, session::Command::Body const& outcome);
    [[nodiscard]] session::MailPolicy mail_policy(session::Command const& command) const;
    [[nodiscard]] std::string refusal(session::Command const& command) const;
    [[nodiscard]] session::Found found_for(session::Command const& command,
                                           session::Found fetched) const;
    void remember(std::vector<wire::RecordPtr> const& records);
    void forget_oldest();
    void remember_closed(session::Event const& event);

    void dispatch();
    [[nodiscard]] std::optional<Time> time_of(session::Timer const& timer) const;
    [[nodiscard]] std::optional<Time> model_until() const;
    void start(session::Effect const& effect);
    void ask_model(session::Effect const& effect, session::AskModel const& ask);
    void ask_turn(session::Effect const& effect, session::AskTurn const& ask);
    void show(wire::History const& history, port::ModelRequest request);
    void add_files(port::ModelRequest request);
    void send_request(port::ModelRequest request);

    static constexpr std::size_t inbox_max = 10'000;
    static constexpr std::size_t append_bytes_max = std::size_t{4} << 20;
    static constexpr std::size_t recent_max =
        512;  // and up to an eighth more, so that few appends move them
    static constexpr std::size_t recent_bytes_max = std::size_t{2} << 20;  // by weight
    static constexpr std::uint64_t snapshot_every = 256;

    SessionId const id_;
    Host& host_;
    bool shut_ = false;                    // an append or a load is on its way
    std::optional<session::State> state_;  // nullopt: memory is not to be trusted, read again
    std::vector<Asked> inbox_;
    std::size_t checking_ = 0;             // submissions whose values are being checked
    bool abandoned_ = false;               // the host is gone
    std::vector<Answered> leaving_;        // what waits for the append
    std::set<session::EffectId> running_;  // effects that this process has started

    std::vector<wire::RecordPtr> recent_;
    std::size_t recent_bytes_ = 0;        // their weight
    std::vector<wire::RecordPtr> fresh_;  // of the append that is on its way
    std::vector<port::PostRow> sending_;  // likewise
    bool cut_ = false;                    // it takes what is old out of the journal
    Seq snapshot_seq_ = 0;
    std::optional<Time> stored_wake_;  // what the store holds …
    bool wake_known_ = false;          // … if that is known
    std::optional<Bits128> create_key_;
    std::optional<LoadedSession::Rows> rows_;  // to be written anew, with the Repair that waits

    // What this lane itself has closed since it was loaded: found here without asking the store.
    std::map<std::pair<CallNo, Generation>, session::Receipt> closed_;
    std::map<std::string, session::Found::Earlier> earlier_;
    std::set<std::string> progress_;
    std::set<std::string> taken_;
    std::map<std::pair<CallNo, Generation>, std::pair<std::uint32_t, std::set<Sha256>>>
        notes_;  // of this append

    std::map<std::uint64_t, std::shared_ptr<port::Fn<void()>>>
        watchers_;  // one may remove itself while it runs
    std::uint64_t next_watcher_ = 0;
};

}  // namespace dormouse::runner
