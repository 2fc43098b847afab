#include "sim/agents.h"

#include "agent/demo.h"
#include "base/text/text.h"
#include "json/json.h"

#include <utility>

namespace dormouse::sim {

using namespace dormouse::session;

namespace {

struct Word {
    std::string_view prompt;
    std::string_view tool;
    CrashPolicy policy;
};
constexpr Word jobs[] = {
    {"job ", "job", CrashPolicy::retry},
    {"job-ask ", "job_ask", CrashPolicy::ask},
    {"job-never ", "job_never", CrashPolicy::never},
};

// The demo model with the simulator's tools.
class Model final : public agent::ComputedModel {
public:
    [[nodiscard]] agent::Reply reply(ModelView const& view) const override {
        agent::Reply reply = demo_.reply(view);
        constexpr std::string_view echo = "You said: ";
        auto const at = reply.text.rfind(echo);
        if (at == std::string::npos) return reply;
        std::string const echoed = reply.text.substr(at + echo.size());
        for (Word const& word : jobs) {
            if (!echoed.starts_with(word.prompt)) continue;
            json::Writer input;
            input.begin_object().member("target", echoed.substr(word.prompt.size())).end_object();
            reply.text.resize(at);
            reply.calls = {{"sim_0", std::string(word.tool), input.json()}};
        }
        return reply;
    }

private:
    agent::DemoModel demo_;
};

agent::ToolResult run_job(World& world, Json const& input) {
    auto const fate = world.below(10);
    if (fate < 2) return agent::Done{input};
    if (fate < 3) return agent::Failed{"the job did not start"};
    PauseTerms pause;
    pause.placeholder = input;
    if (fate < 5) pause.timeout = world.between(Duration(500), Duration(30'000));
    if (fate < 7) pause.poll_every = world.between(Duration(1'000), Duration(9'000));
    return pause;
}

agent::PollResult poll_job(World& world, Json const& input) {
    auto const fate = world.below(10);
    if (fate < 2) return agent::Done{input};
    if (fate < 3) return agent::Failed{"the job failed"};
    if (fate < 5) return agent::NotYet{"the service is away"};
    return agent::NotYet{};
}

agent::Tool job_tool(World& world, Word const& word) {
    agent::Tool tool;
    tool.name = word.tool;
    tool.description = "Starts a job outside.";
    tool.schema = Json::trusted(R"({"type":"object"})");
    tool.terms.crash = word.policy;
    tool.terms.may_pause = {PauseReason::tool_result};
    tool.run = [&world](agent::ToolCall const& call, std::stop_token const&) {
        return run_job(world, call.input);
    };
    tool.poll = [&world](agent::PollCall const& call, port::Fn<void(agent::PollResult)> done) {
        done(poll_job(world, call.input));
        return agent::StopTool();
    };
    return tool;
}

// A tool that really sleeps on a condition variable; Agents::run_tool delays it on virtual time.
agent::Tool on_virtual_time(agent::Tool tool) {
    if (!tool.name.starts_with("sleepy")) return tool;
    tool.run = [](agent::ToolCall const& call, std::stop_token const&) -> agent::ToolResult {
        return agent::Done{call.input};
    };
    return tool;
}

Duration time_of(RunTool const& run) {
    if (!run.tool.starts_with("sleepy")) return Duration(0);
    return parse_duration(json::View(run.input)["for"].string_or("")).value_or(Duration(0));
}

}  // namespace

std::unique_ptr<agent::Registry> make_registry(World& world, agent::FindMailer mail) {
    agent::Registry demo;
    agent::add_demo_agents(demo, std::move(mail));
    auto out = std::make_unique<agent::Registry>();
    for (agent::Tool const& tool : demo.tools()) out->add(on_virtual_time(tool));
    for (Word const& word : jobs) out->add(job_tool(world, word));
    out->add(*demo.gate("approval"));
    for (agent::Agent agent : demo.agents()) {
        agent.model = std::make_shared<Model>();
        for (Word const& word : jobs) agent.tools.emplace_back(word.tool);
        out->add(std::move(agent));
    }
    return out;
}

std::stop_source LoopWorkers::run(port::Fn<void(std::stop_token)> job,
                                  port::Fn<void(bool ran)> done) {
    std::stop_source stop;
    auto work = [job = std::move(job), done = std::move(done), stop]() mutable {
        job(stop.get_token());
        done(true);
    };
    machine_.after(machine_.world().between(Duration(0), Duration(40)), std::move(work));
    return stop;
}

Duration Agents::delay() {
    if (world_.happens(faults_.slow)) return world_.between(Duration(1'000), Duration(9'000));
    return world_.between(Duration(0), Duration(120));
}

void Agents::later(Key key, Duration delay, port::Fn<void()> work) {
    waiting_.insert(key);
    bool const stubborn = world_.happens(faults_.after_stop);
    machine_.after(delay, [this, key, stubborn, work = std::move(work)]() mutable {
        if (waiting_.erase(key) == 1 || stubborn) work();
    });
}

void Agents::ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                       port::Outcome done) {
    if (world_.happens(faults_.stalls)) return;
    AskModel const& ask = request.ask;
    bool const for_good = world_.happens(faults_.model_fails_for_good);
    bool const fails = for_good || world_.happens(faults_.model_fails);
    ModelFailure failure{ask.turn,  ask.step, ask.attempt, {"overloaded", "the simulated model"},
                         !for_good, {}};
    bool const says_when = fails && world_.happens(300);
    if (says_when) failure.retry_after = world_.between(Duration(0), Duration(5'000));
    auto work = [this, request = std::move(request), delta = std::move(delta),
                 done = std::move(done), failure = std::move(failure), fails]() mutable {
        if (fails) return done(std::move(failure));
        inner_.ask_model(std::move(request), std::move(delta), std::move(done));
    };
    if (world_.happens(200)) return work();  // an outcome may come from inside the call
    // Cannot be stopped: the session gets a late reply of the model and drops it.
    machine_.after(delay(), std::move(work));
}

void Agents::run_tool(SessionId session, EffectId id, std::string agent, RunTool run,
                      port::Outcome done) {
    if (world_.happens(faults_.stalls)) return;
    bool const job = run.tool.starts_with("job") && world_.happens(500);
    Duration const more = job ? world_.between(Duration(0), Duration(6'000)) : Duration(0);
    Duration const time = time_of(run) + more + delay();
    auto work = [this, session, id, agent = std::move(agent), run = std::move(run),
                 done = std::move(done)]() mutable {
        inner_.run_tool(session, id, std::move(agent), std::move(run), std::move(done));
    };
    later({session, id}, time, std::move(work));
}

void Agents::ask_gate(SessionId session, EffectId id, std::string agent, AskGate ask,
                      port::Outcome done) {
    if (world_.happens(faults_.stalls)) return;
    auto work = [this, session, id, agent = std::move(agent), ask = std::move(ask),
                 done = std::move(done)]() mutable {
        inner_.ask_gate(session, id, std::move(agent), std::move(ask), std::move(done));
    };
    if (world_.happens(500)) return work();
    later({session, id}, delay(), std::move(work));
}

void Agents::poll_tool(SessionId session, EffectId id, std::string agent, PollTool poll,
                       port::Outcome done) {
    auto work = [this, session, id, agent = std::move(agent), poll = std::move(poll),
                 done = std::move(done)]() mutable {
        inner_.poll_tool(session, id, std::move(agent), std::move(poll), std::move(done));
    };
    later({session, id}, delay(), std::move(work));
}

void Agents::stop(SessionId session, EffectId id) {
    waiting_.erase({session, id});
    inner_.stop(session, id);
}

}  // namespace dormouse::sim
