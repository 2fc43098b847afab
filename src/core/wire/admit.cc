#include "wire/admit.h"

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "json/json.h"
#include "json/stored.h"
#include "wire/outbox_fields.h"

#include <type_traits>
#include <utility>

namespace dormouse::wire {

namespace {

// Passes each text and each JSON value of a command to `visit(name, value)`.
template <class Visit> struct Fields {
    Visit& visit;

    void of(std::string_view name, std::string& text) const { visit(name, text); }
    void of(std::string_view name, Json& value) const { visit(name, value); }
    template <class T> void of(std::string_view name, std::optional<T>& value) const {
        if (value) of(name, *value);
    }
    template <class T> void of(std::string_view name, OptionalIndirect<T>& value) const {
        if (value) of(name, *value);
    }
    template <class T> void of(std::string_view name, std::vector<T>& values) const {
        for (T& value : values) of(name, value);
    }
    // Numbers, times, enums and ids hold no text from outside.
    template <class T>
        requires(std::is_trivially_copyable_v<T> && !Described<T>)
    void of(std::string_view, T&) const {}
    // Checks the members by their JSON names.
    template <Described S> void of(std::string_view, S& value) const { all(rows<S>, value); }
    void of(std::string_view, Actor& by) const { of("by", by.name); }
    void of(std::string_view, Artifact& artifact) const {
        of("name", artifact.name);
        of("mime", artifact.mime);
    }
    void of(std::string_view name, InputFile& file) const { of(name, file.artifact); }
    void of(std::string_view name, std::pair<Seq, Artifact>& copy) const { of(name, copy.second); }
    void of(std::string_view name, Attached& attached) const { of(name, attached.list); }
    void of(std::string_view name, Reassign::To& to) const { of(name, to.name); }
    void of(std::string_view, MailTarget& to) const { of("to", to.alias); }

    void of(std::string_view, TaskAsk& ask) const {
        of("task", ask.task);
        of("agent", ask.agent);
        of("description", ask.description);
        of("parts", ask.parts);
        of("mark", ask.mark);
        of("reason", ask.reason);
    }
    void of(std::string_view, Create::FirstPrompt& prompt) const {
        of("prompt", prompt.parts);
        of("prompt", prompt.files);
    }
    void of(std::string_view, Create::ForkOf& fork) const {
        of("messages", fork.messages);
        of("artifacts", fork.artifacts);
    }
    void of(std::string_view, Create::Ask& ask) const {
        of("call", ask.call);
        of("terms", ask.terms);
        of("parts", ask.parts);
    }
    void of(std::string_view name, OutboxBody& what) const {
        std::visit([&](auto& body) { of(name, body); }, what);
    }

    void operator()(Create& c) const {
        of("project", c.project);
        of("agent", c.agent);
        of("alias", c.alias);
        of("title", c.title);
        of("cwd", c.cwd);
        of("labels", c.labels);
        of("prompt", c.prompt);
        of("fork", c.fork);
        of("ask", c.ask);
    }
    void operator()(Prompt& c) const {
        of("parts", c.parts);
        of("parts", c.answer_output);
        of("parts", c.files);
    }
    void operator()(ModelReply& c) const {
        of("parts", c.parts);
        of("calls", c.calls);
    }
    void operator()(ModelFailure& c) const { of("error", c.error); }
    void operator()(ToolOutcome& c) const {
        std::visit([&](auto& what) { outcome(what); }, c.what);
    }
    void operator()(GateOutcome& c) const {
        of("gate", c.gate);
        std::visit([&](auto& what) { outcome(what); }, c.what);
    }
    void operator()(TurnOutcome& c) const {
        of("refused", c.refused);
        of("context", c.context);
    }
    void operator()(PollOutcome& c) const {
        std::visit([&](auto& what) { outcome(what); }, c.what);
    }
    void operator()(Submit& c) const {
        of("what", c.what);
        of("via", c.via);
        of("deliveryID", c.delivery_id);
        of("artifacts", c.attached);
        of("files", c.files);
        of("files", c.file_parts);
    }
    void operator()(Reassign& c) const { of("to", c.to); }
    void operator()(Progress& c) const {
        of("payload", c.payload);
        of("key", c.key);
    }
    void operator()(Cancel& c) const { of("reason", c.reason); }
    void operator()(Move& c) const { of("why", c.why); }
    void operator()(Change& c) const {
        of("title", c.title);
        of("alias", c.alias);
        of("labels", c.labels);
    }
    void operator()(Deliver& c) const {
        of("post", c.what);
        of("past", c.past);
    }
    void operator()(Undelivered& c) const {
        of("post", c.what);
        of("error", c.error);
    }
    void operator()(Repair& c) const { of("what", c.what); }
    void operator()(TaskAsk& c) const { of("task", c); }
    void operator()(SendMail& c) const {
        of("to", c.to);
        of("text", c.text);
    }
    void operator()(TakeMail& c) const { of("mail", c.mail); }
    void operator()(AgentAttach& c) const {
        of("session", c.acp_session);
        of("how", c.how);
        of("program", c.program);
    }
    void operator()(AgentReport& c) const { of("output", c.what); }
    void operator()(AgentReply& c) const { of("output", c.last); }
    void operator()(AgentAsk& c) const {
        of("call", c.spec);
        of("terms", c.terms);
        of("names", c.names);
    }
    void operator()(AgentFailure& c) const { of("error", c.error); }
    void operator()(ImportMore& c) const {
        of("messages", c.messages);
        of("artifacts", c.artifacts);
    }
    void operator()(AgentTyped& c) const { of("parts", c.parts); }
    // These have neither a text nor a value from outside.
    void operator()(Adopt&) const {}
    void operator()(Tick&) const {}
    void operator()(Claim&) const {}
    void operator()(Delete&) const {}
    void operator()(CutHistory&) const {}
    void operator()(Redact& c) const { of("reason", c.what.reason); }
    void operator()(ReleaseMail&) const {}

private:
    template <class S, class... Parts> void all(std::tuple<Parts...> const& list, S& value) const {
        std::apply([&](auto const&... part) { (part_of(part, value), ...); }, list);
    }
    template <class S, class T, class F, class D>
    void part_of(Row<S, T, F, D> const& row, S& value) const {
        of(row.name, value.*row.member);
    }
    template <class S, class T> void part_of(Inline<S, T> const& row, S& value) const {
        all(rows<typename Inline<S, T>::Value>, value_of(value.*row.member));
    }
    template <class S, class When, class... Parts>
    void part_of(Only<When, Parts...> const& some, S& value) const {
        all(some.list, value);
    }
    void part_of(SubmissionRow const&, Submission& what) const {
        of("error", what.error);
        all(result_rows, what);
        all(decision_rows, what);
    }
    // Derived members, and rows that hold an id or an enum.
    template <class S, class F> void part_of(Derived<F> const&, S&) const {}
    void part_of(ContinuationRow const&, PauseTerms&) const {}
    void part_of(ConversationRow const&, Mail&) const {}

    // The outcome of a tool, a gate or a poll.
    void outcome(PauseTerms& terms) const { of("pause", terms); }
    void outcome(TaskAsk& ask) const { of("task", ask); }
    void outcome(GateOutcome::Allow& allow) const { of("input", allow.input); }
    void outcome(GateOutcome::Gone&) const {}
    void outcome(NotYet& not_yet) const { of("error", not_yet.error); }
    template <class T> void outcome(T& what) const {
        if constexpr (requires { what.output; }) {
            of("output", what.output);
            of("title", what.title);
            of("metadata", what.metadata);
            of("artifacts", what.attached);
        } else {
            of("message", what.message);
        }
    }
};

// Returns why the value is refused; nullopt: it is valid. Removes surrounding white space and line
// breaks from a valid value.
std::optional<std::string> wrong(Json& value, bool repairs) {
    auto checked = repairs ? json::repaired(value) : json::check(value.text());
    if (!checked) return "is not JSON: " + checked.error().detail;
    std::string_view const text = checked->text();
    bool const breaks = text.find('\n') != text.npos || text.find('\r') != text.npos;
    if (*checked != value || breaks) value = json::compact(*checked);
    return std::nullopt;
}

// Returns why a session may not have these labels; empty: it may. Labels are in each of its
// snapshots, its forks and every list of sessions.
std::string wrong_labels(Json const& labels) {
    constexpr std::size_t most = 64, name_bytes_max = 128;
    constexpr std::size_t value_bytes_max = 4'096, bytes_max = 16'384;
    std::size_t count = 0, bytes = 0;
    std::string why;
    json::View(labels).members([&](std::string_view name, json::View value) {
        bytes += name.size() + value.raw().size();
        if (value.kind() != json::Kind::string) why = "each label must be a string";
        if (name.size() > name_bytes_max) why = "the name of a label must be at most 128 bytes";
        if (value.raw().size() > value_bytes_max) why = "each label must be at most 4096 bytes";
        ++count;
    });
    if (count > most) why = "must have at most 64 members";
    if (why.empty() && bytes > bytes_max) why = "must be at most 16384 bytes together";
    return why.empty() ? "" : "labels: " + why;
}

// A fork has those of its original.
std::string wrong_labels(Command::Body const& body) {
    if (auto const* c = std::get_if<Create>(&body); c && !c->fork) return wrong_labels(c->labels);
    auto const* const c = std::get_if<Change>(&body);
    return c && c->labels ? wrong_labels(*c->labels) : "";
}

// Finds the first invalid field, and why it is invalid.
struct Inspect {
    bool repairs = false;  // texts are repaired
    std::string why = {};

