// The steps from the start of an agent's process to a session of the agent that can be prompted.
#include "acp/driver/driver.h"
#include "acp/driver/prompt.h"
#include "acp/quirks.h"
#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr std::size_t logins_shown = 8;
constexpr std::size_t login_bytes_shown = 200;
constexpr std::size_t choice_bytes_shown = 500;
constexpr std::size_t refusal_data_max = 300;

std::string joined(std::vector<std::string> const& choice) {
    std::string out;
    for (std::string const& one : choice) {
        if (out.size() > choice_bytes_shown) break;
        out += (out.empty() ? "" : ", ") + one;
    }
    return out;
}

// Some agents list their mode among their options.
std::string mode_of(Opened const& opened) {
    auto const option = std::ranges::find(opened.options, "mode", &Option::id);
    bool const among = opened.mode.empty() && option != opened.options.end();
    return among ? json::View(option->value).string_or("") : opened.mode;
}

// Returns the configured options that the session does not have already.
std::deque<SessionOption> options_of(Settings const& settings, Opened const& opened) {
    std::deque<SessionOption> out;
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

std::string_view name_of(ProcessSession::AttachMethod method) {
    using enum ProcessSession::AttachMethod;
    if (method == load || method == load_again) return "load";
    return method == resume || method == resume_again ? "resume" : "new";
}

}  // namespace

void Driver::greet() {
    dialect_->greet([this](Dialect::Answer<Hello> hello) {
        if (!hello) return refused(hello.error());
        greeted(*std::move(hello));
    });
}

void Driver::greeted(Hello hello) {
    if (!hello.other_version.empty())
        return refused(Failure{AgentFailure::How::refused, "agent_refused",
                               "The agent speaks version " + hello.other_version +
                                   " of ACP, and this release version " + dialect_->version() +
                                   "."});
    can_ = hello.can;
    can_.load = can_.load && !settings_.never_load && !quirks_of(hello.name).load_loses_data;
    program_ = hello.version.empty() ? hello.name : hello.name + " " + hello.version;
    logins_ = std::move(hello.logins);
    listener_.on_about({std::move(hello.version), can_.load, can_.resume}, can_);
    on_event(SessionEvent::greeted);
}

// The login must not need a person: nobody would see its dialog.
void Driver::sign_in() {
    dialect_->sign_in(settings_.auth_method, [this](Dialect::Answer<void> const& answer) {
        if (answer) return on_event(SessionEvent::signed_in);
        if (answer.error().why == Refusal::Why::gone) return;
        refused(Failure{AgentFailure::How::refused, "agent_login",
                        "The agent rejected the login \"" + settings_.auth_method + "\": " +
                            without_secrets(answer.error().message) + "." + ways_to_sign_in()});
    });
}

std::string Driver::ways_to_sign_in() const {
    std::string keys;
    std::string ways;
    for (std::string const& name : settings_.wants) keys += (keys.empty() ? "" : ", ") + name;
    std::size_t count = 0;
    for (Login const& login : logins_) {
        if (++count > logins_shown) break;
        ways += (ways.empty() ? "" : "; ") + login.id +
                (login.about.empty() ? "" : " (" + login.about.substr(0, login_bytes_shown) + ")");
    }
    std::string out = keys.empty() ? "" : " Not passed to it: " + keys + ".";
    if (!ways.empty())
        out +=
            " Its logins: " + ways +
            ". Sign in with its own program as the server's user, or name in auth_method a login "
            "that needs no person.";
    return out;
}

void Driver::search() {
    AskModel const& ask = prompt_->request.ask;
    finder_.find({.folder = cwd_,
                  .marker = marker_of(id_, ask.turn, ask.step),
                  .attempt = ask.attempt,
                  .since = prompt_->request.external->began,
                  .closes = can_.close},
                 [this](std::string session) {
                     target_ = std::move(session);
                     on_event(target_.empty() ? SessionEvent::not_found : SessionEvent::found);
                 });
}

void Driver::attach_session() {
    acp_session_.clear();
    replay_.clear();
    auto then = [this](Dialect::Answer<Opened> opened) { on_attached(std::move(opened)); };
    if (session_.is_new()) return dialect_->open(place(), std::move(then));
    auto const to = goal();
    if (to && !to->acp_session.empty()) target_ = to->acp_session;
    bool const replays = session_.replays();
    if (replays) replay_.record();
    dialect_->take_up(target_, place(), replays, std::move(then));
}

void Driver::on_attached(Dialect::Answer<Opened> opened) {
    replay_.end(opened && session_.replays());
    if (!opened) {
        bool const unknown = opened.error().why == Refusal::Why::unknown && !session_.is_new();
        return unknown ? on_event(SessionEvent::unknown) : refused(opened.error());
    }
    opened_ = *std::move(opened);
    acp_session_ = session_.is_new() ? opened_.session : target_;
    if (acp_session_.empty())
        return refused(Failure{AgentFailure::How::refused, "agent_refused",
                               "The agent created a session without an id."});
    on_event(SessionEvent::opened);
}

