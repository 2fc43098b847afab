#pragma once
// Finds what in a session's journal belongs to a message, call, mail or task that is to be removed,
// and which other sessions hold it, too.

#include "runner/lane/redact/redact.h"
#include "session/state.h"
#include "wire/journal/record.h"
#include "wire/redact.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::runner {

// Takes the records of the journal in order, and all of them again as long as a pass finds
// something that can belong to earlier records.
class Survey {
public:
    // `state`: of the session now. The arguments outlive this.
    Survey(session::State const& state, RedactionAsk const& ask);

    void begin_pass();
    void take(wire::RecordPtr const& record);
    [[nodiscard]] bool again() const { return again_; }

    // After the last pass.
    [[nodiscard]] bool found() const { return found_; }
    // The event that the redaction names, and its reason.
    [[nodiscard]] Seq named() const { return named_; }
    [[nodiscard]] std::string reason() const { return prefix_ + ask_.reason; }
    // Redacted::what
    [[nodiscard]] std::string what() const;
    [[nodiscard]] std::string at_creation(std::string const& what) const;
    [[nodiscard]] std::vector<RedactionCopy> elsewhere() const;
    // The ids under which forks hold a copy.
    [[nodiscard]] std::vector<ForkName> in_forks() const;

    wire::RedactionTarget target = {};
    wire::RecordPtr earlier = {};              // the redacted event of the same ask
    std::set<TurnNo> turns = {};               // that contain removed content
    std::set<Seq> of_turn = {};                // their events
    std::set<std::string> rules = {};          // standing rules that people made with its approvals
    std::map<Seq, std::uint32_t> outbox = {};  // events that sent it → number of receivers
    std::map<Seq, std::uint64_t> received = {};  // mail that this session got → its number
    bool unread = false;                         // no request has seen such mail
    std::uint64_t artifact_bytes = 0;

private:
    void find(session::Event const& event);
    void find_message(session::Event const& event);
    void find_call(session::Event const& event);
    void find_mail(session::Event const& event);
    void find_task(session::Event const& event);
    void find_run(session::Event const& event);
    void find_turn(session::Event const& event);
    void find_set(session::Event const& event);
    void find_reason(session::Event const& event);
    void find_alias(session::Event const& event);
    void find_copy(Seq seq, session::Forked const& begin);
    void find_of_agent(session::Event const& event);
    void link_task(session::Event const& event);
    void link_report(session::Event const& event);
    void link_calls(session::ModelReplied const& reply);
    void link(CallNo call, TaskNo task);
    [[nodiscard]] bool note_artifacts(wire::Record const& record);
    void note_earlier(wire::RecordPtr const& record);
    void found_at(Seq seq, TurnNo turn);
    void add_message(Seq seq);
    void add_call(CallNo call);
    [[nodiscard]] bool has(Seq message) const { return target.messages.contains(message); }
    [[nodiscard]] bool has_call(CallNo call) const { return target.calls.contains(call); }
    void remove_artifact(Seq seq);
    void name_artifacts(std::string_view text);

    session::State const& state_;
    RedactionAsk const& ask_;
    std::optional<session::MailId> mail_ = {};  // the mail that the ask names, if any
    TaskNo task_ = 0;                           // the task that it names; 0: none
    bool run_ = false;                          // the ask names the task that this session is
    std::string prefix_ = {};

    Seq named_ = 0;
    bool found_ = false, again_ = false;
    std::map<Seq, std::uint64_t> artifacts_ = {};                // event → bytes
    std::map<session::MailId, std::set<SessionId>> mails_ = {};  // of the target → holders
    std::set<std::pair<Seq, std::string>> makers_ = {};  // messages with calls of the target
    std::string copied_call_ = {};                       // callID of the copied part
    std::vector<std::pair<Seq, std::string>> calls_cancelled_ = {};  // in the turn, with the reason
    std::pair<Time, std::string> cancelled_ = {};  // the newest end of a turn of the target
    std::set<std::string> agent_tools_ = {};       // of an external agent, of the target
    std::map<TaskNo, SessionId> children_ = {};    // of tasks of the target
    std::pair<Seq, TaskNo> changed_ = {};          // the newest change of a task
    Seq got_ = 0;                                  // the newest mail that it got
    Seq reported_ = 0;                             // the newest report to the parent
    std::set<SessionId> named_in_ = {};  // sessions whose mail may name this one by its alias
    std::set<TurnNo> run_turns_ = {};
    std::map<TurnNo, Seq> replies_ = {};  // newest reply of each run's turn
    bool of_run_ = false;                 // the parent has a copy of something
};

}  // namespace dormouse::runner
