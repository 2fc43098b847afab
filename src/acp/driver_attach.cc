// The way of a driver from its program's first word to a session of the program's own.
#include "acp/driver.h"
#include "acp/prompt.h"
#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr std::size_t methods_told = 8;
constexpr std::size_t method_bytes_told = 200;
constexpr std::size_t choice_bytes_told = 500;

std::string joined(std::vector<std::string> const& choice) {
    std::string out;
    for (std::string const& one : choice) {
        if (out.size() > choice_bytes_told) break;
        out += (out.empty() ? "" : ", ") + one;
    }
    return out;
}

// Some programs have their mode among their options.
std::string mode_of(Opened const& opened) {
    auto const option = std::ranges::find(opened.options, "mode", &Option::id);
    bool const among = opened.mode.empty() && option != opened.options.end();
    return among ? json::View(option->value).string_or("") : opened.mode;
}

// What is set already is not set again.
std::deque<Wish> wishes_of(Settings const& settings, Opened const& opened) {
    std::deque<Wish> out;
    bool const there = std::ranges::find(opened.modes, settings.mode) != opened.modes.end();
    bool const wanted = !settings.mode.empty() && (there || !settings.mode_of_preset);
    if (wanted && opened.mode != settings.mode)
        out.push_back({"", Json(), "mode \"" + settings.mode + "\"", joined(opened.modes)});
    json::View(settings.options).members([&](std::string_view name, json::View value) {
        Json const wanted = value.copy();
        std::string choice;
        for (Option const& option : opened.options) {
            if (option.id != name) continue;
            if (option.value == wanted) return;
            choice = joined(option.choice);
        }
        std::string what = "option " + std::string(name) + " = " + std::string(value.raw());
        out.push_back({std::string(name), wanted, std::move(what), std::move(choice)});
    });
    return out;
}

}  // namespace

void Driver::greet() {
    phase_ = Phase::starting;
    dialect_->greet([this](Dialect::Answer<Hello> hello) {
        if (!hello) return refuse(hello.error());
        greeted(*std::move(hello));
    });
}

void Driver::greeted(Hello hello) {
    if (!hello.other_version.empty()) {
        return fail(AgentFailure::How::refused, "agent_refused",
                    "The agent speaks version " + hello.other_version +
                        " of ACP, and this release version " + dialect_->version() + ".");
    }
    can_ = hello.can;
    program_ = hello.version.empty() ? hello.name : hello.name + " " + hello.version;
    bool const loses = settings_.never_load || program_.starts_with("gemini");
    can_.load = can_.load && !loses;
    logins_ = std::move(hello.logins);
    told_.about({std::move(hello.version), can_.load, can_.resume}, can_);
    settings_.auth_method.empty() ? attach() : sign_in();
}

// By a way that needs no person here: what it shows and asks, nobody would see.
void Driver::sign_in() {
    dialect_->sign_in(settings_.auth_method, [this](Dialect::Answer<void> const& answer) {
        if (answer) return attach();
        if (answer.error().why == Refusal::Why::gone) return;
        fail(AgentFailure::How::refused, "agent_login",
             "The agent did not take the login \"" + settings_.auth_method +
                 "\": " + without_secrets(answer.error().message) + "." + ways_to_sign_in());
    });
}

std::string Driver::ways_to_sign_in() const {
    std::string keys;
    std::string ways;
    for (std::string const& name : settings_.wants) keys += (keys.empty() ? "" : ", ") + name;
    std::size_t count = 0;
    for (Login const& login : logins_) {
        if (++count > methods_told) break;
        ways += (ways.empty() ? "" : "; ") + login.id +
                (login.about.empty() ? "" : " (" + login.about.substr(0, method_bytes_told) + ")");
    }
    std::string out = keys.empty() ? "" : " Not passed to it: " + keys + ".";
    if (!ways.empty())
        out += " Its logins: " + ways +
               ". Sign in with its own program as the server's user, or name one that needs nobody "
               "in auth_method.";
    return out;
}

// A prompt that was delivered, or may have been, is looked for in a replay; else resuming is
// quicker.
void Driver::attach() {
    auto const to = goal();
    if (!to) {  // nobody wants it any more
        phase_ = Phase::ready;
        acp_session_.clear();
        return rest();
    }
    bool const looks = prompt_ && prompt_->request.program->again;
    phase_ = Phase::attaching;
    if (to->acp_session.empty())
        return looks && can_.list && can_.load ? find_mine() : open_new(false);
    std::string const known = to->acp_session;
    if (can_.load && (looks || !can_.resume)) return take_up(known, true, false);
    if (can_.resume) return take_up(known, false, false);
    open_new(true);
}

