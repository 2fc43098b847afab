#include "telemetry/turn_spans.h"

#include <utility>

namespace dormouse::telemetry {

using namespace dormouse::session;

namespace {

std::string turn_id(SessionId const& session, TurnNo turn) {
    return numbered_id("trn_", session, turn);
}

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

Attribute finish_reasons(FinishReason finish, bool calls) {
    return {"gen_ai.response.finish_reasons",
            std::vector<std::string>{calls ? "tool_calls" : std::string(text(finish))}};
}

bool is_mcp(std::string_view tool) { return tool.starts_with("mcp:"); }

}  // namespace

SessionFacts facts_of(State const& state) {
    SessionFacts out{state.id, state.project, state.agent};
    if (state.last_turn) out.received[state.last_turn->no] = state.last_turn->trace;
    if (state.turn) out.received[state.turn->no] = state.turn->trace;
    return out;
}

// The meaning of each event for the open turn.
struct TurnSpans::Applier {
    TurnSpans& self;
    Event const& event;
    std::vector<Span>& out;

    [[nodiscard]] Turn& turn() const { return *self.turn_; }
    [[nodiscard]] bool content() const { return self.options_->content; }

    template <class Other> void operator()(Other const&) const {}

    void operator()(ModelRequested const& e) const { ask(e.step, e.attempt, false); }
    void operator()(AgentPrompted const& e) const { ask(e.step, e.attempt, true); }
    void ask(std::uint32_t step, std::uint32_t attempt, bool of_program) const {
        self.resume(event);
        if (turn().request) self.end_request(event, "interrupted", out);
        turn().step = step;
        turn().of_program = of_program;
        turn().request = Work{model_span(self.facts_.session, turn().no, step, attempt),
                              turn().part->id, event.at, attempt};
    }

    void operator()(ModelReplied const& e) const {
        reply(e.finish, e.usage, !e.calls.empty());
        CallNo no = e.first_call;
        for (CallSpec const& spec : e.calls) {
            if (turn().calls.size() >= calls_max) return;
            turn().calls[no++] = {spec.tool, spec.model_id, content() ? spec.input : Json()};
        }
    }
    void operator()(AgentReplied const& e) const { reply(e.finish, e.usage, false); }
    void reply(FinishReason finish, Usage const& usage, bool calls) const {
        if (!turn().request) return;
        Span span = self.request_span(event);
        span.attributes.push_back(finish_reasons(finish, calls));
        add_usage(span.attributes, usage);
        turn().request.reset();
        out.push_back(std::move(span));
    }

    void operator()(ModelFailed const& e) const { fail(e.error); }
    void operator()(AgentDetached const& e) const { fail(e.error); }
    void fail(Trouble const& error) const {
        if (!turn().request) return;
        self.end_request(event, error.code, out);
        if (content()) out.back().why = error.message;
    }

    void operator()(ToolStarted const& e) const {
        self.resume(event);
        CallNo const no = e.pending.call;
        auto const call = turn().calls.find(no);
        if (call == turn().calls.end()) return;
        if (call->second.run) self.end_run(no, event.at, "interrupted", out);
        Work run{session::tool_span(self.facts_.session, no, e.pending.generation, e.attempt),
                 turn().part->id, event.at, e.attempt};
        if (call->second.last)
            run.links.push_back({turn().context.trace, *call->second.last, "earlier_run"});
        call->second.run = std::move(run);
    }

