#include "acp/external_agents.h"

#include "base/text/cut.h"
#include "base/text/utf8.h"

#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

ExternalAgents::ExternalAgents(Settings settings, port::Processes& processes, port::Loop& loop)
    : settings_(std::move(settings)), processes_(processes), loop_(loop) {
    if (!settings_.probe || !settings_.unavailable.empty()) return;
    loop_.post(scope_.guard([this] { probe(); }));
}

ExternalAgents::~ExternalAgents() {
    scope_.end();
    for (auto const& [session, slot] : slots_)
        if (slot.driver) slot.driver->end();
    if (deleter_) deleter_->end();
}

// Runs the program with the sandbox and rights of a session's process.
void ExternalAgents::probe() {
    auto const folder = settings_.folder("");
    if (!folder) return;
    port::ProcessSpec spec = process_of(settings_, *folder, "");
    spec.argv = {settings_.argv.front(), settings_.probe->option};
    spec.time_limit = settings_.probe->limit;
    processes_.start(std::move(spec),
                     scope_.guard([this](port::ProcessEnd const& end) { probed(end); }));
}

void ExternalAgents::probed(port::ProcessEnd const& end) {
    using enum port::ProcessEnd::How;
    constexpr int not_executable = 126, not_found = 127;  // exit statuses of a shell and of env
    constexpr std::size_t line_bytes_max = 300;
    bool const cannot_run =
        end.how == exited && (end.status == not_executable || end.status == not_found);
    bool const failed =
        settings_.probe->known && ((end.how == exited && end.status != 0) || end.how == signalled);
    bool const not_run = end.how == not_started && !end.try_again;
    if (!about_.version.empty() || (!cannot_run && !failed && !not_run)) return;
    std::string how = end.how == signalled ? "was ended by signal " + std::to_string(end.status)
                                           : "ended with status " + std::to_string(end.status);
    if (not_run) how = "could not be started";
    std::string_view line = trimmed(end.error);
    line = trimmed(line.substr(line.rfind('\n') + 1));
    broken_ = "Its program is broken: " + settings_.argv.front() + " " + settings_.probe->option +
              " " + how + " when the server started";
    if (!line.empty())
        broken_ += ": " + without_secrets(settings_, std::string(cut_utf8(line, line_bytes_max)));
    broken_ += ". Install it again (" + settings_.probe->repair + "), then start the server again.";
}

void ExternalAgents::in_mode(SessionId session, std::string const& mode) {
    std::string why = settings_.not_asking ? settings_.not_asking(mode) : "";
    if (why.empty()) {
        not_asking_.erase(session);
        return;
    }
    std::string& known = not_asking_[session];
    if (std::exchange(known, why) != why && settings_.warn) settings_.warn(session, why);
}

std::vector<port::NotAskingEntry> ExternalAgents::not_asking() const {
    std::vector<port::NotAskingEntry> out;
    for (auto const& [session, why] : not_asking_) out.push_back({session, why});
    return out;
}

void ExternalAgents::prompt(port::ModelRequest request, Start start,
                            port::Fn<void(port::Delta)> delta, port::Outcome done) {
    if (std::string why = why_not(request.external->project); !why.empty()) {
        AskModel const& ask = request.ask;
        return done(AgentFailure{ask.turn,
                                 ask.step,
                                 ask.attempt,
                                 {"agent_unavailable", std::move(why)},
                                 AgentFailure::How::refused});
    }
    SessionId const session = request.session;
    Slot& slot = slots_[session];
    Prompt prompt{std::move(request), std::move(start), std::move(delta), std::move(done)};
    if (slot.driver && slot.driver->prompting(prompt.request.id))
        return slot.driver->adopt(std::move(prompt));
    slot.waiting = std::move(prompt);
    proceed(session);
}

std::string ExternalAgents::refusal(std::string const& project) const {
    if (settings_.only_project.empty() || project == settings_.only_project) return {};
    return "the program of the agent '" + settings_.agent +
           "' has no sandbox and can read every project's sessions, so it serves sessions of the "
           "project \"" +
           settings_.only_project +
           "\" only. Give it sandbox = \"bwrap\" in its [[agent]], or name its project in "
           "[[project]].";
}

// A session of another project may be older than this configuration.
std::string ExternalAgents::why_not(std::string const& project) const {
    std::string elsewhere = refusal(project);
    return elsewhere.empty() ? settings_.unavailable : elsewhere;
}

std::shared_ptr<Driver> ExternalAgents::make_driver(SessionId session) {
    auto const later = [this, session](void (ExternalAgents::*then)(SessionId)) {
        return scope_.guard([this, session, then] {
            loop_.post(scope_.guard([this, session, then] { (this->*then)(session); }));
        });
    };
    Driver::Listener listener;
    listener.on_free = later(&ExternalAgents::proceed);
    listener.on_gone = later(&ExternalAgents::gone);
    listener.on_about = scope_.guard([this](About about, Abilities can) {
        about_ = std::move(about);
        removes_ = can.remove;
        broken_.clear();
    });
    listener.on_mode =
        scope_.guard([this, session](std::string const& mode) { in_mode(session, mode); });
    return std::make_shared<Driver>(settings_, processes_, loop_, session, std::move(listener));
}

