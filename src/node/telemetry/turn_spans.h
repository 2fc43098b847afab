#pragma once
// Turns the events of a session into spans. Folding the events of a turn again gives the same
// spans, so a process that wakes a session reads the turn's events and continues. Pure.
//
// A turn is a trace, or a part of the trace of its prompt. Its span ends at a pause; what resumes
// the turn begins a new span that is linked to it. Requests to the model and runs of tools are
// children of the turn's span at their start.

#include "base/check.h"
#include "session/event.h"
#include "session/state.h"
#include "telemetry/span.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::telemetry {

// The model that an agent uses. Texts of the configuration.
struct ModelName {
    std::string_view provider;  // gen_ai.provider.name
    std::string_view model;     // gen_ai.request.model; empty: unknown
};

struct SpanOptions {
    session::TraceRules rules = {};
    bool content = false;  // arguments, results and messages of errors become attributes
    std::function<ModelName(std::string const& agent)> model_of = {};  // may be empty
};

// Facts about a session for its spans. `received`: the trace headers of each turn that came with
// some.
struct SessionFacts {
    SessionId session;
    std::string project = {};
    std::string agent = {};
    std::map<TurnNo, session::TraceHeaders> received = {};
};
// Returns the facts with the trace headers of the open turn and the last one.
[[nodiscard]] SessionFacts facts_of(session::State const& state);

class TurnSpans {
public:
    static constexpr std::size_t calls_max = 1'000;  // of a turn; further ones have no spans
    static constexpr std::size_t links_max = 32;     // of a span

    // `options` outlives this.
    TurnSpans(SpanOptions const& options, SessionFacts facts)
        : options_(&options), facts_(std::move(facts)), session_(facts_.session.text()) {}

    // Updates the facts, also with turns that began since.
    void learn(session::State const& state);
    // Gives `sink` the spans that end with this event. Events come in order; those before the first
    // turn_started give none.
    void apply(session::Event const& event, SpanSink const& sink);
    // Begins in the middle of a turn whose earlier events are not known.
    void join(TurnNo turn, session::Event const& event);
    [[nodiscard]] bool open() const { return turn_.has_value(); }
    // REQUIRES: open().
    [[nodiscard]] bool sampled() const {
        CHECK(open());
        return turn_->context.sampled;
    }

private:
    struct Work {  // that runs: a request to the model, or a tool
        SpanId id{};
        SpanId parent{};
        Time start{};
        std::uint32_t attempt = 0;
        std::vector<Link> links = {};
    };
    struct Call {
        CallNo no = 0;
        std::string tool = {};
        std::string model_id = {};
        Json input = {};  // only with content
        std::optional<Work> run = {};
        std::optional<SpanId> last = {};  // of the newest run that has ended
    };
    struct Turn {
        TurnNo no = 0;
        std::string id = {};  // trn_…
        session::TraceContext context;
        std::string state = {};         // tracestate
        std::optional<Work> part = {};  // nullopt: it is paused
        std::uint32_t parts = 0;
        SpanId last_part{};
        std::optional<Work> request = {};
        bool of_agent = false;
        std::uint32_t step = 0;
        std::vector<Call> calls = {};   // by number
        std::vector<Link> causes = {};  // of the next part
    };
    struct Ending {  // of a run
        Time at{};
        std::optional<std::string_view> error = {};
        std::string_view why = {};
        std::span<Attribute const> more = {};
    };
    struct Applier;

    [[nodiscard]] session::TraceHeaders received(TurnNo turn) const;
    void begin(session::Event const& event, TurnNo turn, bool again);
    void resume(session::Event const& event);
    void add_cause(session::TraceHeaders const& sender, std::string_view relation);
    void add_cause(Link link);
    [[nodiscard]] Call* find_call(CallNo no);  // null: unknown
    [[nodiscard]] Span span_of(Work const& work, std::string_view operation, Time end) const;
    void give(Span span, Ending const& ending, SpanSink const& sink) const;
    void end_part(std::string_view outcome, Ending const& ending, SpanSink const& sink);
    void end_request(Ending const& ending, SpanSink const& sink);
    void end_run(Call& call, Ending const& ending, SpanSink const& sink);

    SpanOptions const* options_;
    SessionFacts facts_;
    std::string session_;  // ses_…
    std::optional<Turn> turn_ = {};
};

// One attempt to send a webhook or notification.
struct Delivery {
    SessionId session;  // whose event sends it
    Seq event = 0;
    std::uint32_t n = 0;
    std::uint32_t attempt = 1;
    std::string id;               // the same in all attempts
    std::string target;           // without what could be a secret
    session::TraceHeaders trace;  // that it was stored with
    Time start{};
    Time end{};
    int status = 0;  // of HTTP; 0: none
    bool taken = false;
};
// Gives none if its turn is not sampled, or it belongs to none.
void give_span(Delivery const& delivery, SpanSink const& sink);

}  // namespace dormouse::telemetry
