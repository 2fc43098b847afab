#include "acp/driver.h"

#include "acp/prompt.h"
#include "acp/text.h"
#include "acp/v1.h"
#include "base/check.h"
#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr Duration flush_every{2'000};
constexpr std::uint32_t updates_per_second_max = 1'000;
constexpr std::size_t replay_max = std::size_t{16} << 20;
constexpr std::size_t asks_open_max = 64;
constexpr std::size_t title_max = 200;
constexpr std::size_t refusal_data_max = 300;

// Of what the program calls its tool, that which a gate could name.
std::vector<std::string> names_of(Question const& question) {
    std::vector<std::string> out;
    for (std::string const& name : question.names) {
        std::string const word = lower_case(name);
        bool const one_word =
            !word.empty() && word.size() <= 64 && word.find_first_of(" \n\t") == std::string::npos;
        if (one_word) out.push_back("acp:" + word);
    }
    return out;
}

// Of one that says too little by itself: what was said of the tool call before. It may change until
// the call begins, so the question stays vague.
Json with_input(Question const& question, Json const& known) {
    json::Writer out;
    out.begin_object().member("kind", question.kind).member("title", question.title);
    return out.member("input", known).end_object().json();
}

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

}  // namespace

Driver::Driver(Settings const& settings, port::Processes& processes, port::Loop& loop,
               SessionId session, Told told)
    : settings_(settings),
      processes_(processes),
      loop_(loop),
      session_(session),
      told_(std::move(told)),
      dialect_(dialect_of(settings, processes,
                          {[this](std::string const& line) {
                               if (process_) processes_.write(*process_, line);
                           },
                           [this](Said said) { on_said(std::move(said)); },
                           [this](Question question) { on_question(std::move(question)); }})) {}

void Driver::prompt(Prompt prompt) {
    CHECK(idle() && phase_ != Phase::gone);
    keep(scribe_.flush());  // what it said a moment after its last answer
    prompt_ = std::move(prompt);
    updates_ = asks_ = 0;
    sent_ = just_answered_ = stirred_ = false;
    ++turn_of_clock_;
    ++idle_clock_;
    if (process_) processes_.work(*process_);
    answer_screen_asks();
    scribe_.reset();
    if (phase_ == Phase::none) return start();
    limit_start();
    if (phase_ == Phase::starting || phase_ == Phase::attaching) return;  // the way there goes on
    bool const known = phase_ == Phase::ready && !acp_session_.empty();
    if (known && acp_session_ == prompt_->request.program->acp_session) return send_prompt();
    attach();
}

void Driver::adopt(Prompt prompt) {
    prompt_->delta = std::move(prompt.delta);
    prompt_->done = std::move(prompt.done);
}

void Driver::start() {
    auto const folder = settings_.folder(goal()->cwd);
    if (!folder)
        return fail(AgentFailure::How::refused, "agent_refused",
                    "The session's folder " + folder.error().detail + ".");
    cwd_ = *folder;
    if (!settings_.password_variable.empty()) password_ = settings_.random();
    port::ProcessSpec spec = process_of(settings_, cwd_, password_);
    started_ = words_of(spec);
    if (!settings_.door.empty()) {
        port_ = settings_.free_port();
        spec.argv.insert(spec.argv.end(), {"--port", std::to_string(port_)});
    }
    if (std::string const project = goal()->project; !project.empty())
        spec.share += ", project " + project;
    spec.on_output = [weak = weak_from_this()](std::string_view bytes) {
        if (auto const self = weak.lock()) self->on_output(bytes);
    };
    process_ = processes_.start(
        std::move(spec),
        [self = shared_from_this()](port::ProcessEnd const& end) { self->on_end(end); });
    limit_start();
    greet();
}

// Programs may take their time to start, but not for ever.
void Driver::limit_start() {
    loop_.after(settings_.start_limit, [weak = weak_from_this(), turn = turn_of_clock_] {
        auto const self = weak.lock();
        if (!self || self->turn_of_clock_ != turn || self->sent_ || !self->goal()) return;
        if (self->phase_ == Phase::gone) return;
        self->why_ended_ = "it was not ready in " +
                           std::to_string(self->settings_.start_limit.count() / 1000) + " s" +
                           self->nonsense();
        self->end();
    });
}

void Driver::on_output(std::string_view bytes) {
    auto const alive = shared_from_this();
    if (dialect_->receive(bytes)) return;
    why_ended_ = "it wrote a line longer than 32 MiB";
    end();
}