bool Driver::misses_past() const {
    if (!prompt_ || !replay_.is_whole()) return false;
    AskModel const& ask = prompt_->request.ask;
    AgentContext const& context = *prompt_->request.external;
    return context.again && context.turn.prompt_received &&
           !replay_.holds(marker_of(id_, ask.turn, ask.step), ask.attempt);
}

Place Driver::place() {
    servers_ = settings_.mcp_servers ? settings_.mcp_servers(id_) : std::vector<McpServer>();
    return {cwd_, servers_};
}

void Driver::configure() {
    if (std::string mode = mode_of(opened_); !mode.empty()) mode_ = std::move(mode);
    options_ = options_of(settings_, opened_);
    set_next_option();
}

void Driver::set_next_option() {
    if (options_.empty() || !goal()) return on_event(SessionEvent::configured);
    SessionOption option = std::move(options_.front());
    options_.pop_front();
    bool const is_mode = option.id.empty();
    auto then = [this, is_mode, what = std::move(option.what),
                 choice = std::move(option.choice)](Dialect::Answer<void> answer) {
        if (answer && is_mode) mode_ = settings_.mode;
        if (answer) return set_next_option();
        if (answer.error().why == Refusal::Why::gone) return;
        refused(Failure{AgentFailure::How::refused, "agent_refused",
                        "The agent rejected " + what + ": " +
                            without_secrets(answer.error().message) + "." +
                            (choice.empty() ? "" : " It has: " + choice + ".")});
    };
    if (is_mode) return dialect_->set_mode(acp_session_, settings_.mode, std::move(then));
    dialect_->set_option(acp_session_, option.id, option.value, std::move(then));
}

void Driver::announce() {
    std::string const how(name_of(session_.method));
    start_limit_.stop();
    listener_.on_mode(mode_);
    // Reads what a person typed on the agent's screen while this server was down.
    if (!session_.is_new() && attach_requests_.empty()) screen_.read();
    if (session_.is_new() && !prompt_ && !attach_requests_.empty())
        attach_requests_.front().ask.on_event(
            AgentAttach{0, 0, 0, acp_session_, how, program_, false, mode_});
    serve_screen();
    if (!prompt_) return rest();
    AskModel const ask = prompt_->request.ask;
    past_ = session_.is_new() && has_past(prompt_->request) ? Past::unnotified : Past::known;
    bool const repeats_past =
        session_.method == ProcessSession::AttachMethod::reopen || past_ == Past::unnotified;
    prompt_->done(AgentAttach{ask.turn, ask.step, ask.attempt, acp_session_, how, program_,
                              repeats_past, mode_});
    use_session();
}

// A refusal in these steps ends the attempt to reach the session.
void Driver::refused(Failure const& why) { on_event(SessionEvent::refused, why); }

void Driver::refused(Refusal const& refusal) {
    if (refusal.why != Refusal::Why::gone) refused(failure_of(refusal));  // else on_exit() follows
}

Failure Driver::failure_of(Refusal const& refusal) const {
    bool const more = !refusal.data.empty() && refusal.data.size() <= refusal_data_max;
    std::string const text =
        without_secrets(refusal.message + (more ? " " + refusal.data : std::string()));
    if (refusal.why == Refusal::Why::login)
        return {AgentFailure::How::refused, "agent_login",
                "The agent requires a login or a key: " + text + "." + ways_to_sign_in()};
    // The agent knew the session a moment ago: the next attempt finds it again or opens another.
    bool const lost =
        session_.state == ProcessSession::State::ready && refusal.why == Refusal::Why::unknown;
    if (lost)
        return {AgentFailure::How::died, "agent_lost_session",
                "The agent has lost its session: " + text};
    return {AgentFailure::How::refused, "agent_refused", "The agent refused: " + text};
}

// Screens.

void Driver::serve_screen() {
    if (attach_requests_.empty()) return;
    hold_lease();
    screen_.read();
    for (AttachRequest& request : std::exchange(attach_requests_, {})) request.then(screen_entry());
}

void Driver::refuse_screen(Error const& why) {
    for (AttachRequest& request : std::exchange(attach_requests_, {}))
        request.then(std::unexpected(why));
}

port::AttachInfo Driver::screen_entry() const {
    port::AttachInfo out{"http://127.0.0.1:" + std::to_string(port_),
                         acp_session_,
                         cwd_,
                         settings_.attach_command,
                         settings_.password_variable,
                         password_,
                         settings_.screen_lease};
    out.command.insert(out.command.end(),
                       {out.url, "--session", acp_session_, "--dir", out.folder});
    return out;
}

void Driver::hold_lease() { arm(lease_, settings_.screen_lease, &Driver::on_lease_end); }

// Reads what was typed last; then the process may end as after a prompt.
void Driver::on_lease_end() {
    on_event(ExchangeEvent{.kind = ExchangeEvent::Kind::leave_screen});
    screen_.read();
    if (exchange_.is_free()) rest();
}

std::optional<ScreenPlace> Driver::screen_place() const {
    if (port_ == 0 || acp_session_.empty() || session_.state == ProcessSession::State::gone)
        return std::nullopt;
    return ScreenPlace{"http://127.0.0.1:" + std::to_string(port_), acp_session_, cwd_, password_,
                       "dormouse:" + id_.bare() + "/"};
}

}  // namespace dormouse::acp