    void operator()(std::string_view name, std::string& text) {
        if (valid_utf8(text)) return;
        if (repairs) {
            text = repaired_utf8(std::move(text));
        } else if (why.empty()) {
            why = std::string(name) + " is not UTF-8";
        }
    }
    void operator()(std::string_view name, Json& value) {
        if (!why.empty()) return;
        if (auto const found = wrong(value, repairs)) why = std::string(name) + " " + *found;
    }
};

struct Count {
    std::size_t bytes = 0;

    void operator()(std::string_view, std::string const& text) { bytes += text.size(); }
    void operator()(std::string_view, Json const& value) { bytes += value.size(); }
};

// Replaces an effect's outcome that holds invalid JSON. nullopt: the command came from a caller and
// is refused.
struct Unusable {
    std::string const& why;
    using Body = std::optional<Command::Body>;

    Body operator()(ModelReply const& c) const {
        return ModelFailure{c.turn, c.step,      c.attempt, {"bad_value", "the reply's " + why},
                            false,  std::nullopt};
    }
    Body operator()(ToolOutcome const& c) const {
        return ToolOutcome{c.pending, c.attempt, Failed{"the tool's " + why}, c.digest};
    }
    Body operator()(GateOutcome const& c) const {
        return GateOutcome{c.call, c.gate, GateOutcome::Deny{"the gate's " + why}};
    }
    Body operator()(TurnOutcome const& c) const {
        TurnOutcome out{c.turn, c.ended, std::nullopt, {}};
        if (!c.ended) out.refused = "the interceptor's " + why;
        return out;
    }
    Body operator()(PollOutcome const& c) const {
        return PollOutcome{c.pending, c.since, Failed{"the tool's " + why}, c.digest};
    }
    Body operator()(AgentReport c) const {
        c.what.body = {};
        return c;
    }
    Body operator()(AgentReply c) const {
        c.last.reset();
        return c;
    }
    Body operator()(AgentTyped c) const {
        c.parts = {};
        return c;
    }
    Body operator()(AgentAsk const& c) const {
        return AgentFailure{c.turn,
                            c.step,
                            c.attempt,
                            {"bad_value", "the agent's " + why},
                            AgentFailure::How::refused};
    }
    template <class Other> Body operator()(Other const&) const { return std::nullopt; }
};

template <class T>
constexpr bool is_outcome = std::is_same_v<T, ModelFailure> || std::is_same_v<T, AgentAttach> ||
                            std::is_same_v<T, AgentFailure> || std::is_same_v<T, ModelReply> ||
                            std::is_same_v<T, ToolOutcome> || std::is_same_v<T, GateOutcome> ||
                            std::is_same_v<T, TurnOutcome> || std::is_same_v<T, PollOutcome> ||
                            std::is_same_v<T, AgentReport> || std::is_same_v<T, AgentReply> ||
                            std::is_same_v<T, AgentTyped> || std::is_same_v<T, AgentAsk>;

}  // namespace

Result<void> admit(Command& command) {
    Inspect inspect;
    inspect.repairs = std::visit(
        []<class T>(T const&) { return is_outcome<std::remove_cvref_t<T>>; }, command.body);
    Fields<Inspect> const fields{inspect};
    fields.of("by", command.by);
    std::visit([&](auto& body) { fields(body); }, command.body);
    if (inspect.why.empty()) inspect.why = wrong_labels(command.body);
    if (inspect.why.empty()) return {};
    auto instead = std::visit(Unusable{inspect.why}, command.body);
    if (!instead) return fail(Code::bad_value, inspect.why);
    command.body = *std::move(instead);
    return {};
}

std::size_t bytes_of(Command& command) {
    Count count;
    Fields<Count> const fields{count};
    std::visit([&](auto& body) { fields(body); }, command.body);
    return count.bytes;
}

}  // namespace dormouse::wire