void ExternalAgents::drop_empty(SessionId session) {
    auto const found = slots_.find(session);
    if (found == slots_.end()) return;
    Slot const& slot = found->second;
    bool const waits = slot.waiting || !slot.attach_requests.empty() || !slot.forgets.empty();
    if (!slot.driver && !waits) slots_.erase(found);
}

// A prompt that must not begin any more does not hold up what else waits.
void ExternalAgents::proceed(SessionId session) {
    std::optional<Prompt> refused;
    if (Slot& slot = slots_[session]; slot.waiting && !slot.waiting->start.may.still())
        refused = std::exchange(slot.waiting, std::nullopt);
    use_driver(session);
    if (refused) refused->start.refused();
}

void ExternalAgents::use_driver(SessionId session) {
    Slot& slot = slots_[session];
    bool const prompts = slot.waiting && (!slot.driver || slot.driver->is_free());
    bool const attaches =
        !slot.attach_requests.empty() && (!slot.driver || !slot.driver->is_ending());
    if (!prompts && !attaches) return drop_empty(session);
    if (!slot.driver) slot.driver = make_driver(session);
    auto const driver = slot.driver;
    auto waiting = prompts ? std::exchange(slot.waiting, std::nullopt) : std::nullopt;
    // Requests that a process which could not start leaves over go to the next process.
    for (AttachRequest& request : std::exchange(slot.attach_requests, {})) {
        if (driver->is_ending()) {
            slot.attach_requests.push_back(std::move(request));
        } else {
            driver->attach(std::move(request));
        }
    }
    if (!waiting) return;
    if (driver->is_ending()) {
        slot.waiting = std::move(waiting);
    } else {
        driver->prompt(*std::move(waiting));
    }
}

void ExternalAgents::open_terminal(port::TerminalRequest ask,
                                   port::Fn<void(Result<port::AttachInfo>)> then) {
    if (settings_.attach_command.empty())
        return then(dormouse::fail(Code::wrong_kind,
                                   "The program of the agent '" + settings_.agent +
                                       "' has no screen that can be opened on a process that "
                                       "runs; only opencode has one."));
    if (std::string why = why_not(ask.project); !why.empty())
        return then(dormouse::fail(Code::agent_unavailable, std::move(why)));
    SessionId const session = ask.session;
    slots_[session].attach_requests.push_back({std::move(ask), std::move(then)});
    proceed(session);
}

void ExternalAgents::ended(SessionId session) {
    auto const found = slots_.find(session);
    if (found == slots_.end() || !found->second.driver) return;
    Driver& driver = *found->second.driver;
    if (!driver.is_attached()) driver.close();
}

// The session's own process ends first, because it may still write to the agent's session.
void ExternalAgents::forget(Left left, port::Fn<void(Result<void>)> done) {
    if (!settings_.unavailable.empty())
        return done(dormouse::fail(Code::agent_unavailable, settings_.unavailable));
    SessionDeleter::Work work{std::move(left.names), std::move(left.cwd), std::move(done)};
    auto const found = slots_.find(left.session);
    if (!removes_) {
        if (found != slots_.end() && found->second.driver) found->second.driver->close();
        return work.done(SessionDeleter::unsupported());
    }
    if (found == slots_.end() || !found->second.driver) return send(std::move(work));
    found->second.forgets.push_back(std::move(work));
    found->second.driver->close();
}

void ExternalAgents::send(SessionDeleter::Work work) {
    // A deleter that takes no more work ends by itself.
    if (!deleter_ || !deleter_->takes_more())
        deleter_ = std::make_shared<SessionDeleter>(settings_, processes_, loop_);
    work.done = [this, alive = scope_.token(),
                 done = std::move(work.done)](Result<void> result) mutable {
        if (alive && !result && result.error().code == Code::wrong_kind) removes_ = false;
        done(std::move(result));
    };
    auto const deleter = deleter_;
    deleter->add(std::move(work));
}

void ExternalAgents::gone(SessionId session) {
    not_asking_.erase(session);
    auto const found = slots_.find(session);
    if (found == slots_.end()) return;
    found->second.driver.reset();
    for (SessionDeleter::Work& work : std::exchange(found->second.forgets, {}))
        send(std::move(work));
    if (!found->second.waiting && found->second.attach_requests.empty()) {
        slots_.erase(found);
    } else {
        proceed(session);
    }
}

void ExternalAgents::notify(SessionId session, NotifyAgent const& what) {
    auto const found = slots_.find(session);
    if (found != slots_.end() && found->second.driver) found->second.driver->decide(what);
}

void ExternalAgents::stop(SessionId session, EffectId id) {
    auto const found = slots_.find(session);
    if (found == slots_.end()) return;
    Slot& slot = found->second;
    if (slot.waiting && slot.waiting->request.id == id) slot.waiting.reset();
    if (slot.driver && slot.driver->prompting(id)) slot.driver->cancel();
    drop_empty(session);
}

bool ExternalAgents::prompting(SessionId session, EffectId id) const {
    auto const found = slots_.find(session);
    if (found == slots_.end()) return false;
    Slot const& slot = found->second;
    return (slot.waiting && slot.waiting->request.id == id) ||
           (slot.driver && slot.driver->prompting(id));
}

}  // namespace dormouse::acp
