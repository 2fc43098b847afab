#pragma once
// Runs one process of an ACP agent for one session, and sends it the session's prompts, one at a
// time. Two state machines decide what happens: process_session.h (the process and the agent's
// session in it) and prompt_exchange.h (one prompt). This class feeds them events and performs
// their actions with timers, the process and the dialect. Runs on the loop.
// Example: prompt() starts the process; its greeting is the event `greeted`, whose action `attach`
// opens a session; the answer to that is the event `opened`; and so on until send_prompt().

#include "acp/dialect.h"
#include "acp/driver/process_session.h"
#include "acp/driver/prompt_exchange.h"
#include "acp/driver/replay.h"
#include "acp/driver/screen_feed.h"
#include "acp/driver/update_coalescer.h"
#include "acp/session_finder.h"
#include "acp/settings.h"
#include "acp/timer.h"
#include "agent/external_agent.h"
#include "port/catalogue.h"
#include "port/effects.h"
#include "port/process.h"

#include <deque>
#include <memory>
#include <optional>

namespace dormouse::acp {

// A prompt that waits for its outcome.
struct Prompt {
    port::ModelRequest request;
    agent::ExternalAgent::Start start;
    port::Fn<void(port::Delta)> delta;
    port::Outcome done;
    bool sent = false;
};

// A request to see the agent's own screen.
struct AttachRequest {
    port::TerminalRequest ask;
    port::Fn<void(Result<port::AttachInfo>)> then;
};

// A setting of the agent's session, made before the first prompt.
struct SessionOption {
    std::string id;  // empty: the mode
    Json value;
    std::string what;    // for people: option model = "x"
    std::string choice;  // for people: the possible values; empty: not reported
};

// Why a prompt or an attach request failed.
struct Failure {
    session::AgentFailure::How how = session::AgentFailure::How::refused;
    std::string code = {}, message = {};
};

class Driver : public std::enable_shared_from_this<Driver> {
public:
    // All callbacks outlive this.
    struct Listener {
        std::function<void()> on_free;  // a prompt can follow the cancelled one
        std::function<void()> on_gone;  // once: the process has ended and its prompt has an outcome
        std::function<void(agent::ExternalAgent::About, Abilities)>
            on_about;                                     // from the agent's greeting
        std::function<void(std::string const&)> on_mode;  // of the session; "": unknown
    };
    Driver(Settings const& settings, port::Processes& processes, port::Loop& loop,
           SessionId session, Listener listener);

    // REQUIRES: is_free().
    void prompt(Prompt prompt);
    // Answers when the agent's session is ready; the process then stays for the lease. REQUIRES:
    // not is_ending().
    void attach(AttachRequest request);
    // Replaces the callbacks of the current prompt.
    void adopt(Prompt prompt);
    void decide(session::NotifyAgent const& what);
    // Asks the agent to stop, and ends its process if it does not stop in time.
    void cancel();
    void end();  // the process
    // Ends the process after the agent has released its session.
    void close();

    [[nodiscard]] bool prompting(session::EffectId id) const {
        return prompt_ && prompt_->request.id == id;
    }
    [[nodiscard]] bool is_free() const { return exchange_.is_free() && !is_ending(); }
    [[nodiscard]] bool is_ending() const { return session_.is_ending(); }
    // A terminal is attached to the agent's screen, or waits for it.
    [[nodiscard]] bool is_attached() const { return lease_.is_set() || !attach_requests_.empty(); }

private:
    // The data that an event of the exchange carries for its actions.
    struct Carried {
        TurnEnd end;
        Failure failure;
        Question question;
    };
    // The session that the prompt or the attach request needs.
    struct Goal {
        std::string acp_session, cwd, project;
    };
    enum class Past : std::uint8_t { known, unnotified };

    // State machines.
    void on_event(SessionEvent event) { on_event(event, {}); }
    void on_event(SessionEvent event, Failure const& failure);
    void on_event(ExchangeEvent const& event) { on_event(event, {}); }
    void on_event(ExchangeEvent const& event, Carried carried);
    void act(SessionAction action, Failure const& failure);
    void act(ExchangeAction const& action, Carried& carried);
    [[nodiscard]] Situation situation() const;
    [[nodiscard]] std::optional<Goal> goal() const;
    void arm(Timer& timer, Duration delay, void (Driver::*then)());

