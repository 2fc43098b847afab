#include "runtime/models.h"

#include "base/text/utf8.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

namespace dormouse {

struct Script::Rule::Body {
    enum class When : std::uint8_t { text, answered, waiting, otherwise };
    When when = When::otherwise;
    std::string word;
    ModelAnswer answer;
    std::size_t piece_bytes = 0;  // 0: the text is not streamed
    Duration pause{};
    Duration delay{};
    std::optional<std::uint32_t> times = {};  // limit for `answers`
    std::uint32_t failures = 0;               // still to come
    std::size_t pieces_before_failure = 0;
    std::optional<std::string> refusal = {};
    std::uint32_t answers = 0;  // given so far
    std::atomic<std::size_t> asked = 0;

    [[nodiscard]] bool fits(ModelQuestion const& question) const;
    [[nodiscard]] std::string name() const;
    [[nodiscard]] bool missing() const;
};

namespace {

// The answer to one question, copied from its rule.
struct Turn {
    ModelAnswer answer;
    std::size_t piece_bytes = 0;
    Duration pause{};
    Duration delay{};
    std::optional<std::size_t> breaks_after = {};  // pieces
    std::optional<std::string> refusal = {};
};

// Returns false if it was stopped.
bool wait(Duration time, std::stop_token const& stop) {
    if (time <= Duration()) return !stop.stop_requested();
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    static_cast<void>(never.wait_for(lock, stop, time, [] { return false; }));
    return !stop.stop_requested();
}

std::unexpected<Error> passing() {
    return fail(Code::overloaded, "the script makes this attempt fail");
}

Result<ModelAnswer> play(Turn turn, std::function<void(std::string)> const& say,
                         std::stop_token const& stop) {
    if (!wait(turn.delay, stop)) return passing();
    if (turn.refusal) return fail(Code::bad_value, *turn.refusal);
    std::string_view text = turn.answer.text;
    std::size_t const bytes = turn.piece_bytes == 0 ? text.size() : turn.piece_bytes;
    bool const shown = turn.piece_bytes > 0 || turn.breaks_after;
    std::size_t pieces = 0;
    for (; shown && !text.empty(); ++pieces) {
        if (turn.breaks_after && pieces >= *turn.breaks_after) return passing();
        if (!wait(turn.pause, stop)) return passing();
        auto const piece = piece_utf8(text, bytes);
        text.remove_prefix(piece.size());
        say(std::string(piece));
    }
    if (turn.breaks_after) return passing();
    return std::move(turn.answer);
}

}  // namespace

std::string Script::Rule::Body::name() const {
    switch (when) {
        case When::text: return "on(\"" + word + "\")";
        case When::answered: return "when_answered(\"" + word + "\")";
        case When::waiting: return "when_waiting(\"" + word + "\")";
        case When::otherwise: return "otherwise()";
    }
    return {};
}

bool Script::Rule::Body::missing() const {
    if (times) return answers < *times;
    return when != When::otherwise && answers == 0 && !(refusal && asked > 0);
}

struct Script::State {
    std::mutex mutex;
    // Protected by mutex.
    std::vector<std::shared_ptr<Rule::Body>> rules;
    std::vector<std::string> unexpected;  // the first few questions that matched no rule