void Driver::end() {
    ending_ = true;
    if (process_) processes_.end(*process_);
}

void Driver::put_away() {
    if (ending_) return;  // session/close was sent already, and the process ends after it
    if (phase_ != Phase::ready || !can_.close || acp_session_.empty()) return end();
    ending_ = true;
    dialect_->close_session(acp_session_, [this](Dialect::Answer<void> const&) { end(); });
    loop_.after(settings_.close_limit, [weak = weak_from_this()] {
        if (auto const self = weak.lock()) self->end();
    });
}

void Driver::on_end(port::ProcessEnd const& end) {
    auto const alive = shared_from_this();
    phase_ = Phase::gone;
    ending_ = true;
    process_.reset();
    error_tail_ = end.error;
    if (why_ended_.empty()) {
        using How = port::ProcessEnd::How;
        std::string const status = std::to_string(end.status);
        switch (end.how) {
            case How::exited: why_ended_ = "it ended with status " + status + nonsense(); break;
            case How::signalled: why_ended_ = "it was ended by signal " + status; break;
            case How::not_started: why_ended_ = "it could not be started: " + end.error; break;
            default: why_ended_ = "it wrote too much"; break;
        }
    }
    dialect_->close();
    if (settings_.ended) settings_.ended(session_);
    tell_held(held_news_.size());
    keep(scribe_.flush());
    fail(AgentFailure::How::died, "agent_crashed", why_ended_ + last_words());
    told_.gone();
}

// The last lines that it complained with, without the frames of a stack trace: they say where, and
// not what.
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
    out = whole_characters(std::move(out), most);
    if (out.empty() || why_ended_.ends_with(out)) return "";
    return without_secrets(": " + out);
}

// A program that speaks no ACP, or writes its complaints where messages are expected.
std::string Driver::nonsense() const {
    bool const early = phase_ == Phase::starting || ending_;
    std::string const line = early ? dialect_->nonsense() : "";
    return line.empty() ? "" : without_secrets(", and wrote what is no message of ACP: " + line);
}

std::string Driver::without_secrets(std::string text) const {
    text = acp::without_secrets(settings_, std::move(text));
    if (password_.size() < 6) return text;
    for (auto at = text.find(password_); at != std::string::npos; at = text.find(password_, at + 3))
        text.replace(at, password_.size(), "***");
    return text;
}

void Driver::send_prompt() {
    port::ModelRequest const& request = prompt_->request;
    AskModel const& ask = request.ask;
    AgentContext const& context = *request.program;
    std::string const marker = marker_of(session_, ask.turn, ask.step);
    PromptTerms terms{.images = can_.images, .past_bytes = settings_.past_bytes};
    terms.tell_past = std::exchange(told_past_, false);
    terms.past_by_tool = has_servers_;
    bool const found = replayed_ && holds_marker(replay_, marker, ask.attempt);
    bool const missed = replayed_ && !found;
    terms.has_it = context.again && found;
    terms.repeated = found && holds_marker(replay_, marker, ask.attempt, 2);
    terms.sure = context.again && (context.turn.heard || found);
    terms.go_on = terms.sure || (context.again && !missed) || !context.turn.verdicts.empty();
    replayed_ = false;
    replay_.clear();
    sent_ = true;
    dialect_->prompt(acp_session_,
                     prompt_blocks(request, terms, marker + std::to_string(ask.attempt)),
                     [this](Dialect::Answer<TurnEnd> end) { answered(std::move(end)); });
}

void Driver::answered(Dialect::Answer<TurnEnd> end) {
    open_asks_.clear();
    sent_ = false;
    if (std::exchange(cancelling_, false)) return after_cancel();
    if (!prompt_) return;
    if (!end) return refuse(end.error());
    AskModel const& ask = prompt_->request.ask;
    AgentReply reply;
    reply.turn = ask.turn;
    reply.step = ask.step;
    reply.attempt = ask.attempt;
    show_held();
    auto said = scribe_.flush();
    if (!said.empty() && said.back().kind == NewsKind::message) {
        reply.last = std::move(said.back());
        said.pop_back();
    }
    keep(std::move(said));
    reply.updates = updates_;
    reply.finish = end->finish;
    reply.usage = end->usage;
    last_ = std::exchange(prompt_, std::nullopt);
    last_->request.view = {};
    last_->done(std::move(reply));
    rest();
}

// Another may have come meanwhile; whoever owns this gives it when asked again. Some programs have
// more to say of what was cancelled than of what they finished.
void Driver::after_cancel() {
    rest(settings_.cancel_limit);
    keep(scribe_.flush());
    scribe_.reset();
    told_.rested();
}

