#include "runtime/turns.h"

#include "json/json.h"
#include "runtime/models.h"
#include "session/parts.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <ranges>
#include <utility>

namespace dormouse::runtime {

namespace {

using Interceptors = std::vector<TurnInterceptor>;

// One question. On the loop, except for the job.
struct Asked {
    port::Fn<void(std::optional<session::TurnOutcome>)> done;
    std::stop_source job;
    bool over = false;
    // Set once, by the job when it begins or by the loop when it must not begin any more.
    std::atomic<bool> claimed = false;

    void end(std::optional<session::TurnOutcome> outcome) {
        if (!std::exchange(over, true)) done(std::move(outcome));
    }
};

TurnInfo info_of(port::TurnRequest const& request) {
    return {request.session, request.ask.turn, request.agent, transcript_of(request.view)};
}

TurnEnd end_of(session::AskTurn const& ask) {
    TurnEnd out;
    out.finish = text(ask.finish);
    if (ask.error) {
        out.error_code = ask.error->code;
        out.error = ask.error->message;
    }
    out.input_tokens = ask.usage.input_tokens;
    out.output_tokens = ask.usage.output_tokens;
    return out;
}

// The interceptor's decision; an exception refuses.
TurnDecision decision_of(TurnInterceptor const& one, TurnInfo const& turn) {
    try {
        return one.before(turn);
    } catch (std::exception const& error) {
        return Refuse{"the interceptor '" + one.name + "' threw: " + error.what()};
    } catch (...) {
        return Refuse{"the interceptor '" + one.name + "' threw a value that is not an exception"};
    }
}

// Asks in the order of the turn's terms: also in a process with other settings, the interceptors
// are those with which the turn began.
session::TurnOutcome ask_before(Interceptors const& all, port::TurnRequest const& request) {
    session::TurnOutcome out{request.ask.turn, false};
    TurnInfo const turn = info_of(request);
    std::string context;
    for (std::string const& name : request.ask.names) {
        auto const one = std::ranges::find(all, name, &TurnInterceptor::name);
        if (one == all.end() || !one->before) {
            out.refused = "the interceptor '" + name + "' no longer exists";
            return out;
        }
        auto decision = decision_of(*one, turn);
        if (auto* refused = std::get_if<Refuse>(&decision)) {
            out.refused = std::move(refused->message);
            return out;
        }
        std::string const& added = std::get<Proceed>(decision).context;
        if (!added.empty() && !context.empty()) context += "\n\n";
        context += added;
    }
    if (!context.empty()) out.context = session::text_parts(context);
    return out;
}

void tell_after(Interceptors const& all, port::TurnRequest const& request) {
    TurnInfo const turn = info_of(request);
    TurnEnd const end = end_of(request.ask);
    for (std::string const& name : std::views::reverse(request.ask.names)) {
        auto const one = std::ranges::find(all, name, &TurnInterceptor::name);
        if (one == all.end() || !one->after) continue;
        try {
            one->after(turn, end);
        } catch (...) {  // NOLINT(bugprone-empty-catch): the turn has already ended
        }
    }
}

session::TurnOutcome run(Interceptors const& all, port::TurnRequest const& request) {
    if (!request.ask.ended) return ask_before(all, request);
    tell_after(all, request);
    return {request.ask.turn, true};
}

session::TurnOutcome unanswered(session::AskTurn const& ask, std::string why) {
    session::TurnOutcome out{ask.turn, ask.ended};
    if (!ask.ended) out.refused = std::move(why);
    return out;
}

}  // namespace

agent::AskTurn adapt(std::vector<TurnInterceptor> interceptors, port::Workers& workers,
                     port::Loop& loop, Duration limit) {
    auto const all = std::make_shared<Interceptors const>(std::move(interceptors));
    return [all, &workers, &loop, limit](
               port::TurnRequest request, agent::MayStart may_start,
               port::Fn<void(std::optional<session::TurnOutcome>)> done) -> agent::StopTool {
        auto const asked = std::make_shared<Asked>(std::move(done));
        auto const ask = std::make_shared<session::AskTurn const>(request.ask);
        // nullopt: the interceptors have not begun
        auto const outcome = std::make_shared<std::optional<session::TurnOutcome>>();
        auto job = [all, asked, outcome, may_start = std::move(may_start),
                    request = std::move(request)](std::stop_token const&) {
            if (asked->claimed.exchange(true) || !may_start.still()) return;
            *outcome = run(*all, request);
        };
        asked->job = workers.run(std::move(job),
                                 [asked, outcome](bool) { asked->end(std::move(*outcome)); });
        loop.after(limit, [asked, ask] {
            if (asked->over) return;
            asked->job.request_stop();
            if (!asked->claimed.exchange(true)) return asked->end(std::nullopt);
            asked->end(unanswered(*ask, "the interceptors did not answer in time"));
        });
        return [asked] {
            asked->over = true;
            asked->claimed = true;
            asked->job.request_stop();
        };
    };
}

}  // namespace dormouse::runtime