    std::atomic<std::size_t> asked = 0;
};

namespace {

// The newest user message, and the newest call after it.
struct Tail {
    std::string const* text = nullptr;
    TranscriptCall const* newest = nullptr;
};

Tail tail_of(ModelQuestion const& question) {
    Tail out;
    for (TranscriptMessage const& message : question.messages) {
        bool const asks = message.role == TranscriptMessage::Role::user && !message.late;
        if (asks) out = {&message.text, nullptr};
        if (!message.calls.empty()) out.newest = &message.calls.back();
    }
    return out;
}

}  // namespace

bool Script::Rule::Body::fits(ModelQuestion const& question) const {
    Tail const tail = tail_of(question);
    if (when == When::otherwise) return true;
    if (when == When::text) return !tail.newest && tail.text && tail.text->contains(word);
    return tail.newest && tail.newest->tool == word &&
           tail.newest->waits == (when == When::waiting);
}

Script::Rule& Script::Rule::says(std::string const& text) {
    if (!body_->answer.text.empty()) body_->answer.text += '\n';
    body_->answer.text += text;
    return *this;
}

Script::Rule& Script::Rule::calls(std::string tool, Json input) {
    body_->answer.calls.push_back({std::move(tool), std::move(input), {}});
    return *this;
}

Script::Rule& Script::Rule::streams(std::size_t bytes, Duration pause) {
    body_->piece_bytes = std::max<std::size_t>(bytes, 1);
    body_->pause = pause;
    return *this;
}

Script::Rule& Script::Rule::after(Duration delay) {
    body_->delay = delay;
    return *this;
}

Script::Rule& Script::Rule::times(std::uint32_t times) {
    body_->times = times;
    return *this;
}

Script::Rule& Script::Rule::failing(std::uint32_t times) {
    body_->failures = times;
    return *this;
}

Script::Rule& Script::Rule::breaking_off(std::size_t pieces, std::uint32_t times) {
    body_->pieces_before_failure = pieces;
    return failing(times);
}

Script::Rule& Script::Rule::refuses(std::string why) {
    body_->refusal = std::move(why);
    return *this;
}

std::size_t Script::Rule::asked() const { return body_->asked; }

Script::Script() : state_(std::make_shared<State>()) {}

Script::Rule Script::add(std::shared_ptr<Rule::Body> body) {
    Rule rule;
    rule.body_ = body;
    std::lock_guard const lock(state_->mutex);
    state_->rules.push_back(std::move(body));
    return rule;
}

Script::Rule Script::on(std::string text) {
    auto body = std::make_shared<Rule::Body>();
    body->when = Rule::Body::When::text;
    body->word = std::move(text);
    return add(std::move(body));
}

Script::Rule Script::when_answered(std::string tool) {
    auto body = std::make_shared<Rule::Body>();
    body->when = Rule::Body::When::answered;
    body->word = std::move(tool);
    return add(std::move(body));
}

Script::Rule Script::when_waiting(std::string tool) {
    auto body = std::make_shared<Rule::Body>();
    body->when = Rule::Body::When::waiting;
    body->word = std::move(tool);
    return add(std::move(body));
}

Script::Rule Script::otherwise() { return add(std::make_shared<Rule::Body>()); }

std::size_t Script::asked() const { return state_->asked; }

Result<void> Script::used_up() const {
    std::lock_guard const lock(state_->mutex);
    std::string wrong;
    for (auto const& rule : state_->rules) {
        if (rule->missing())
            wrong += " " + rule->name() + " answered " + std::to_string(rule->answers) + " times;";
    }
    for (std::string const& question : state_->unexpected)
        wrong += " no rule fitted \"" + question + "\";";
    if (wrong.empty()) return {};
    wrong.pop_back();
    return fail(Code::wrong_state, "the script was not followed:" + wrong);
}

Result<ModelAnswer> Script::answer(State& state, ModelQuestion const& question, Say const& say,
                                   std::stop_token const& stop) {
    constexpr std::size_t unexpected_max = 16;
    ++state.asked;
    std::optional<Turn> turn;
    {
        std::lock_guard const lock(state.mutex);
        for (auto const& rule : state.rules) {
            bool const spent = rule->times && rule->answers >= *rule->times;
            if (spent || !rule->fits(question)) continue;
            ++rule->asked;
            turn = Turn{rule->answer, rule->piece_bytes, rule->pause,
                        rule->delay,  std::nullopt,      rule->refusal};
            if (rule->failures > 0) {
                --rule->failures;
                turn->breaks_after = rule->pieces_before_failure;
            } else if (!rule->refusal) {
                ++rule->answers;
            }
            break;
        }
        if (!turn && state.unexpected.size() < unexpected_max)
            state.unexpected.push_back(question.asked());
    }
    if (turn) return play(*std::move(turn), say, stop);
    return fail(Code::bad_value,
                "no rule of the script fits; the newest message is \"" + question.asked() + "\"");
}

Model Script::model() const {
    return streaming_model_from([state = state_](ModelQuestion const& question, Say const& say,
                                                 std::stop_token const& stop) {
        return answer(*state, question, say, stop);
    });
}

}  // namespace dormouse