// What comes a moment later still belongs to the prompt that has its answer.
void Driver::rest(Duration moment) {
    ++turn_of_clock_;
    just_answered_ = true;
    loop_.after(moment, [weak = weak_from_this(), turn = turn_of_clock_] {
        auto const self = weak.lock();
        if (!self || self->turn_of_clock_ != turn) return;
        self->keep(self->scribe_.flush());
        self->scribe_.end_message();
        self->just_answered_ = false;
    });
    limit_idle();
}

// Put away after a while in which it was not prompted, did nothing by itself, and nobody looked.
void Driver::limit_idle() {
    if (process_) {
        processes_.rest(*process_, [weak = weak_from_this()] {
            auto const self = weak.lock();
            if (self && self->idle() && !self->visited()) self->put_away();
        });
    }
    loop_.after(settings_.idle_stop, [weak = weak_from_this(), turn = ++idle_clock_] {
        auto const self = weak.lock();
        if (!self || self->idle_clock_ != turn || self->goal()) return;
        bool const stays = std::exchange(self->stirred_, false) || self->leased_;
        stays ? self->limit_idle() : self->put_away();
    });
}

void Driver::refuse(Refusal const& refusal) {
    if (refusal.why == Refusal::Why::gone) return;  // its end is told
    if (!goal()) return rest();
    bool const more = !refusal.data.empty() && refusal.data.size() <= refusal_data_max;
    std::string const said =
        without_secrets(refusal.message + (more ? " " + refusal.data : std::string()));
    if (refusal.why == Refusal::Why::login) {
        return fail(AgentFailure::How::refused, "agent_login",
                    "The agent wants a login or a key: " + said + "." + ways_to_sign_in());
    }
    // Of a session that it knew a moment ago: it is taken up, or told its past, once more.
    bool const lost = phase_ == Phase::ready && refusal.why == Refusal::Why::unknown;
    if (!lost)
        return fail(AgentFailure::How::refused, "agent_refused", "The agent refused: " + said);
    acp_session_.clear();
    fail(AgentFailure::How::died, "agent_lost_session",
         "The agent does not know its session any more: " + said);
}

void Driver::fail(AgentFailure::How how, std::string code, std::string message) {
    if (!goal()) return;
    turn_away(message);
    if (prompt_) {
        AskModel const& ask = prompt_->request.ask;
        keep(scribe_.flush());
        AgentFailure failure{
            ask.turn, ask.step, ask.attempt, {std::move(code), std::move(message)}, how};
        Prompt prompt = *std::exchange(prompt_, std::nullopt);
        prompt.done(std::move(failure));
    }
    if (process_) return phase_ == Phase::ready ? rest() : end();
    ending_ = true;
    if (std::exchange(phase_, Phase::gone) == Phase::none) told_.gone();  // it never began
}

void Driver::cancel() {
    if (!prompt_) return;
    last_ = std::exchange(prompt_, std::nullopt);
    last_->request.view = {};
    keep(scribe_.flush());
    if (!sent_) return rest();
    cancelling_ = true;
    for (Ask const& ask : std::exchange(open_asks_, {}))
        dialect_->answer(ask.question, Decision::cancelled);
    dialect_->cancel(acp_session_);
    ++turn_of_clock_;
    loop_.after(settings_.cancel_limit, [weak = weak_from_this(), turn = turn_of_clock_] {
        auto const self = weak.lock();
        if (!self || self->turn_of_clock_ != turn || !self->cancelling_) return;
        self->why_ended_ = "it did not stop when it was asked to";
        self->end();
    });
}

// The program has chosen it itself, or a person at its screen.
void Driver::on_mode(std::string mode) {
    mode_ = std::move(mode);
    if (phase_ == Phase::ready) told_.mode(mode_);
}

void Driver::on_said(Said said) {
    if (auto* const change = std::get_if<ModeChange>(&said))
        return on_mode(std::move(change->mode));
    if (replaying_) {
        auto const* const user = std::get_if<UserText>(&said);
        if (user) replay_ += user->text + "\n";
        if (replay_.size() > replay_max) replay_.erase(0, replay_.size() - replay_max / 2);
        return;
    }
    stirred_ = true;
    bool const brief = too_many();
    auto heard = scribe_.hear(std::move(said), brief);
    if (heard.delta) show(*std::move(heard.delta), brief);
    keep(std::move(heard.news));
    if (!heard.title.empty() && prompt_ && !std::exchange(prompt_->request.program->titled, true))
        prompt_->done(Change{whole_characters(heard.title, title_max), {}, {}, {}, true});
    if (!scribe_.has_more() || std::exchange(flush_due_, true)) return;
    loop_.after(flush_every, [weak = weak_from_this()] {
        auto const self = weak.lock();
        if (!self) return;
        self->flush_due_ = false;
        self->keep(self->scribe_.flush());
    });
}