    void operator()(ToolFinished const& e) const {
        auto const call = turn().calls.find(e.call);
        if (call == turn().calls.end()) return;
        if (!call->second.run) begin_instant(call->second, e.call, e.attempt);
        self.end_run(e.call, event.at, e.error_reason ? text(*e.error_reason) : "", out);
        if (!content()) return;
        if (e.error_reason)
            out.back().why = e.error;
        else
            out.back().attributes.push_back(
                {"gen_ai.tool.call.result", std::string(e.output.text())});
    }
    void operator()(ToolFailed const& e) const {
        if (!runs(e.call)) return;
        self.end_run(e.call, event.at, "failed", out);
        if (content()) out.back().why = e.error;
    }
    void operator()(CallInDoubt const& e) const {
        if (runs(e.pending.call)) self.end_run(e.pending.call, event.at, "in_doubt", out);
    }
    // A call that waits without having run has a span all the same.
    void operator()(CallPaused const& e) const {
        CallNo const no = e.pending.call;
        auto const call = turn().calls.find(no);
        if (call == turn().calls.end()) return;
        if (!call->second.run) begin_instant(call->second, no, 0, e.pending.generation);
        self.end_run(no, event.at, "", out);
        out.back().attributes.push_back({"dormouse.pending.id", e.pending.text()});
        out.back().attributes.push_back(
            {"dormouse.pause.reason", std::string(text(e.terms->reason))});
    }
    void begin_instant(Call& call, CallNo no, std::uint32_t attempt,
                       Generation generation = 0) const {
        SpanId const parent = turn().part ? turn().part->id : turn().last_part;
        call.run = Work{session::tool_span(self.facts_.session, no, generation, attempt), parent,
                        event.at, attempt};
    }

    void operator()(Submitted const& e) const {
        settle(e.receipt.pending.call, "");
        self.add_cause(e.trace, "outcome");
    }
    // The turn that a mail begins is a child of its sender's span; mail that a turn reads later is
    // linked.
    void operator()(MailReceived const& e) const { self.add_cause(e.mail->trace, "mail"); }

    // Sending is instant: the receiver takes it when it can.
    void operator()(MailSent const& e) const {
        if (e.to.empty() || !is_ours(e.trace)) return;
        Span span = sent("mail");
        std::string const first = e.to.front().session.text();
        span.attributes.push_back({"messaging.destination.name", first});
        span.attributes.push_back(
            {"messaging.message.id", text(MailId{self.facts_.session, event.seq})});
        if (e.to.size() > 1)
            span.attributes.push_back(
                {"messaging.batch.message_count", static_cast<std::int64_t>(e.to.size())});
        out.push_back(std::move(span));
    }
    void operator()(TaskStarted const& e) const { begin_run(e.task, e.trace); }
    void operator()(TaskChanged const& e) const { begin_run(e.task, e.trace); }
    void begin_run(TaskNo task, TraceHeaders const& trace) const {
        if (!is_ours(trace)) return;
        Span span = sent("task");
        span.attributes.push_back(
            {"messaging.message.id", numbered_id("tsk_", self.facts_.session, task)});
        out.push_back(std::move(span));
    }
    [[nodiscard]] bool is_ours(TraceHeaders const& trace) const {
        auto const context = parse_traceparent(trace.parent);
        return context && context->span == sent_span(self.facts_.session, event.seq);
    }
    [[nodiscard]] Span sent(std::string const& what) const {
        SpanId const parent = turn().part ? turn().part->id : turn().last_part;
        Work const work{sent_span(self.facts_.session, event.seq), parent, event.at};
        Span span = self.span_of(work, "send " + what, SpanKind::producer, event.at);
        span.attributes.push_back({"messaging.system", "dormouse"});
        span.attributes.push_back({"messaging.operation.name", "send"});
        span.attributes.push_back({"messaging.operation.type", "send"});
        return span;
    }

    void operator()(Expired const& e) const { settle(e.receipt.pending.call, "expired"); }
    void operator()(Cancelled const& e) const { settle(e.call, "cancelled"); }
    void settle(CallNo no, std::string_view error) const {
        auto const call = turn().calls.find(no);
        if (call == turn().calls.end()) return;
        if (call->second.run)
            self.end_run(no, event.at, error, out);
        else if (call->second.last)
            self.add_cause({turn().context.trace, *call->second.last, "paused_call"});
    }

