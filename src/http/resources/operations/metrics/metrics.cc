#include "http/resources/operations/metrics/metrics.h"

#include <algorithm>
#include <filesystem>

namespace dormouse::http {

using namespace dormouse::session;

namespace {

// Longer than a message waits for its next attempt.
constexpr Duration longest_wait{30LL * 24 * 3'600'000};

double seconds(Duration time) { return static_cast<double>(time.count()) / 1'000; }

bool settles(Event::Body const& body) {
    auto const* const cancelled = std::get_if<Cancelled>(&body);
    return std::holds_alternative<Submitted>(body) || std::holds_alternative<Expired>(body) ||
           (cancelled && cancelled->receipt);
}

bool goes_on(Event::Body const& body) {
    return std::holds_alternative<ModelRequested>(body) ||
           std::holds_alternative<ToolStarted>(body) || std::holds_alternative<TurnEnded>(body);
}

// The event makes an effect outstanding: a gate that a person answered decides again.
bool has_effect(State const& state, Seq seq) {
    auto const effect = outstanding(state).lower_bound({seq, 0});
    return effect != outstanding(state).end() && effect->first.since == seq;
}

std::string_view outcome_word(ToolOutcome const& outcome) {
    struct Word {
        std::string_view operator()(Done const&) const { return "done"; }
        std::string_view operator()(Failed const&) const { return "failed"; }
        std::string_view operator()(PauseTerms const&) const { return "paused"; }
        std::string_view operator()(InDoubt const&) const { return "lost"; }
        std::string_view operator()(TaskAsk const&) const { return "done"; }
    };
    return std::visit(Word{}, outcome.what);
}

}  // namespace

// The event that settles a call and the work that it continues are in one append, so latency needs
// no memory: from the time of the outcome to now, when its consequence is durable.
void Metrics::appended(State const& state, std::vector<wire::RecordPtr> const& records, Time now) {
    troubles_.appended(state, records);
    bool settled = false;
    Time settled_at{};
    for (wire::RecordPtr const& record : records) {
        Event const& event = record->event;
        note(state, event);
        model_work_.note(state, event);
        if (settles(event.body)) {
            settled = true;
            settled_at = event.at;
        }
        bool const resumes = goes_on(event.body) || has_effect(state, event.seq);
        if (!settled || !resumes) continue;
        resume_.observe(seconds(std::max(Duration(0), now - settled_at)));
        settled = false;
    }
}

void Metrics::note(State const& state, Event const& event) {
    ++events_[std::string(type_name(event.body))];
    if (auto const* paused = std::get_if<CallPaused>(&event.body)) {
        ++paused_[std::string(session::text(paused->terms->reason))];
    } else if (auto const* asked = std::get_if<GateAsked>(&event.body)) {
        ++paused_[std::string(session::text(asked->terms->reason))];
    } else if (auto const* reached = std::get_if<BudgetReached>(&event.body)) {
        ++paused_[std::string(session::text(reached->terms->reason))];
    } else if (auto const* submitted = std::get_if<Submitted>(&event.body)) {
        settled(submitted->receipt.status);
    } else if (auto const* expired = std::get_if<Expired>(&event.body)) {
        settled(expired->receipt.status);
    } else if (auto const* cancelled = std::get_if<Cancelled>(&event.body)) {
        if (cancelled->receipt) settled(cancelled->receipt->status);
    } else if (auto const* failed = std::get_if<ModelFailed>(&event.body)) {
        ++model_failures_[failed->retry_at ? 1 : 0];
    } else if (auto const* model = std::get_if<ModelReplied>(&event.body)) {
        spent(state, model->usage);
    } else if (auto const* external = std::get_if<AgentReplied>(&event.body)) {
        spent(state, external->usage);
    }
}

void Metrics::spent(State const& state, Usage const& usage) {
    auto at = spent_.find({state.agent, state.project});
    if (at == spent_.end()) {
        bool const named = spent_.size() < spenders_max;
        at = named ? spent_
                         .emplace(std::pair(state.agent, state.project),
                                  Spent{model_of(state.agent), {}})
                         .first
                   : spent_.try_emplace({"other", "other"}).first;
    }
    at->second.usage = sum(at->second.usage, usage);
}

void Metrics::submitted(Result<Answer> const& answer) {
    if (!answer) {
        ++submissions_[std::string(info(answer.error().code).text)];
        return;
    }
    bool const duplicate = answer->outcome == Answer::Outcome::duplicate;
    bool const counted = answer->outcome == Answer::Outcome::counted;
    ++submissions_[counted ? "counted" : duplicate ? "duplicate" : "applied"];
}

void Metrics::answered(std::string_view method, std::string const& route, int status) {
    ++answers_[{route.empty() ? "other" : std::string(method), route.empty() ? "other" : route,
                status / 100}];
}

void Metrics::committed(std::span<port::AppendResult const> results, Duration time) {
    batch_.observe(static_cast<double>(results.size()));
    commit_.observe(seconds(time));
    for (auto const& result : results) {
        if (result) {
            ++appends_;
        } else if (result.error().cause == port::AppendError::Cause::moved) {
            ++moved_;
        } else {
            ++store_errors_[std::string(info(result.error().code).text)];
        }
    }
}

void Metrics::tool_ended(std::string const& tool, ToolOutcome const& outcome) {
    bool const named = tool_names_.contains(tool) || tool_names_.size() < tools_max;
    if (named) tool_names_[tool] = true;
    ++tools_[{named ? tool : "other", std::string(outcome_word(outcome))}];
}

Result<Metrics::Stored> Metrics::ask(port::Store& store, Time now) {
    auto pending = store.open_pending(pending_max);
    if (!pending) return std::unexpected(std::move(pending.error()));
    auto due = store.due(now, std::nullopt, outstanding_max);
    if (!due) return std::unexpected(std::move(due.error()));
    auto next = store.next_due();
    if (!next) return std::unexpected(std::move(next.error()));
    auto waiting = store.due_by_target(now + longest_wait, {}, deliveries_max, deliveries_max);
    if (!waiting) return std::unexpected(std::move(waiting.error()));
    auto given_up = store.count_given_up(now + Duration(1), deliveries_max);
    if (!given_up) return std::unexpected(std::move(given_up.error()));
    return Stored{*pending, due->size(), *next, waiting->size(), *given_up};
}

Metrics::Disk Metrics::disk_of(std::string const& directory) {
    Disk out;
    if (directory.empty()) return out;
    std::error_code error;
    auto const space = std::filesystem::space(directory, error);
    if (!error) {
        out.free = space.available;
        out.size = space.capacity;
    }
    auto const file = std::filesystem::path(directory) / "dormouse.db";
    auto const database = std::filesystem::file_size(file, error);
    if (error) return out;
    auto const log = std::filesystem::file_size(file.string() + "-wal", error);
    out.database = database + (error ? 0 : log);
    return out;
}

}  // namespace dormouse::http