    // Process.
    void start();
    void on_output(std::string_view bytes);
    void on_exit(port::ProcessEnd const& end);
    [[nodiscard]] bool may_start();
    void use_session();
    void on_start_limit();
    void clean_up();
    void rest();
    void on_idle();
    void report_failure(Failure const& failure);

    // The steps to the agent's session (driver_attach.cc).
    void greet();
    void greeted(Hello hello);
    void sign_in();
    void search();
    void attach_session();
    void on_attached(Dialect::Answer<Opened> opened);
    void configure();
    void set_next_option();
    void announce();
    void serve_screen();
    void refuse_screen(Error const& why);
    void refused(Failure const& why);
    void refused(Refusal const& refusal);
    [[nodiscard]] bool misses_past() const;
    [[nodiscard]] std::string ways_to_sign_in() const;
    [[nodiscard]] Place place();
    [[nodiscard]] port::AttachInfo screen_entry() const;
    void hold_lease();
    void on_lease_end();

    // Prompt.
    void send_prompt();
    void on_answer(Dialect::Answer<TurnEnd> const& end);
    void report_reply(TurnEnd const& end);
    void retire_prompt();
    void on_question(Question question);
    void ask_person(Question question, std::uint32_t number);
    [[nodiscard]] std::optional<Sha256> shown_by(Question const& question) const;

    // Updates.
    void on_update(Update update);
    [[nodiscard]] bool count_update();
    void show(port::Delta delta, bool brief);
    void flush_delta();
    void keep(std::vector<session::AgentOutput> outputs);
    void keep(std::vector<session::AgentOutput> outputs, bool by_itself);
    void keep_late(session::AgentOutput output, bool by_itself);
    void report_late(session::AgentOutput output, bool by_itself);
    void on_typed(session::AgentTyped typed);
    [[nodiscard]] std::optional<ScreenPlace> screen_place() const;

    [[nodiscard]] Failure failure_of(Refusal const& refusal) const;
    [[nodiscard]] std::string without_secrets(std::string text) const;
    [[nodiscard]] std::string last_words() const;
    [[nodiscard]] std::string last_invalid_line() const;

    Settings const& settings_;
    port::Processes& processes_;
    SessionId const id_;
    Listener const listener_;

    ProcessSession session_;
    PromptExchange exchange_;
    Timer start_limit_, close_limit_, cancel_limit_, settle_, idle_, lease_, flush_, second_;

    std::unique_ptr<Dialect> const dialect_;
    UpdateCoalescer coalescer_;
    Replay replay_;
    SessionFinder finder_;
    ScreenFeed screen_;

    std::optional<Prompt> prompt_;  // waiting or sent
    std::optional<Prompt> last_;    // the prompt that ended last; late updates are reported to it
    std::vector<AttachRequest> attach_requests_;
    std::uint32_t kept_ = 0;                    // updates of the prompt
    std::uint32_t updates_ = 0;                 // in this second
    std::optional<port::Delta> pending_delta_;  // not shown yet
    session::Cost spent_;                       // as the agent reported it last
    std::uint64_t activity_ = 0;                // counts what the agent did
    std::uint64_t resting_since_ = 0;           // activity_ when the process began to rest

    std::optional<port::Processes::Number> process_;
    Json started_;  // the command line: the sandbox's part, then the agent's
    std::string cwd_, password_, why_ended_, error_tail_;
    bool start_refused_ = false;  // the process was not started: the prompt must not begin
    std::uint16_t port_ = 0;      // of the agent's own HTTP server; 0: it has none

    std::string program_;  // name and version
    std::vector<Login> logins_;
    Abilities can_;
    std::string target_;              // the agent's session to continue
    std::string acp_session_;         // the agent's session in this process; empty: none
    Opened opened_;                   // what the agent reported of it
    std::string mode_;                // of opened_; empty: unknown
    std::vector<McpServer> servers_;  // the servers it was given
    std::deque<SessionOption> options_;
    Past past_ = Past::known;  // whether the agent knows our session's past
};

}  // namespace dormouse::acp
