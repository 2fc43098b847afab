#include "acp/driver.h"

#include "acp/prompt.h"
#include "base/check.h"
#include "base/text.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr Duration flush_every{2'000};
constexpr std::uint32_t updates_per_second_max = 1'000;
constexpr std::size_t replay_max = std::size_t{16} << 20;
constexpr std::size_t error_kept = std::size_t{64} << 10;
constexpr std::size_t asks_open_max = 64;
constexpr std::size_t title_max = 200;

FinishReason finish_of(std::string const& reason) {
    if (reason == "max_tokens") return FinishReason::length;
    if (reason == "max_turn_requests") return FinishReason::step_limit;
    if (reason == "refusal") return FinishReason::refusal;
    if (reason == "cancelled") return FinishReason::cancelled;
    return FinishReason::stop;
}

Usage usage_of(json::View usage) {
    return {usage["inputTokens"].integer_or(0), usage["outputTokens"].integer_or(0),
            usage["cachedReadTokens"].integer_or(0), usage["thoughtTokens"].integer_or(0)};
}

std::string whole_characters(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    text.resize(most);
    return text;
}

// Programs say in different places how they call their tool: "bash", "Bash".
std::vector<std::string> names_of(json::View call) {
    std::vector<std::string> out;
    for (json::View const name :
         {call["name"], call["_meta"]["claudeCode"]["toolName"], call["title"]}) {
        std::string const word = lower_case(name.string_or(""));
        bool const one_word =
            !word.empty() && word.size() <= 64 && word.find_first_of(" \n\t") == std::string::npos;
        if (one_word) out.push_back("acp:" + word);
    }
    return out;
}

}  // namespace

Driver::Driver(Settings const& settings, port::Processes& processes, port::Loop& loop,
               SessionId session, Told told)
    : settings_(settings),
      processes_(processes),
      loop_(loop),
      session_(session),
      told_(std::move(told)),
      rpc_({[this](std::string const& line) {
                if (process_) processes_.write(*process_, line);
            },
            [this](std::string const& method, Json id, Json const& params) {
                on_request(method, std::move(id), params);
            },
            [this](std::string const& method, Json const& params) {
                if (method == "session/update") on_update(json::View(params));
            }}) {}

void Driver::prompt(Prompt prompt) {
    CHECK(idle() && phase_ != Phase::gone);
    prompt_ = std::move(prompt);
    updates_ = asks_ = 0;
    sent_ = just_answered_ = stirred_ = false;
    ++turn_of_clock_;
    ++idle_clock_;
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
    if (!folder) return fail(AgentFailure::How::refused, "agent_refused", folder.error().detail);
    cwd_ = *folder;
    port::ProcessSpec spec;
    if (settings_.before) spec.argv = settings_.before(cwd_);
    spec.argv.insert(spec.argv.end(), settings_.argv.begin(), settings_.argv.end());
    spec.cwd = cwd_;
    spec.environment = settings_.environment;
    if (!settings_.password_variable.empty()) {
        password_ = settings_.random();
        spec.environment.push_back(settings_.password_variable + "=" + password_);
    }
    if (!settings_.door.empty()) {
        port_ = settings_.free_port();
        spec.argv.insert(spec.argv.end(), {"--port", std::to_string(port_)});
    }
    spec.time_limit = Duration::max();
    spec.error_kept = error_kept;
    spec.on_output = [weak = weak_from_this()](std::string_view bytes) {
        if (auto const self = weak.lock()) self->on_output(bytes);
    };
    process_ = processes_.start(
        std::move(spec),
        [self = shared_from_this()](port::ProcessEnd const& end) { self->on_end(end); });
    limit_start();
    initialize();
}

// Programs may take their time to start, but not for ever.
void Driver::limit_start() {
    loop_.after(settings_.start_limit, [weak = weak_from_this(), turn = turn_of_clock_] {
        auto const self = weak.lock();
        if (!self || self->turn_of_clock_ != turn || self->sent_ || !self->goal()) return;
        if (self->phase_ == Phase::gone) return;
        self->why_ended_ = "it was not ready in " +
                           std::to_string(self->settings_.start_limit.count() / 1000) + " s";
        self->end();
    });
}

void Driver::on_output(std::string_view bytes) {
    auto const alive = shared_from_this();
    if (rpc_.receive(bytes)) return;
    why_ended_ = "it wrote a line longer than 32 MiB";
    end();
}

