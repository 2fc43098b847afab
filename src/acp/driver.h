#pragma once
// One process of an agent's program, for one session of ours: from its start over the session of
// its own that it is given to the prompts, one at a time. A state machine over port::Processes; on
// the loop.

#include "acp/dialect.h"
#include "acp/screen.h"
#include "acp/scribe.h"
#include "acp/settings.h"
#include "agent/program.h"
#include "port/catalogue.h"
#include "port/effects.h"
#include "port/process.h"

#include <deque>
#include <memory>
#include <optional>

namespace dormouse::acp {

// One that is to be answered.
struct Prompt {
    port::ModelRequest request;
    port::Fn<void(port::Delta)> delta;
    port::Outcome done;
};

// Somebody wants to its screen.
struct Visit {
    port::DoorAsk ask;
    port::Fn<void(Result<port::DoorEntry>)> then;
};

// A setting of a session that is asked for before it is prompted.
struct Wish {
    std::string option;  // empty: the mode
    Json value;
    std::string what;    // for people
    std::string choice;  // what there is instead; perhaps nothing is known
};

class Driver : public std::enable_shared_from_this<Driver> {
public:
    // All outlive this. `rested`: it takes a prompt again after one that was cancelled; `gone`:
    // once, when the process has ended and its prompt was answered, perhaps from inside prompt().
    struct Told {
        std::function<void()> rested, gone;
        std::function<void(agent::Program::About, Abilities)> about;  // what it said of itself
        std::function<void(std::string const&)> mode;  // that its session is in; "": unknown
    };
    Driver(Settings const& settings, port::Processes& processes, port::Loop& loop,
           SessionId session, Told told);

    // REQUIRES: none is under way.
    void prompt(Prompt prompt);
    // Answered when the program is there and has taken its session up; it then stays awake for the
    // lease. REQUIRES: not ending().
    void visit(Visit visit);
    // The same prompt is asked for again by whoever has forgotten that it is under way.
    void adopt(Prompt prompt);
    void tell(session::TellAgent const& what);
    // The prompt is not wanted any more: the program is asked to stop, and ended if it does not.
    void cancel();
    void end();  // the process
    // As end(), but the program may let go of its session first.
    void put_away();

    [[nodiscard]] bool prompting(session::EffectId id) const {
        return prompt_ && prompt_->request.id == id;
    }
    [[nodiscard]] bool idle() const { return !prompt_ && !cancelling_ && !ending_; }
    [[nodiscard]] bool ending() const { return ending_; }
    // Somebody is at its screen, or on the way there.
    [[nodiscard]] bool visited() const { return leased_ || !visits_.empty(); }

private:
    // In starting and attaching an answer of the program's is waited for.
    enum class Phase : std::uint8_t { none, starting, attaching, ready, gone };
    struct Ask {
        std::uint32_t number = 0;
        std::uint64_t question = 0;  // as the dialect calls it
    };
    // What the program's list says, as far as it was read.
    using Entries = std::vector<Listed::Entry>;
    struct Listing {
        Entries entries = {};
        std::size_t pages = 0;
        bool over = false;
        port::Fn<void(Entries)> then = {};
    };
    // For a session that was perhaps made before a kill, and whose id nobody wrote down.
    struct Search {
        std::deque<std::string> to_see = {};
        std::vector<std::string> mine = {};
        std::string marker = {};
        std::uint32_t attempt = 0;
        bool over = false;
    };

    struct LateNews {
        session::News what;
        bool by_itself = false;
    };

    void start();
    void on_output(std::string_view bytes);
    void on_end(port::ProcessEnd const& end);
    void on_said(Said said);
    void on_mode(std::string mode);
    void on_question(Question question);
    [[nodiscard]] std::optional<Sha256> shown_by(Question const& question) const;
    [[nodiscard]] bool too_many();
    void show(port::Delta delta, bool brief);
    void show_held();
    void keep(std::vector<session::News> news);

