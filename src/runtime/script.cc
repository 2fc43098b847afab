#include "runtime/models.h"

#include <atomic>
#include <mutex>

namespace dormouse {

struct Script::Rule::Body {
    enum class When : std::uint8_t { text, answered, waiting, otherwise };
    When when = When::otherwise;
    std::string word;
    ModelAnswer answer;
    std::atomic<std::uint32_t> failures = 0;  // still to come

    [[nodiscard]] bool fits(ModelQuestion const& question) const;
};

struct Script::State {
    std::mutex mutex;
    std::vector<std::shared_ptr<Rule::Body>> rules;  // protected by mutex
    std::atomic<std::size_t> asked = 0;
};

namespace {

// The message that the model answers to, and what it has been told of calls since.
struct Tail {
    std::string const* text = nullptr;
    TranscriptCall const* newest = nullptr;
};

Tail tail_of(ModelQuestion const& question) {
    Tail out;
    for (TranscriptMessage const& message : question.messages) {
        bool const asks = message.role == TranscriptMessage::Role::user && message.calls.empty();
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
    body_->answer.calls.push_back({std::move(tool), std::move(input)});
    return *this;
}

Script::Rule& Script::Rule::failing(std::uint32_t times) {
    body_->failures = times;
    return *this;
}

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

Result<ModelAnswer> Script::answer(State& state, ModelQuestion const& question) {
    ++state.asked;
    std::lock_guard const lock(state.mutex);
    for (auto const& rule : state.rules) {
        if (!rule->fits(question)) continue;
        if (rule->failures == 0) return rule->answer;
        --rule->failures;
        return fail(Code::overloaded, "as the script says, this attempt fails");
    }
    return fail(Code::bad_value,
                "no rule of the script fits; the newest message is \"" + question.asked() + "\"");
}

Model Script::model() const {
    return model_from([state = state_](ModelQuestion const& question, std::stop_token const&) {
        return answer(*state, question);
    });
}

}  // namespace dormouse