void Driver::end() {
    ending_ = true;
    if (process_) processes_.end(*process_);
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
            case How::exited: why_ended_ = "it ended with status " + status; break;
            case How::signalled: why_ended_ = "it was ended by signal " + status; break;
            case How::not_started: why_ended_ = "it could not be started: " + end.error; break;
            default: why_ended_ = "it wrote too much"; break;
        }
    }
    rpc_.close();
    workplace_.close();
    if (settings_.ended) settings_.ended(session_);
    tell_held(held_news_.size());
    keep(scribe_.flush());
    fail(AgentFailure::How::died, "agent_crashed", why_ended_ + last_words());
    told_.gone();
}

// The last line that it complained with.
std::string Driver::last_words() const {
    std::string_view text(error_tail_);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r'))
        text.remove_suffix(1);
    text = text.substr(text.rfind('\n') + 1);
    constexpr std::size_t most = 200;
    if (text.empty() || why_ended_.ends_with(text)) return "";
    return without_secrets(": " + std::string(text.substr(0, most)));
}

std::string Driver::without_secrets(std::string text) const {
    auto const hide = [&](std::string const& secret) {
        if (secret.size() < 6) return;
        for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3))
            text.replace(at, secret.size(), "***");
    };
    for (std::string const& secret : settings_.secrets) hide(secret);
    hide(password_);
    return text;
}

void Driver::send_prompt() {
    port::ModelRequest const& request = prompt_->request;
    AskModel const& ask = request.ask;
    AgentContext const& context = *request.program;
    std::string const marker = marker_of(session_, ask.turn, ask.step);
    PromptTerms terms{.images = images_, .past_bytes = settings_.past_bytes};
    terms.tell_past = std::exchange(told_past_, false);
    terms.past_by_tool = has_servers_;
    bool const found = replayed_ && holds_marker(replay_, marker, ask.attempt);
    bool const missed = replayed_ && !found;
    terms.sure = context.again && (context.turn.heard || found);
    terms.go_on = terms.sure || (context.again && !missed) || !context.turn.verdicts.empty();
    replayed_ = false;
    replay_.clear();
    json::Writer out;
    out.begin_object().member("sessionId", acp_session_);
    out.member("prompt", prompt_blocks(request, terms, marker + std::to_string(ask.attempt)));
    sent_ = true;
    rpc_.call("session/prompt", out.end_object().json(),
              [this](RpcPeer::Answer answer) { answered(std::move(answer)); });
}

void Driver::answered(RpcPeer::Answer answer) {
    open_asks_.clear();
    sent_ = false;
    if (std::exchange(cancelling_, false)) return after_cancel();
    if (!prompt_) return;
    if (!answer) return refuse(answer.error());
    json::View const result(*answer);
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
    reply.finish = finish_of(result["stopReason"].string_or("end_turn"));
    reply.usage = usage_of(result["usage"]);
    last_ = std::exchange(prompt_, std::nullopt);
    last_->request.view = {};
    last_->done(std::move(reply));
    rest();
}

// Another may have come meanwhile; whoever owns this gives it when asked again.
void Driver::after_cancel() {
    scribe_.reset();
    rest();
    told_.rested();
}