    void greet();
    void greeted(Hello hello);
    void sign_in();
    void attach();
    void open_new(bool told);
    // `last`: it has said before that it does not know the session.
    void take_up(std::string const& known, bool with_past, bool last);
    void attached(std::string how, bool told, Opened const& opened);
    [[nodiscard]] bool misses_prompt() const;
    void grant_wishes();
    void ready();
    void send_prompt();
    void answered(Dialect::Answer<TurnEnd> end);
    void after_cancel();
    void rest(Duration moment = Duration(1'000));
    void limit_idle();

    void read_list(port::Fn<void(Entries)> then);
    void read_page(std::shared_ptr<Listing> const& listing, std::string const& cursor);
    void look_for(std::string const& known, bool with_past);
    void find_mine();
    void limit_search(std::shared_ptr<Search> const& search);
    void see_next(std::shared_ptr<Search> const& search);
    void seen(std::shared_ptr<Search> const& search, std::string const& name, bool shown);
    // What the way to a session is gone for: a prompt, or a visitor.
    struct Goal {
        std::string acp_session, cwd, project;
    };
    [[nodiscard]] std::optional<Goal> goal() const;
    [[nodiscard]] port::DoorEntry door() const;
    void let_in();
    void turn_away(std::string const& why);
    void lose_visitors();
    void hold_lease();
    void end_lease();
    void read_screen();
    void screen_read(std::vector<session::AgentTyped> const& typed);
    void tell_late(session::News what, bool by_itself);
    void tell_at_once(session::News what, bool by_itself);
    void tell_held(std::size_t count);  // the oldest
    [[nodiscard]] bool has_screen() const { return settings_.http && port_ != 0; }
    void answer_screen_asks();

    void fail(session::AgentFailure::How how, std::string code, std::string message);
    void refuse(Refusal const& refusal);
    void limit_start();
    [[nodiscard]] std::string without_secrets(std::string text) const;
    [[nodiscard]] std::string last_words() const;
    [[nodiscard]] std::string nonsense() const;
    [[nodiscard]] std::string ways_to_sign_in() const;
    [[nodiscard]] Place place();

    Settings const& settings_;
    port::Processes& processes_;
    port::Loop& loop_;
    SessionId const session_;
    Told const told_;

    Phase phase_ = Phase::none;
    std::optional<port::Processes::Number> process_;
    std::unique_ptr<Dialect> const dialect_;
    Scribe scribe_;
    std::optional<Prompt> prompt_;
    std::optional<Prompt> last_;       // answered; what comes late is told to whoever asked it
    std::uint32_t updates_ = 0;        // of the prompt
    std::uint32_t heard_ = 0;          // updates in this second
    std::optional<port::Delta> held_;  // not shown yet
    bool just_answered_ = false;
    bool stirred_ = false;  // it did something since it was last looked at
    std::uint32_t asks_ = 0;
    std::vector<Ask> open_asks_;
    std::vector<std::uint64_t> screen_asks_;  // questions left to whoever sits at the screen
    std::uint64_t turn_of_clock_ = 0;         // timers of an earlier one mean nothing
    std::uint64_t idle_clock_ = 0;            // the same of limit_idle()

    std::vector<Visit> visits_;  // that wait for the program
    std::uint64_t lease_ = 0;    // its number
    bool leased_ = false;
    bool reading_screen_ = false, reads_again_ = false;
    bool screen_was_read_ = false;
    std::int64_t typed_at_ = 0;       // of the newest that was told
    std::size_t covered_ = 0;         // of held_news_, by the reading that goes on
    std::deque<LateNews> held_news_;  // it may answer what the screen is read for

    std::string cwd_;
    Json started_;  // the words of the sandbox, and those of the command
    std::string acp_session_;
    std::string program_;  // name and version
    std::vector<Login> logins_;
    std::string how_;   // the session was made or taken up
    std::string mode_;  // of the session; empty: unknown
    bool told_lost_ = false;
    std::deque<Wish> wishes_;
    Abilities can_;
    bool replaying_ = false;
    std::string replay_;        // the user's messages in it
    bool has_servers_ = false;  // ours, of its session
    bool told_past_ = false, replayed_ = false;
    bool sent_ = false;        // the prompt was
    bool cancelling_ = false;  // its answer is still to come, and nobody wants it
    bool ending_ = false;
    bool flush_due_ = false;
    std::string error_tail_, password_;
    std::uint16_t port_ = 0;  // of its own HTTP server; 0: it has none
    std::string why_ended_;
};

}  // namespace dormouse::acp