    void operator()(TurnEnded const& e) const {
        self.resume(event);
        if (turn().request) self.end_request(event, "cancelled", out);
        std::vector<CallNo> running;
        for (auto const& [no, call] : turn().calls)
            if (call.run) running.push_back(no);
        for (CallNo const no : running) self.end_run(no, event.at, "cancelled", out);
        std::vector<Attribute> more{finish_reasons(e.finish, false)};
        add_usage(more, e.usage);
        self.end_part(text(e.finish), event.at, std::move(more), out);
        if (e.error) {
            out.back().error = e.error->code;
            if (content()) out.back().why = e.error->message;
        }
        self.turn_.reset();
    }

    [[nodiscard]] bool runs(CallNo no) const {
        auto const call = turn().calls.find(no);
        return call != turn().calls.end() && call->second.run;
    }
};

void TurnSpans::apply(Event const& event, std::vector<Span>& out) {
    if (auto const* const started = std::get_if<TurnStarted>(&event.body))
        begin(event, started->turn, started->again);
    if (!turn_) return;
    bool const sampled = turn_->context.sampled;
    std::size_t const before = out.size();
    std::visit(Applier{*this, event, out}, static_cast<EventChoice const&>(event.body));
    if (turn_ && event.activity) {
        bool const sleeps = *event.activity == Activity::waiting_async;
        if (!sleeps) resume(event);
        if (sleeps && turn_->part) end_part("paused", event.at, {}, out);
    }
    if (!sampled) out.resize(before);
}

void TurnSpans::join(TurnNo turn, Event const& event) { begin(event, turn, true); }

TraceHeaders TurnSpans::received(TurnNo turn) const {
    auto const found = facts_.received.find(turn);
    return found == facts_.received.end() ? TraceHeaders() : found->second;
}

void TurnSpans::begin(Event const& event, TurnNo turn, bool again) {
    TraceHeaders sender = received(turn);
    turn_ = Turn{turn, trace_of_turn(options_->rules, facts_.session, turn, sender.parent),
                 std::move(sender.state)};
    SpanId const first = session::turn_span(facts_.session, turn);
    if (again) turn_->causes.push_back({turn_->context.trace, first, "turn"});
    turn_->parts = 1;
    turn_->part = Work{again ? resumed_span(facts_.session, turn, event.seq) : first,
                       turn_->context.span, event.at};
    turn_->part->links = std::exchange(turn_->causes, {});
}

void TurnSpans::resume(Event const& event) {
    if (turn_->part) return;
    ++turn_->parts;
    turn_->part =
        Work{resumed_span(facts_.session, turn_->no, event.seq), turn_->context.span, event.at};
    turn_->part->links = {{turn_->context.trace, turn_->last_part, "resumes"}};
    for (Link const& cause : std::exchange(turn_->causes, {})) turn_->part->links.push_back(cause);
}

void TurnSpans::add_cause(TraceHeaders const& sender, std::string_view relation) {
    if (auto const context = parse_traceparent(sender.parent))
        add_cause({context->trace, context->span, relation, sender.state});
}

void TurnSpans::add_cause(Link link) {
    auto& links = turn_->part ? turn_->part->links : turn_->causes;
    if (links.size() < links_max) links.push_back(std::move(link));
}

Span TurnSpans::span_of(Work const& work, std::string name, SpanKind kind, Time end) const {
    Span out{turn_->context.trace, work.id, work.parent, std::move(name), kind, work.start, end};
    out.links = work.links;
    out.state = turn_->state;
    out.attributes = {{"gen_ai.conversation.id", facts_.session.text()},
                      {"dormouse.turn.id", turn_id(facts_.session, turn_->no)}};
    return out;
}

void TurnSpans::end_part(std::string_view outcome, Time end, std::vector<Attribute> more,
                         std::vector<Span>& out) {
    Span span = span_of(*turn_->part, "invoke_agent " + facts_.agent, SpanKind::internal, end);
    auto& attributes = span.attributes;
    attributes.push_back({"gen_ai.operation.name", "invoke_agent"});
    attributes.push_back({"gen_ai.agent.name", facts_.agent});
    attributes.push_back({"dormouse.project.id", facts_.project});
    attributes.push_back({"dormouse.turn.part", std::int64_t{turn_->parts}});
    attributes.push_back({"dormouse.turn.outcome", std::string(outcome)});
    attributes.insert(attributes.end(), more.begin(), more.end());
    turn_->last_part = turn_->part->id;
    turn_->part.reset();
    out.push_back(std::move(span));
}

Span TurnSpans::request_span(Event const& event) const {
    ModelName const name =
        options_->model_of && !turn_->of_program ? options_->model_of(facts_.agent) : ModelName();
    std::string const operation = turn_->of_program ? "invoke_agent" : "chat";
    std::string const& whom = turn_->of_program ? facts_.agent : name.model;
    Span span = span_of(*turn_->request, operation + (whom.empty() ? "" : " " + whom),
                        SpanKind::client, event.at);
    auto& attributes = span.attributes;
    attributes.push_back({"gen_ai.operation.name", operation});
    attributes.push_back({"gen_ai.agent.name", facts_.agent});
    if (!name.provider.empty()) attributes.push_back({"gen_ai.provider.name", name.provider});
    if (!name.model.empty()) attributes.push_back({"gen_ai.request.model", name.model});
    attributes.push_back({"dormouse.step", std::int64_t{turn_->step}});
    attributes.push_back({"dormouse.attempt", std::int64_t{turn_->request->attempt}});
    return span;
}

void TurnSpans::end_request(Event const& event, std::string_view error, std::vector<Span>& out) {
    Span span = request_span(event);
    span.error = error;
    turn_->request.reset();
    out.push_back(std::move(span));
}

Span TurnSpans::tool_span(Work const& run, CallNo no, Time end) const {
    Call const& call = turn_->calls.at(no);
    bool const mcp = is_mcp(call.tool);
    Span span =
        span_of(run, "execute_tool " + call.tool, mcp ? SpanKind::client : SpanKind::internal, end);
    auto& attributes = span.attributes;
    attributes.push_back({"gen_ai.operation.name", "execute_tool"});
    attributes.push_back({"gen_ai.tool.name", call.tool});
    attributes.push_back({"gen_ai.tool.type", "function"});
    attributes.push_back({"gen_ai.agent.name", facts_.agent});
    if (!call.model_id.empty()) attributes.push_back({"gen_ai.tool.call.id", call.model_id});
    if (mcp) attributes.push_back({"mcp.method.name", "tools/call"});
    attributes.push_back({"dormouse.call.id", "call_" + std::to_string(no)});
    attributes.push_back({"dormouse.attempt", std::int64_t{run.attempt}});
    if (options_->content)
        attributes.push_back({"gen_ai.tool.call.arguments", std::string(call.input.text())});
    return span;
}

void TurnSpans::end_run(CallNo no, Time end, std::string_view error, std::vector<Span>& out) {
    Call& call = turn_->calls.at(no);
    Span span = tool_span(*call.run, no, end);
    if (!error.empty()) span.error = error;
    call.last = call.run->id;
    call.run.reset();
    out.push_back(std::move(span));
}

std::optional<Span> span_of(Delivery const& delivery) {
    auto const context = parse_traceparent(delivery.trace.parent);
    if (!context || !context->sampled) return std::nullopt;
    Span out{context->trace,
             delivery_span(delivery.session, delivery.event, delivery.n, delivery.attempt),
             context->span,
             "send " + delivery.target,
             SpanKind::producer,
             delivery.start,
             delivery.end};
    out.state = delivery.trace.state;
    out.attributes = {{"messaging.system", "webhook"},
                      {"messaging.operation.name", "send"},
                      {"messaging.operation.type", "send"},
                      {"messaging.destination.name", delivery.target},
                      {"messaging.message.id", delivery.id},
                      {"gen_ai.conversation.id", delivery.session.text()},
                      {"dormouse.attempt", std::int64_t{delivery.attempt}}};
    if (delivery.status != 0)
        out.attributes.push_back({"http.response.status_code", std::int64_t{delivery.status}});
    if (!delivery.taken)
        out.error = delivery.status != 0 ? std::to_string(delivery.status) : "no_response";
    return out;
}

}  // namespace dormouse::telemetry