// What comes a moment later still belongs to the prompt that has its answer.
void Driver::rest() {
    ++turn_of_clock_;
    just_answered_ = true;
    loop_.after(Duration(1'000), [weak = weak_from_this(), turn = turn_of_clock_] {
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
    loop_.after(settings_.idle_stop, [weak = weak_from_this(), turn = ++idle_clock_] {
        auto const self = weak.lock();
        if (!self || self->idle_clock_ != turn || self->goal()) return;
        bool const stays = std::exchange(self->stirred_, false) || self->leased_;
        stays ? self->limit_idle() : self->end();
    });
}

void Driver::refuse(RpcError const& error) {
    if (error.code == code::closed) return;  // its end is told
    if (!goal()) return rest();
    std::string const said = without_secrets(
        error.message + (error.data.empty() || error.data.size() > 300 ? "" : " " + error.data));
    if (error.code == code::login_required) {
        return fail(AgentFailure::How::refused, "agent_login",
                    "The agent wants a login or a key: " + said + "." + ways_to_sign_in());
    }
    // Of a session that it knew a moment ago: it is taken up, or told, anew.
    bool const lost = phase_ == Phase::ready && says_unknown(error);
    if (lost) acp_session_.clear();
    fail(lost ? AgentFailure::How::died : AgentFailure::How::refused,
         lost ? "agent_crashed" : "agent_refused", "The agent refused: " + said);
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
    for (Ask const& ask : std::exchange(open_asks_, {})) answer_ask(ask, false, true);
    json::Writer out;
    out.begin_object().member("sessionId", acp_session_).end_object();
    rpc_.notify("session/cancel", out.json());
    ++turn_of_clock_;
    loop_.after(settings_.cancel_limit, [weak = weak_from_this(), turn = turn_of_clock_] {
        auto const self = weak.lock();
        if (!self || self->turn_of_clock_ != turn || !self->cancelling_) return;
        self->why_ended_ = "it did not stop when it was asked to";
        self->end();
    });
}

void Driver::on_update(json::View params) {
    if (params["sessionId"].string_or("") != acp_session_) return;  // not ours
    json::View const update = params["update"];
    if (replaying_) {
        bool const user = update["sessionUpdate"].string_or("") == "user_message_chunk";
        if (user && replay_.size() < replay_max)
            replay_ += update["content"]["text"].string_or("") + "\n";
        return;
    }
    stirred_ = true;
    bool const brief = too_many();
    auto heard = scribe_.hear(update, brief);
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

void Driver::on_request(std::string const& method, Json id, Json const& params) {
    if (method == "session/request_permission")
        return ask_permission(std::move(id), json::View(params));
    json::View const given(params);
    bool const ours = !acp_session_.empty() && given["sessionId"].string_or("") == acp_session_;
    if (ours && workplace_.request(method, id, given, cwd_)) return;
    rpc_.refuse(id, rpc::code::method_not_found, "This client has no " + method + ".");
}

void Driver::ask_permission(Json id, json::View params) {
    Ask ask{asks_ + 1, std::move(id),
            params["options"].exists() ? params["options"].copy() : Json()};
    bool const ours = params["sessionId"].string_or("") == acp_session_;
    bool const at_screen = ours && !prompt_ && leased_ && screen_asks_.size() < asks_open_max;
    if (at_screen) return screen_asks_.push_back(std::move(ask));
    if (!ours || !prompt_ || !sent_ || open_asks_.size() >= asks_open_max)
        return answer_ask(ask, false, true);
    ++asks_;
    json::View const call = params["toolCall"];
    json::View const input = call["rawInput"];
    keep(scribe_.flush());
    scribe_.end_message();
    AskModel const& owed = prompt_->request.ask;
    AgentAsk out{owed.turn, owed.step, owed.attempt, updates_, {}, {}, names_of(call)};
    out.spec.model_id = call["toolCallId"].string_or("");
    out.spec.tool = "acp:" + call["kind"].string_or("other");
    out.spec.input = input.exists() ? json::compact(input.copy()) : Json();
    out.spec.input_digest = sha256(json::canonical(out.spec.input));
    out.spec.ask = ask.number;
    out.spec.ask_attempt = owed.attempt;
    out.terms.reason = PauseReason::approval;
    out.terms.message = call["title"].string_or("");
    if (out.terms.message.empty()) out.terms.message = "The agent asks for " + out.spec.tool;
    open_asks_.push_back(std::move(ask));
    prompt_->done(std::move(out));
}

void Driver::tell(TellAgent const& what) {
    if (!prompt_ || prompt_->request.ask.attempt != what.attempt) return;
    auto const found = std::ranges::find(open_asks_, what.ask, &Ask::number);
    if (found == open_asks_.end()) return;
    Ask const ask = std::move(*found);
    open_asks_.erase(found);
    answer_ask(ask, what.approved, what.cancelled);
}

// By kind, never by id: each program names them as it likes. Once is preferred to always.
void Driver::answer_ask(Ask const& ask, bool approved, bool cancelled) {
    std::string once, always;
    json::View(ask.options).elements([&](json::View option) {
        std::string const kind = option["kind"].string_or("");
        std::string const id = option["optionId"].string_or("");
        if (kind == (approved ? "allow_once" : "reject_once") && once.empty()) once = id;
        if (kind == (approved ? "allow_always" : "reject_always") && always.empty()) always = id;
    });
    std::string const chosen = once.empty() ? always : once;
    json::Writer out;
    out.begin_object().key("outcome").begin_object();
    if (cancelled || chosen.empty()) {
        out.member("outcome", "cancelled");
    } else {
        out.member("outcome", "selected").member("optionId", chosen);
    }
    rpc_.respond(ask.id, out.end_object().end_object().json());
}

}  // namespace dormouse::acp