std::optional<Driver::Goal> Driver::goal() const {
    if (prompt_) {
        AgentContext const& program = *prompt_->request.program;
        return Goal{program.acp_session, program.cwd, program.project};
    }
    if (visits_.empty()) return std::nullopt;
    port::DoorAsk const& ask = visits_.front().ask;
    return Goal{ask.acp_session, ask.cwd, ask.project};
}

Place Driver::place() {
    Place out{cwd_, {}};
    if (settings_.mcp_servers) out.servers = settings_.mcp_servers(session_);
    has_servers_ = !out.servers.empty();
    return out;
}

// `told`: it had a session of its own, which is lost.
void Driver::open_new(bool told) {
    replayed_ = false;
    replay_.clear();
    bool const nobody = !prompt_ && visits_.empty();
    if (nobody || (!prompt_ && (told || visits_.front().ask.has_past))) return lose_visitors();
    dialect_->open(place(), [this, told](Dialect::Answer<Opened> opened) {
        if (!opened) return refuse(opened.error());
        acp_session_ = opened->session;
        if (acp_session_.empty())
            return fail(AgentFailure::How::refused, "agent_refused",
                        "The agent made a session and gave no id of it.");
        attached("new", told, *opened);
    });
}

void Driver::take_up(std::string const& known, bool with_past, bool last) {
    acp_session_ = known;
    replaying_ = with_past;
    replay_.clear();
    dialect_->take_up(known, place(), with_past,
                      [this, known, with_past, last](Dialect::Answer<Opened> opened) {
                          replaying_ = false;
                          replayed_ = opened && with_past;
                          if (opened) {
                              if (misses_prompt()) return open_new(true);
                              return attached(with_past ? "load" : "resume", false, *opened);
                          }
                          acp_session_.clear();
                          if (opened.error().why != Refusal::Why::unknown)
                              return refuse(opened.error());
                          last || !can_.list ? open_new(true) : look_for(known, with_past);
                      });
}

// The program had this prompt, and does not remember it: another process of it has written to the
// session, and it follows that one's branch. Nobody knows what else it does not remember.
bool Driver::misses_prompt() const {
    if (!prompt_ || !replayed_) return false;
    AskModel const& ask = prompt_->request.ask;
    AgentContext const& context = *prompt_->request.program;
    return context.again && context.turn.heard &&
           !holds_marker(replay_, marker_of(session_, ask.turn, ask.step), ask.attempt);
}

void Driver::attached(std::string how, bool told, Opened const& opened) {
    how_ = std::move(how);
    told_lost_ = told;
    if (std::string mode = mode_of(opened); !mode.empty()) mode_ = std::move(mode);
    wishes_ = wishes_of(settings_, opened);
    grant_wishes();
}

// One after the other; then it is ready.
void Driver::grant_wishes() {
    if (wishes_.empty() || !goal()) return ready();
    Wish wish = std::move(wishes_.front());
    wishes_.pop_front();
    auto granted = [this, what = wish.what, choice = wish.choice,
                    mode = wish.option.empty()](Dialect::Answer<void> answer) {
        if (answer && mode) mode_ = settings_.mode;
        if (answer) return grant_wishes();
        if (answer.error().why == Refusal::Why::gone) return;
        fail(AgentFailure::How::refused, "agent_refused",
             "The agent did not take " + what + ": " + without_secrets(answer.error().message) +
                 "." + (choice.empty() ? "" : " It has: " + choice + "."));
    };
    if (wish.option.empty())
        return dialect_->set_mode(acp_session_, settings_.mode, std::move(granted));
    dialect_->set_option(acp_session_, wish.option, wish.value, std::move(granted));
}

void Driver::ready() {
    phase_ = Phase::ready;
    told_.mode(mode_);
    // What was typed while nobody read it, as when the server was killed.
    if (how_ != "new" && visits_.empty()) read_screen();
    bool const first = how_ == "new" && !prompt_ && !visits_.empty();
    if (first)
        visits_.front().ask.told(AgentAttach{0, 0, 0, acp_session_, how_, program_, false, mode_});
    let_in();
    ++turn_of_clock_;
    if (!prompt_) return limit_idle();  // no answer that something could still belong to
    AskModel const& ask = prompt_->request.ask;
    told_past_ = how_ == "new" && has_past(prompt_->request);
    bool const says = told_lost_ || told_past_;
    prompt_->done(
        AgentAttach{ask.turn, ask.step, ask.attempt, acp_session_, how_, program_, says, mode_});
    if (prompt_) send_prompt();
}

}  // namespace dormouse::acp