bool Driver::too_many() {
    if (heard_++ == 0) {
        loop_.after(Duration(1'000), [weak = weak_from_this()] {
            auto const self = weak.lock();
            if (!self) return;
            self->heard_ = 0;
            self->show_held();
        });
    }
    return heard_ > updates_per_second_max;
}

// Readers are shown less often, and no less, when there are too many.
void Driver::show(port::Delta delta, bool brief) {
    bool const fits = held_ && held_->kind == delta.kind &&
                      held_->text.size() + delta.text.size() <= Scribe::piece_bytes_max;
    if (fits) {
        held_->text += delta.text;
    } else {
        show_held();
        held_ = std::move(delta);
    }
    if (!brief) show_held();
}

void Driver::show_held() {
    auto held = std::exchange(held_, std::nullopt);
    if (held && prompt_) prompt_->delta(*std::move(held));
}

void Driver::keep(std::vector<News> news) {
    if (!news.empty()) show_held();
    for (News& what : news) {
        if (prompt_ && (sent_ || phase_ == Phase::gone)) {
            AskModel const& ask = prompt_->request.ask;
            prompt_->done(AgentNews{ask.turn, ask.step, ask.attempt, ++updates_, std::move(what)});
        } else if (last_) {
            tell_late(std::move(what), !cancelling_ && !just_answered_);
        }
    }
}

// What a person approves is approved of this program, in this folder and sandbox. A request that
// says little is the rest of what was said of its tool call before.
std::optional<Sha256> Driver::shown_by(Question const& question) const {
    auto const known = scribe_.said_of(question.call);
    if (question.vague || question.input.is_null() || question.shown.is_null() || !known)
        return std::nullopt;
    json::View const request(question.shown);
    json::Writer out;
    out.begin_object().member("request", question.shown).key("known").begin_object();
    json::View(*known).members([&](std::string_view name, json::View value) {
        if (!request[name].exists()) out.member(name, value.copy());
    });
    out.end_object().member("program", program_).member("started", started_);
    out.member("folder", cwd_);
    return sha256(json::canonical(out.end_object().json()));
}

void Driver::on_question(Question question) {
    bool const at_screen = !prompt_ && leased_ && screen_asks_.size() < asks_open_max;
    if (at_screen) return screen_asks_.push_back(question.number);
    if (!prompt_ || !sent_ || open_asks_.size() >= asks_open_max)
        return dialect_->answer(question.number, Decision::cancelled);
    keep(scribe_.flush());
    scribe_.end_message();
    scribe_.complete(question);
    Json const known = question.vague ? scribe_.input_of(question.call) : Json();
    if (!known.is_null()) question.input = with_input(question, known);
    AskModel const& owed = prompt_->request.ask;
    AgentAsk out{owed.turn, owed.step, owed.attempt, updates_, {}, {}, names_of(question)};
    out.own = std::move(question.own);
    out.spec.shown = shown_by(question);
    out.spec.model_id = std::move(question.call);
    out.spec.tool = "acp:" + question.kind;
    out.spec.input = std::move(question.input);
    out.spec.input_digest = sha256(json::canonical(out.spec.input));
    out.spec.ask = ++asks_;
    out.spec.ask_attempt = owed.attempt;
    out.terms.reason = PauseReason::approval;
    out.terms.message = std::move(question.title);
    if (out.terms.message.empty()) out.terms.message = "The agent asks for " + out.spec.tool;
    open_asks_.push_back({asks_, question.number});
    prompt_->done(std::move(out));
}

void Driver::tell(TellAgent const& what) {
    if (!prompt_ || prompt_->request.ask.attempt != what.attempt) return;
    auto const found = std::ranges::find(open_asks_, what.ask, &Ask::number);
    if (found == open_asks_.end()) return;
    Ask const ask = std::move(*found);
    open_asks_.erase(found);
    Decision const said = what.approved ? Decision::allowed : Decision::denied;
    dialect_->answer(ask.question, what.cancelled ? Decision::cancelled : said);
}

}  // namespace dormouse::acp
