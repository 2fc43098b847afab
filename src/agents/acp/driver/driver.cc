#include "acp/driver/driver.h"

#include "acp/driver/prompt.h"
#include "acp/v1.h"
#include "base/check.h"
#include "base/text/cut.h"
#include "base/text/utf8.h"
#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr Duration settle_time{1'000};

Json words_of(port::ProcessSpec const& spec) {
    json::Writer out;
    out.begin_array();
    for (auto const* const words : {&spec.sandbox, &spec.argv}) {
        out.begin_array();
        for (std::string const& word : *words) out.value(word);
        out.end_array();
    }
    return out.end_array().json();
}

std::string how_ended(port::ProcessEnd const& end) {
    using How = port::ProcessEnd::How;
    switch (end.how) {
        case How::exited: return "it ended with status " + std::to_string(end.status);
        case How::signalled: return "it was ended by signal " + std::to_string(end.status);
        case How::not_started: return "it could not be started: " + end.error;
        default: return "it wrote too much";
    }
}

}  // namespace

Driver::Driver(Settings const& settings, port::Processes& processes, port::Loop& loop,
               SessionId session, Listener listener)
    : settings_(settings),
      processes_(processes),
      id_(session),
      listener_(std::move(listener)),
      start_limit_(loop),
      close_limit_(loop),
      cancel_limit_(loop),
      settle_(loop),
      idle_(loop),
      lease_(loop),
      flush_(loop),
      second_(loop),
      dialect_(dialect_of(settings, processes,
                          {[this](std::string const& line) {
                               if (process_) processes_.write(*process_, line);
                           },
                           [this](Update update) { on_update(std::move(update)); },
                           [this](Question question) { on_question(std::move(question)); }})),
      finder_(*dialect_, loop, settings.list_limit, replay_),
      screen_(settings.http, {[this] { return screen_place(); },
                              [this](AgentTyped typed) { on_typed(std::move(typed)); },
                              [this](AgentOutput output, bool by_itself) {
                                  report_late(std::move(output), by_itself);
                              }}) {}

void Driver::prompt(Prompt prompt) {
    CHECK(is_free() && !prompt_);
    keep(coalescer_.flush());  // reported just after the last answer
    coalescer_.reset();
    prompt_ = std::move(prompt);
    kept_ = 0;
    settle_.stop();
    idle_.stop();
    if (process_) processes_.work(*process_);
    on_event(ExchangeEvent{.kind = ExchangeEvent::Kind::begin});
    arm(start_limit_, settings_.start_limit, &Driver::on_start_limit);
    on_event(SessionEvent::want);
}

void Driver::attach(AttachRequest request) {
    CHECK(!is_ending());
    if (!last_) {  // no prompt yet: updates are reported to the session anyway
        last_.emplace();
        last_->done = request.ask.on_event;
    }
    attach_requests_.push_back(std::move(request));
    if (!session_.is_on_the_way())
        arm(start_limit_, settings_.start_limit, &Driver::on_start_limit);
    on_event(SessionEvent::want);
}

void Driver::adopt(Prompt prompt) {
    prompt_->start = std::move(prompt.start);
    prompt_->delta = std::move(prompt.delta);
    prompt_->done = std::move(prompt.done);
}

void Driver::decide(NotifyAgent const& what) {
    if (!prompt_ || prompt_->request.ask.attempt != what.attempt) return;
    Decision decision = what.approved ? Decision::allowed : Decision::denied;
    if (what.cancelled) decision = Decision::cancelled;
    on_event(ExchangeEvent{
        .kind = ExchangeEvent::Kind::decide, .number = what.ask, .decision = decision});
}

void Driver::cancel() { on_event(ExchangeEvent{.kind = ExchangeEvent::Kind::cancel}); }

void Driver::end() { on_event(SessionEvent::end); }

void Driver::close() { on_event(SessionEvent::close); }

void Driver::on_event(SessionEvent event, Failure const& failure) {
    SessionStep const out = step(session_, event, situation());
    session_ = out.next;
    for (SessionAction const action : out.actions) act(action, failure);
}

void Driver::on_event(ExchangeEvent const& event, Carried carried) {
    ExchangeStep out = step(std::move(exchange_), event);
    exchange_ = std::move(out.next);
    for (ExchangeAction const& action : out.actions) act(action, carried);
}

