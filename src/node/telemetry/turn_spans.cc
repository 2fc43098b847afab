#include "telemetry/turn_spans.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace dormouse::telemetry {

using namespace dormouse::session;

namespace {

// Most spans have fewer attributes.
constexpr std::size_t attributes_usual = 16;

void add_usage(std::vector<Attribute>& out, Usage const& usage) {
    out.push_back({"gen_ai.usage.input_tokens", usage.input_tokens});
    out.push_back({"gen_ai.usage.output_tokens", usage.output_tokens});
    if (usage.cached_tokens != 0)
        out.push_back({"gen_ai.usage.cache_read.input_tokens", usage.cached_tokens});
    if (usage.cache_written_tokens != 0)
        out.push_back({"gen_ai.usage.cache_creation.input_tokens", usage.cache_written_tokens});
    if (usage.reasoning_tokens != 0)
        out.push_back({"gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens});
}

// Returns the attributes of a model reply or a turn: its finish reason and its usage. They point to
// `reason`.
std::vector<Attribute> outcome_of(std::string_view const& reason, Usage const& usage) {
    std::vector<Attribute> out;
    out.reserve(6);
    out.push_back({"gen_ai.response.finish_reasons", std::span(&reason, 1)});
    add_usage(out, usage);
    return out;
}

bool is_mcp(std::string_view tool) { return tool.starts_with("mcp:"); }

}  // namespace

SessionFacts facts_of(State const& state) {
    SessionFacts out{state.id, state.project, state.agent};
    auto const add = [&](auto const& turn) {
        if (turn && !turn->trace.parent.empty()) out.received[turn->no] = turn->trace;
    };
    add(state.last_turn);
    add(state.turn);
    return out;
}

// The meaning of each event for the open turn.
struct TurnSpans::Applier {
    TurnSpans& self;
    Event const& event;
    SpanSink const& sink;

    [[nodiscard]] Turn& turn() const { return *self.turn_; }
    [[nodiscard]] bool content() const { return self.options_->content; }
    // Empty unless content is sent.
    [[nodiscard]] std::string_view shown(std::string_view text) const {
        return content() ? text : std::string_view();
    }

    template <class Other> void operator()(Other const&) const {}

    void operator()(ModelRequested const& e) const { ask(e.step, e.attempt, false); }
    void operator()(AgentPrompted const& e) const { ask(e.step, e.attempt, true); }
    void ask(std::uint32_t step, std::uint32_t attempt, bool of_agent) const {
        self.resume(event);
        if (turn().request) self.end_request({event.at, "interrupted"}, sink);
        turn().step = step;
        turn().of_agent = of_agent;
        turn().request = Work{model_span(self.facts_.session, turn().no, step, attempt),
                              turn().part->id, event.at, attempt};
    }

    void operator()(ModelReplied const& e) const {
        reply(e.finish, e.usage, !e.calls.empty());
        auto& calls = turn().calls;
        CallNo no = e.first_call;
        for (CallSpec const& spec : e.calls) {
            if (calls.size() >= calls_max) return;
            if (calls.empty() || calls.back().no < no)
                calls.push_back({no, spec.tool, spec.model_id, content() ? spec.input : Json()});
            ++no;
        }
    }
    void operator()(AgentReplied const& e) const { reply(e.finish, e.usage, false); }
    void reply(FinishReason finish, Usage const& usage, bool calls) const {
        if (!turn().request) return;
        std::string_view const reason = calls ? "tool_calls" : text(finish);
        auto const more = outcome_of(reason, usage);
        self.end_request({.at = event.at, .more = more}, sink);
    }

    void operator()(ModelFailed const& e) const { fail(e.error); }
    void operator()(AgentDetached const& e) const { fail(e.error); }
    void fail(Trouble const& error) const {
        if (turn().request) self.end_request({event.at, error.code, shown(error.message)}, sink);
    }

    void operator()(ToolStarted const& e) const {
        self.resume(event);
        Call* const call = self.find_call(e.pending.call);
        if (call == nullptr) return;
        if (call->run) self.end_run(*call, {event.at, "interrupted"}, sink);
        Work run{session::tool_span(self.facts_.session, call->no, e.pending.generation, e.attempt),
                 turn().part->id, event.at, e.attempt};
        if (call->last) run.links.push_back({turn().context.trace, *call->last, "earlier_run"});
        call->run = std::move(run);
    }

    void operator()(ToolFinished const& e) const {
        Call* const call = self.find_call(e.call);
        if (call == nullptr) return;
        if (!call->run) begin_instant(*call, e.attempt);
        Ending ending{event.at};
        Attribute const result{"gen_ai.tool.call.result", e.output.text()};
        if (e.error_reason) {
            ending.error = text(*e.error_reason);
            ending.why = shown(e.error);
        } else if (content()) {
            ending.more = std::span(&result, 1);
        }
        self.end_run(*call, ending, sink);
    }
    void operator()(ToolFailed const& e) const {
        end_run_of(e.call, {event.at, "failed", shown(e.error)});
    }
    void operator()(CallInDoubt const& e) const {
        end_run_of(e.pending.call, {event.at, "in_doubt"});
    }
    void end_run_of(CallNo no, Ending const& ending) const {
        if (Call* const call = self.find_call(no); call != nullptr && call->run)
            self.end_run(*call, ending, sink);
    }
    // A call that waits without having run has a span all the same.
    void operator()(CallPaused const& e) const {
        Call* const call = self.find_call(e.pending.call);
        if (call == nullptr) return;
        if (!call->run) begin_instant(*call, 0, e.pending.generation);
        std::string const pending = e.pending.text();
        std::array<Attribute, 2> const more{
            {{"dormouse.pending.id", pending}, {"dormouse.pause.reason", text(e.terms->reason)}}};
        self.end_run(*call, {.at = event.at, .more = more}, sink);
    }
    void begin_instant(Call& call, std::uint32_t attempt, Generation generation = 0) const {
        call.run = Work{session::tool_span(self.facts_.session, call.no, generation, attempt),
                        part_or_last(), event.at, attempt};
    }
    [[nodiscard]] SpanId const& part_or_last() const {
        return turn().part ? turn().part->id : turn().last_part;
    }

    void operator()(Submitted const& e) const {
        settle(e.receipt.pending.call, {});
        self.add_cause(e.trace, "outcome");
    }
    // The turn that a mail begins is a child of its sender's span; mail that a turn reads later is
    // linked.
    void operator()(MailReceived const& e) const { self.add_cause(e.mail->trace, "mail"); }

    // Sending is instant: the receiver takes it when it can.
    void operator()(MailSent const& e) const {
        if (e.to.empty() || !is_ours(e.trace)) return;
        std::string const first = e.to.front().session.text();
        std::string const id = text(MailId{self.facts_.session, event.seq});
        std::vector<Attribute> more{{"messaging.destination.name", first},
                                    {"messaging.message.id", id}};
        if (e.to.size() > 1)
            more.push_back(
                {"messaging.batch.message_count", static_cast<std::int64_t>(e.to.size())});
        give_sent("mail", more);
    }
    void operator()(TaskStarted const& e) const { begin_run(e.task, e.trace); }
    void operator()(TaskChanged const& e) const { begin_run(e.task, e.trace); }
    void begin_run(TaskNo task, TraceHeaders const& trace) const {
        if (!is_ours(trace)) return;
        std::string const id = numbered_id("tsk_", self.facts_.session, task);
        give_sent("task", {{"messaging.message.id", id}});
    }
    [[nodiscard]] bool is_ours(TraceHeaders const& trace) const {
        auto const context = parse_traceparent(trace.parent);
        return context && context->span == sent_span(self.facts_.session, event.seq);
    }
    void give_sent(std::string_view what, std::vector<Attribute> const& more) const {
        Work const work{sent_span(self.facts_.session, event.seq), part_or_last(), event.at};
        Span span = self.span_of(work, "send", event.at);
        span.object = what;
        span.kind = SpanKind::producer;
        span.attributes.push_back({"messaging.system", "dormouse"});
        span.attributes.push_back({"messaging.operation.name", "send"});
        span.attributes.push_back({"messaging.operation.type", "send"});
        self.give(std::move(span), {.at = event.at, .more = more}, sink);
    }

    void operator()(Expired const& e) const { settle(e.receipt.pending.call, "expired"); }
    void operator()(Cancelled const& e) const { settle(e.call, "cancelled"); }
    void settle(CallNo no, std::optional<std::string_view> error) const {
        Call* const call = self.find_call(no);
        if (call == nullptr) return;
        if (call->run)
            self.end_run(*call, {event.at, error}, sink);
        else if (call->last)
            self.add_cause({turn().context.trace, *call->last, "paused_call"});
    }

    void operator()(TurnEnded const& e) const {
        self.resume(event);
        if (turn().request) self.end_request({event.at, "cancelled"}, sink);
        for (Call& call : turn().calls)
            if (call.run) self.end_run(call, {event.at, "cancelled"}, sink);
        std::string_view const finish = text(e.finish);
        auto const more = outcome_of(finish, e.usage);
        Ending ending{.at = event.at, .more = more};
        if (e.error) {
            ending.error = e.error->code;
            ending.why = shown(e.error->message);
        }
        self.end_part(finish, ending, sink);
        self.turn_.reset();
    }
};

void TurnSpans::learn(State const& state) {
    if (facts_.agent != state.agent) facts_.agent = state.agent;
    if (facts_.project != state.project) facts_.project = state.project;
    bool const received = (state.turn && !state.turn->trace.parent.empty()) ||
                          (state.last_turn && !state.last_turn->trace.parent.empty());
    if (received || !facts_.received.empty()) facts_ = facts_of(state);
}

void TurnSpans::apply(Event const& event, SpanSink const& sink) {
    if (auto const* const started = std::get_if<TurnStarted>(&event.body))
        begin(event, started->turn, started->again);
    if (!turn_) return;
    std::visit(Applier{*this, event, sink}, static_cast<EventChoice const&>(event.body));
    if (turn_ && event.activity) {
        bool const sleeps = *event.activity == Activity::waiting_async;
        if (!sleeps) resume(event);
        if (sleeps && turn_->part) end_part("paused", {event.at}, sink);
    }
}

void TurnSpans::join(TurnNo turn, Event const& event) { begin(event, turn, true); }

TraceHeaders TurnSpans::received(TurnNo turn) const {
    auto const found = facts_.received.find(turn);
    return found == facts_.received.end() ? TraceHeaders() : found->second;
}

void TurnSpans::begin(Event const& event, TurnNo turn, bool again) {
    TraceHeaders sender = received(turn);
    turn_ = Turn{turn, numbered_id("trn_", facts_.session, turn),
                 trace_of_turn(options_->rules, facts_.session, turn, sender.parent),
                 std::move(sender.state)};
    SpanId const first = session::turn_span(facts_.session, turn);
    turn_->parts = 1;
    turn_->part = Work{again ? resumed_span(facts_.session, turn, event.seq) : first,
                       turn_->context.span, event.at};
    if (again) turn_->part->links.push_back({turn_->context.trace, first, "turn"});
}

void TurnSpans::resume(Event const& event) {
    if (turn_->part) return;
    ++turn_->parts;
    turn_->part =
        Work{resumed_span(facts_.session, turn_->no, event.seq), turn_->context.span, event.at};
    auto& links = turn_->part->links;
    links.reserve(turn_->causes.size() + 2);
    links.push_back({turn_->context.trace, turn_->last_part, "resumes"});
    std::ranges::move(std::exchange(turn_->causes, {}), std::back_inserter(links));
}

void TurnSpans::add_cause(TraceHeaders const& sender, std::string_view relation) {
    if (auto const context = parse_traceparent(sender.parent))
        add_cause({context->trace, context->span, relation, sender.state});
}

void TurnSpans::add_cause(Link link) {
    auto& links = turn_->part ? turn_->part->links : turn_->causes;
    if (links.size() < links_max) links.push_back(std::move(link));
}

TurnSpans::Call* TurnSpans::find_call(CallNo no) {
    auto const found = std::ranges::lower_bound(turn_->calls, no, {}, &Call::no);
    return found != turn_->calls.end() && found->no == no ? &*found : nullptr;
}

Span TurnSpans::span_of(Work const& work, std::string_view operation, Time end) const {
    Span out{.trace = turn_->context.trace,
             .id = work.id,
             .parent = work.parent,
             .operation = operation,
             .start = work.start,
             .end = end};
    out.links = work.links;
    out.state = turn_->state;
    out.attributes.reserve(attributes_usual);
    out.attributes.push_back({"gen_ai.conversation.id", session_});
    out.attributes.push_back({"dormouse.turn.id", turn_->id});
    return out;
}

// Nothing of a turn that is not sampled.
void TurnSpans::give(Span span, Ending const& ending, SpanSink const& sink) const {
    if (!turn_->context.sampled) return;
    span.error = ending.error;
    span.why = ending.why;
    span.attributes.insert(span.attributes.end(), ending.more.begin(), ending.more.end());
    sink(span);
}

void TurnSpans::end_part(std::string_view outcome, Ending const& ending, SpanSink const& sink) {
    Work const part = *std::exchange(turn_->part, std::nullopt);
    turn_->last_part = part.id;
    Span span = span_of(part, "invoke_agent", ending.at);
    span.object = facts_.agent;
    span.attributes.push_back({"gen_ai.operation.name", span.operation});
    span.attributes.push_back({"gen_ai.agent.name", facts_.agent});
    span.attributes.push_back({"dormouse.project.id", facts_.project});
    span.attributes.push_back({"dormouse.turn.part", std::int64_t{turn_->parts}});
    span.attributes.push_back({"dormouse.turn.outcome", outcome});
    give(std::move(span), ending, sink);
}

void TurnSpans::end_request(Ending const& ending, SpanSink const& sink) {
    Work const request = *std::exchange(turn_->request, std::nullopt);
    bool const external = turn_->of_agent;
    ModelName const name =
        options_->model_of && !external ? options_->model_of(facts_.agent) : ModelName();
    Span span = span_of(request, external ? "invoke_agent" : "chat", ending.at);
    span.object = external ? std::string_view(facts_.agent) : name.model;
    span.kind = SpanKind::client;
    auto& attributes = span.attributes;
    attributes.push_back({"gen_ai.operation.name", span.operation});
    attributes.push_back({"gen_ai.agent.name", facts_.agent});
    if (!name.provider.empty()) attributes.push_back({"gen_ai.provider.name", name.provider});
    if (!name.model.empty()) attributes.push_back({"gen_ai.request.model", name.model});
    attributes.push_back({"dormouse.step", std::int64_t{turn_->step}});
    attributes.push_back({"dormouse.attempt", std::int64_t{request.attempt}});
    give(std::move(span), ending, sink);
}

void TurnSpans::end_run(Call& call, Ending const& ending, SpanSink const& sink) {
    Work const run = *std::exchange(call.run, std::nullopt);
    call.last = run.id;
    bool const mcp = is_mcp(call.tool);
    std::string const id = "call_" + std::to_string(call.no);
    Span span = span_of(run, "execute_tool", ending.at);
    span.object = call.tool;
    span.kind = mcp ? SpanKind::client : SpanKind::internal;
    auto& attributes = span.attributes;
    attributes.push_back({"gen_ai.operation.name", span.operation});
    attributes.push_back({"gen_ai.tool.name", call.tool});
    attributes.push_back({"gen_ai.tool.type", "function"});
    attributes.push_back({"gen_ai.agent.name", facts_.agent});
    if (!call.model_id.empty()) attributes.push_back({"gen_ai.tool.call.id", call.model_id});
    if (mcp) attributes.push_back({"mcp.method.name", "tools/call"});
    attributes.push_back({"dormouse.call.id", id});
    attributes.push_back({"dormouse.attempt", std::int64_t{run.attempt}});
    if (options_->content) attributes.push_back({"gen_ai.tool.call.arguments", call.input.text()});
    give(std::move(span), ending, sink);
}

void give_span(Delivery const& delivery, SpanSink const& sink) {
    auto const context = parse_traceparent(delivery.trace.parent);
    if (!context || !context->sampled) return;
    std::string const session = delivery.session.text();
    std::string const status = std::to_string(delivery.status);
    Span out{context->trace,
             delivery_span(delivery.session, delivery.event, delivery.n, delivery.attempt),
             context->span,
             "send",
             delivery.target,
             SpanKind::producer,
             delivery.start,
             delivery.end};
    out.state = delivery.trace.state;
    out.attributes = {{"messaging.system", "webhook"},
                      {"messaging.operation.name", "send"},
                      {"messaging.operation.type", "send"},
                      {"messaging.destination.name", delivery.target},
                      {"messaging.message.id", delivery.id},
                      {"gen_ai.conversation.id", session},
                      {"dormouse.attempt", std::int64_t{delivery.attempt}}};
    if (delivery.status != 0)
        out.attributes.push_back({"http.response.status_code", std::int64_t{delivery.status}});
    if (!delivery.taken)
        out.error = delivery.status != 0 ? std::string_view(status) : "no_response";
    sink(out);
}

}  // namespace dormouse::telemetry