void Driver::act(SessionAction action, Failure const& failure) {
    using enum SessionAction;
    switch (action) {
        case start_process: return start();
        case greet: return Driver::greet();
        case sign_in: return Driver::sign_in();
        case search: return Driver::search();
        case attach: return attach_session();
        case check_list:
            return finder_.check(cwd_, target_, [this](bool listed) {
                on_event(listed ? SessionEvent::listed : SessionEvent::not_listed);
            });
        case configure: return Driver::configure();
        case announce: return Driver::announce();
        case use: use_session(); return serve_screen();
        case forget_session: return acp_session_.clear();
        case refuse_screen:
            return Driver::refuse_screen(
                {Code::not_ready,
                 "The agent has no session for this one. The next prompt starts one and includes "
                 "the past."});
        case rest: return Driver::rest();
        case report_failure: return Driver::report_failure(failure);
        case close_session:
            dialect_->close_session(acp_session_, [this](Dialect::Answer<void> const&) {
                on_event(SessionEvent::closed);
            });
            return close_limit_.set(settings_.close_limit,
                                    [this] { on_event(SessionEvent::closed); });
        case end_process:
            if (process_) processes_.end(*process_);
            return;
        case clean_up: return Driver::clean_up();
        case report_gone: return listener_.on_gone();
    }
}

void Driver::act(ExchangeAction const& action, Carried& carried) {
    using enum ExchangeAction::Kind;
    switch (action.kind) {
        case send_prompt: return Driver::send_prompt();
        case cancel_prompt:
            dialect_->cancel(acp_session_);
            return cancel_limit_.set(settings_.cancel_limit, [this] {
                on_event(ExchangeEvent{.kind = ExchangeEvent::Kind::cancel_limit});
            });
        case retire_prompt: return Driver::retire_prompt();
        case settle:
        case settle_long:
            cancel_limit_.stop();
            settle_.set(action.kind == settle ? settle_time : settings_.cancel_limit,
                        [this] { on_event(ExchangeEvent{.kind = ExchangeEvent::Kind::settled}); });
            return rest();
        case finish_message:
            // The text came while the exchange settled.
            keep(coalescer_.flush(), false);
            return coalescer_.end_message();
        case forget_updates: keep(coalescer_.flush()); return coalescer_.reset();
        case report_reply: return Driver::report_reply(carried.end);
        case report_failure: {
            keep(coalescer_.flush());
            AskModel const ask = prompt_->request.ask;
            Prompt prompt = *std::exchange(prompt_, std::nullopt);
            bool const refused = std::exchange(start_refused_, false) || !prompt.start.may.still();
            if (!prompt.sent && refused) return prompt.start.refused();
            Failure& failure = carried.failure;
            return prompt.done(AgentFailure{ask.turn,
                                            ask.step,
                                            ask.attempt,
                                            {std::move(failure.code), std::move(failure.message)},
                                            failure.how});
        }
        case report_free: return listener_.on_free();
        case end_process: why_ended_ = "it did not exit after SIGTERM"; return end();
        case ask_person: return Driver::ask_person(std::move(carried.question), action.number);
        case answer: return dialect_->answer(action.question, action.decision);
    }
}

Situation Driver::situation() const {
    using enum Situation::Wanted;
    auto const to = goal();
    Situation out{.open = !acp_session_.empty(),
                  .signs_in = !settings_.auth_method.empty(),
                  .misses_past = misses_past(),
                  .can = can_};
    if (!to) return out;
    if (prompt_) {
        out.wanted = prompt_->request.external->again ? repeat : Situation::Wanted::prompt;
    } else {
        out.wanted = attach_requests_.front().ask.has_past ? screen_with_past : screen;
    }
    out.known = !to->acp_session.empty();
    bool const waits = exchange_.state == PromptExchange::State::waiting;
    out.attached = out.open && (!waits || acp_session_ == to->acp_session);
    return out;
}

std::optional<Driver::Goal> Driver::goal() const {
    if (prompt_) {
        AgentContext const& external = *prompt_->request.external;
        return Goal{external.acp_session, external.cwd, external.project};
    }
    if (attach_requests_.empty()) return std::nullopt;
    port::TerminalRequest const& ask = attach_requests_.front().ask;
    return Goal{ask.acp_session, ask.cwd, ask.project};
}

void Driver::arm(Timer& timer, Duration delay, void (Driver::*then)()) {
    timer.set(delay, [weak = weak_from_this(), then] {
        if (auto const self = weak.lock()) (self.get()->*then)();
    });
}

void Driver::start() {
    auto const to = goal();
    auto const folder = settings_.folder(to->cwd);
    if (!folder) {
        Failure const why{AgentFailure::How::refused, "agent_refused",
                          "The session's folder " + folder.error().detail + "."};
        return on_event(SessionEvent::not_started, why);
    }
    cwd_ = *folder;
    if (!settings_.password_variable.empty()) password_ = settings_.random();
    port::ProcessSpec spec = process_of(settings_, cwd_, password_);
    started_ = words_of(spec);
    if (!settings_.attach_command.empty()) {
        port_ = settings_.free_port();
        spec.argv.insert(spec.argv.end(), {"--port", std::to_string(port_)});
    }
    if (!to->project.empty()) spec.share += ", project " + to->project;
    start_refused_ = false;
    spec.may_start = [weak = weak_from_this()] {
        auto const self = weak.lock();
        return self && self->may_start();
    };
    spec.on_output = [weak = weak_from_this()](std::string_view bytes) {
        if (auto const self = weak.lock()) self->on_output(bytes);
    };
    process_ = processes_.start(
        std::move(spec),
        [self = shared_from_this()](port::ProcessEnd const& end) { self->on_exit(end); });
    on_event(SessionEvent::started);
}

// The prompt may be a later one than that for which the process was started.
bool Driver::may_start() {
    start_refused_ = prompt_ && !prompt_->start.may.still();
    return !start_refused_;
}

// The session is ready. The process stays for a later prompt if this one must not begin any more.
void Driver::use_session() {
    if (!prompt_ || prompt_->start.may.still())
        return on_event(ExchangeEvent{.kind = ExchangeEvent::Kind::send});
    on_event(ExchangeEvent{.kind = ExchangeEvent::Kind::failed});
    rest();
    listener_.on_free();
}

void Driver::on_start_limit() {
    if (!session_.is_on_the_way() || !goal()) return;
    why_ended_ =
        "it was not ready in " + std::to_string(settings_.start_limit.count() / 1'000) + " s";
    bool const early = session_.state <= ProcessSession::State::signing_in;
    if (early) why_ended_ += last_invalid_line();
    end();
}

void Driver::on_output(std::string_view bytes) {
    auto const alive = shared_from_this();
    if (dialect_->receive(bytes)) return;
    why_ended_ = "it wrote a line longer than 32 MiB";
    end();
}

void Driver::on_exit(port::ProcessEnd const& end) {
    auto const alive = shared_from_this();
    process_.reset();
    error_tail_ = end.error;
    if (why_ended_.empty()) {
        why_ended_ = how_ended(end);
        if (end.how == port::ProcessEnd::How::exited) why_ended_ += last_invalid_line();
    }
    Failure const failure{AgentFailure::How::died, "agent_crashed", why_ended_ + last_words()};
    on_event(SessionEvent::exited, failure);
}

// Nothing that the agent reported before its end is lost.
void Driver::clean_up() {
    for (Timer* const timer :
         {&start_limit_, &close_limit_, &cancel_limit_, &settle_, &idle_, &lease_, &flush_})
        timer->stop();
    finder_.stop();
    dialect_->close();
    if (settings_.ended) settings_.ended(id_);
    screen_.drain();
    keep(coalescer_.flush());
}

void Driver::report_failure(Failure const& failure) {
    refuse_screen({Code::agent_unavailable, failure.message});
    bool const gone = session_.state == ProcessSession::State::gone;
    on_event(
        ExchangeEvent{.kind = gone ? ExchangeEvent::Kind::exited : ExchangeEvent::Kind::failed},
        {.failure = failure});
}

// The process ends after some time without a prompt, an update or an attached terminal.
void Driver::rest() {
    if (process_) {
        processes_.rest(*process_, [weak = weak_from_this()] {
            auto const self = weak.lock();
            if (self && self->is_free() && !self->is_attached()) self->close();
        });
    }
    resting_since_ = activity_;
    arm(idle_, settings_.idle_stop, &Driver::on_idle);
}

void Driver::on_idle() {
    if (goal()) return;
    activity_ != resting_since_ || lease_.is_set() ? rest() : close();
}

// Returns the last lines of its standard error, without stack frames: these name places in the code
// and not the error.
std::string Driver::last_words() const {
    constexpr std::size_t lines_max = 5;
    constexpr std::size_t most = 600;
    std::string_view rest(error_tail_);
    std::string out;
    for (std::size_t lines = 0; lines < lines_max && !rest.empty();) {
        auto const end = rest.rfind('\n');
        std::string_view const line = trimmed(rest.substr(end + 1));
        rest = rest.substr(0, end == std::string_view::npos ? 0 : end);
        bool const frame = line.starts_with("at ") || line.starts_with("^");
        if (line.empty() || frame) continue;
        if (out.size() + line.size() > most && !out.empty()) break;
        ++lines;
        out.insert(0, out.empty() ? "" : " / ").insert(0, line);
    }
    out.resize(cut_utf8(out, most).size());
    if (out.empty() || why_ended_.ends_with(out)) return "";
    return without_secrets(": " + out);
}

// For a program that does not speak ACP, or writes complaints where messages are expected.
std::string Driver::last_invalid_line() const {
    std::string const line = dialect_->last_invalid_line();
    return line.empty() ? ""
                        : without_secrets(", and wrote a line that is not an ACP message: " + line);
}

std::string Driver::without_secrets(std::string text) const {
    return acp::without_secrets(settings_, std::move(text), password_);
}

}  // namespace dormouse::acp
