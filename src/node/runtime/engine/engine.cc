#include "runtime/engine/engine.h"

#include "agent/builtin.h"
#include "base/text/text.h"
#include "io/process/no_signals.h"
#include "json/json.h"
#include "runtime/gates.h"
#include "runtime/models.h"
#include "runtime/stores.h"
#include "runtime/turns.h"
#include "runtime/views.h"
#include "tool/adapter.h"
#include "wire/submission.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <system_error>

namespace dormouse {

using runtime::asker;

runner::Asker runtime::asker(std::string const& by, std::string_view what, std::string const& key,
                             std::string_view content) {
    runner::Asker out{{session::ActorType::token, by}};
    if (key.empty()) return out;
    auto const scope = sha256("library\n" + by + "\n" + std::string(what) + "\n" + key);
    out.idem_key = hex(std::span(scope).first(16));
    auto const digest = sha256(content);
    out.idem_digest = hex(std::span(digest).first(16));
    return out;
}

namespace {

// A name that is written to journals.
bool is_label(std::string_view name) { return !name.empty() && valid_utf8(name); }

std::string labels_json(std::map<std::string, std::string> const& labels) {
    json::Writer out;
    out.begin_object();
    for (auto const& [name, value] : labels) out.member(name, value);
    return out.end_object().take();
}

// Values of zero with which nothing would ever run.
Result<void> check_numbers(Settings const& settings) {
    auto const refuse = [](std::string const& name) {
        return fail(Code::bad_value, name + " must be at least 1");
    };
    if (settings.tool_threads == 0) return refuse("tool_threads");
    if (settings.callback_threads == 0) return refuse("callback_threads");
    if (settings.resident_time < Duration(1)) return refuse("resident_time");
    for (AgentSettings const& agent : settings.agents) {
        std::string const who = "agent '" + agent.name + "': ";
        if (agent.step_limit == 0) return refuse(who + "step_limit");
        if (agent.tool_concurrency == 0) return refuse(who + "tool_concurrency");
    }
    return {};
}

// Digest of an agent's configuration; each turn records it.
std::string digest_of(AgentSettings const& agent) {
    json::Writer out;
    out.begin_array().value(agent.model.plan()->name).value(agent.instructions);
    for (std::string const& tool : agent.tools) out.value(tool);
    return digest_text(sha256(out.end_array().take()));
}

// Returns the digest of the settings that processes sharing a store must have in common: a session
// may continue in any.
std::string digest_of(Settings const& settings) {
    std::set<std::string> names;
    for (AgentSettings const& agent : settings.agents) names.insert("agent " + agent.name);
    for (ToolPtr const& tool : settings.tools) names.insert("tool " + tool->declaration().name);
    for (Gate const& gate : settings.gates) names.insert("gate " + gate.name);
    std::string all;
    for (std::string const& name : names) all += name + "\n";
    return hex(sha256(all));
}

}  // namespace

Runtime::Engine::Engine(Settings settings, runtime::OpenedStore store)
    : settings_(std::move(settings)),
      callbacks_(std::make_shared<runtime::Callbacks>(settings_, services_.loop)),
      node_(
          services_, std::move(store),
          {.threads = {.threads = settings_.tool_threads,
                       .threads_max = settings_.tool_threads_max},
           .runner = {.resident_max = settings_.resident_sessions,
                      .resident_time = settings_.resident_time,
                      .completed_after = settings_.completed_after},
           .text = [this](SessionId session, port::Delta const& delta) { text(session, delta); }}) {
}

Result<std::unique_ptr<Runtime::Engine>> Runtime::Engine::open(Settings settings) {
    if (auto right = check_numbers(settings); !right)
        return std::unexpected(std::move(right.error()));
    auto store = runtime::open_store(
        {.place = settings.store, .shared = true, .config = digest_of(settings)});
    if (!store) return std::unexpected(std::move(store.error()));
    try {
        std::unique_ptr<Engine> engine(new Engine(std::move(settings), *std::move(store)));
        if (auto ready = engine->assemble(); !ready)
            return std::unexpected(std::move(ready.error()));
        // Without its store each operation answers store_unavailable.
        engine->node_.start([] {});
        io::NoSignals const none;
        engine->thread_ = std::thread([&loop = engine->services_.loop] { loop.run(); });
        return engine;
    } catch (std::system_error const& error) {
        return dormouse::fail(Code::overloaded,
                              std::string("cannot start a thread: ") + error.what());
    }
}

Runtime::Engine::~Engine() {
    static_cast<void>(close(Duration(5'000)));
    node_.threads.drain();
    node_.attached.reset();
    callbacks_->forget_loop();
}

bool Runtime::Engine::close(Duration limit) {
    // It would wait for itself.
    if (node_.threads.is_own_thread()) return false;
    std::lock_guard const one_at_a_time(closing_);
    limit = std::clamp(limit, Duration(), Duration(std::chrono::years(1)));
    auto const until = std::chrono::steady_clock::now() + limit;
    *over_ = true;
    if (thread_.joinable()) {
        std::promise<void> draining;
        services_.loop.post([&, this] { begin_to_end(limit, [&] { draining.set_value(); }); });
        // From here on no effect starts, so none follows those that are asked to stop.
        draining.get_future().wait();
        node_.ending.request_stop();
        node_.threads.request_stop();
        thread_.join();
    }
    blocked_->end();
    auto const left = std::chrono::ceil<Duration>(until - std::chrono::steady_clock::now());
    bool const ended = node_.threads.stop_within(left);
    node_.store_thread.stop();
    return ended;
}

// On the loop. Ends waiting operations and readers, then the node.
void Runtime::Engine::begin_to_end(Duration limit, port::Fn<void()> done) {
    let_go();
    node_.ending_effects.start_no_tools();
    node_.end(limit);
    done();
}

Result<void> Runtime::Engine::assemble() {
    for (ToolPtr const& tool : settings_.tools) {
        auto made = tools::make_agent_tool(tool);
        if (!made) return std::unexpected(std::move(made.error()));
        if (node_.registry.tool(made->name))
            return dormouse::fail(Code::bad_value,
                                  "there are two tools '" + made->name + "'; rename one");
        add(*std::move(made));
    }
    for (Gate const& gate : settings_.gates) {
        if (!is_label(gate.name) || !gate.decide || node_.registry.gate(gate.name))
            return dormouse::fail(
                Code::bad_value,
                "gate '" + gate.name + "': give each gate a function and a name of its own");
        node_.registry.add(runtime::adapt(gate));
    }
    if (auto turns = assemble_turns(); !turns) return turns;
    add_task_tools();
    return assemble_agents();
}

// Adds a tool of the program, with its callback URL.
void Runtime::Engine::add(agent::Tool tool) {
    bool const has_url = tool.terms.may_pause_for(session::PauseReason::tool_result);
    if (!settings_.callback_url || !has_url) return node_.registry.add(std::move(tool));
    auto const inner = std::make_shared<agent::Tool const>(tool);
    tool.run = [this, inner](agent::ToolCall const& call, std::stop_token stop) {
        return run_tool(*inner, call, std::move(stop));
    };
    node_.registry.add(std::move(tool));
}

// On a tool thread.
agent::ToolResult Runtime::Engine::run_tool(agent::Tool const& tool, agent::ToolCall const& call,
                                            std::stop_token stop) {
    agent::ToolCall own = call;
    own.callback_url.clear();
    callbacks_->notes().guard("callback_url",
                              [&] { own.callback_url = settings_.callback_url(call.pending); });
    return tool.run(own, std::move(stop));
}

// Adds the agents as tools, and the tools of background tasks; agents may name them.
void Runtime::Engine::add_task_tools() {
    for (agent::Tool& tool : agent::task_tools()) {
        if (!node_.registry.tool(tool.name)) node_.registry.add(std::move(tool));
    }
    for (AgentSettings const& asked : settings_.agents) {
        std::string const name = "agent:" + asked.name;
        if (node_.registry.tool(name)) continue;
        node_.registry.add(agent::agent_tool({name, asked.name, asked.description}));
    }
}

Result<void> Runtime::Engine::assemble_agents() {
    runtime::ModelServices const services{services_.http, services_.clock, node_.workers,
                                          callbacks_.share(), node_.ending.get_token()};
    for (AgentSettings const& from : settings_.agents) {
        std::string const who = "agent '" + from.name + "': ";
        if (!is_label(from.name) || node_.registry.agent(from.name))
            return dormouse::fail(Code::bad_value, who + "give each agent a name of its own");
        if (!valid_utf8(from.instructions) || !valid_utf8(from.description))
            return dormouse::fail(Code::bad_value, who + "its texts must be UTF-8");
        if (!from.model.plan()) return dormouse::fail(Code::bad_value, who + "give it a model");
        for (std::string const& tool : from.tools) {
            if (!node_.registry.tool(tool))
                return dormouse::fail(Code::bad_value,
                                      std::string(who).append("tool '").append(tool).append(
                                          "' is not one of the settings' tools"));
        }
        auto model = from.model.plan()->make(services);
        if (!model) return dormouse::fail(model.error().code, who + model.error().detail);
        agent::Agent out{from.name, from.description, *std::move(model), from.tools};
        out.terms.step_limit = from.step_limit;
        out.terms.tool_concurrency = from.tool_concurrency;
        out.terms.digest = digest_of(from);
        for (TurnInterceptor const& one : settings_.turns) {
            if (one.before) out.terms.before.push_back(one.name);
            if (one.after) out.terms.after.push_back(one.name);
        }
        out.instructions = from.instructions;
        out.model_id = from.model.plan()->name;
        node_.registry.add(std::move(out));
    }
    return {};
}

Result<void> Runtime::Engine::assemble_turns() {
    std::set<std::string> names;
    for (TurnInterceptor const& one : settings_.turns) {
        bool const right = is_label(one.name) && (one.before || one.after);
        if (!right || !names.insert(one.name).second)
            return dormouse::fail(
                Code::bad_value,
                "turn interceptor '" + one.name + "': give each a name of its own, and a function");
    }
    if (!names.empty())
        node_.registry.set(runtime::adapt(settings_.turns, node_.workers, services_.loop));
    return {};
}

// Asks the authorizer, if there is one, on a tool thread. `then` or `refuse` is called on the loop.
void Runtime::Engine::allow(Operation operation, PendingId pending, std::string by,
                            port::Fn<void()> then, port::Fn<void(Error)> refuse) {
    if (!settings_.authorize) return then();
    PendingCall shown;
    shown.id = pending;
    if (operation == Operation::create_session)
        return authorize(operation, std::move(by), std::move(shown), std::move(then),
                         std::move(refuse));
    node_.runner.read_lane(pending.session,
                           [this, operation, pending, by = std::move(by), shown = std::move(shown),
                            then = std::move(then), refuse = std::move(refuse)](
                               Result<std::shared_ptr<runner::Lane>> lane) mutable {
                               if (lane) {
                                   if (auto const* call = open_pause((*lane)->state(), pending);
                                       call && (call->pause || call->question)) {
                                       shown = runtime::pending_call(*call);
                                   }
                               }
                               authorize(operation, std::move(by), std::move(shown),
                                         std::move(then), std::move(refuse));
                           });
}

void Runtime::Engine::authorize(Operation operation, std::string by, PendingCall shown,
                                port::Fn<void()> then, port::Fn<void(Error)> refuse) {
    auto const permission =
        std::make_shared<Result<void>>(dormouse::fail(Code::overloaded, "too much work is queued"));
    auto job = [this, operation, by = std::move(by), shown = std::move(shown),
                permission](std::stop_token const&) {
        *permission = dormouse::fail(Code::forbidden, "the authorizer threw");
        callbacks_->notes().guard("the authorizer",
                                  [&] { *permission = settings_.authorize(operation, by, shown); });
    };
    static_cast<void>(node_.workers.run(std::move(job), [permission, then = std::move(then),
                                                         refuse = std::move(refuse)](bool) mutable {
        if (*permission) return then();
        refuse(std::move(permission->error()));
    }));
}

void Runtime::Engine::create(NewSession const& from, runtime::Reply<SessionId> reply) {
    if (auto fits = runtime::check(from); !fits)
        return reply(std::unexpected(std::move(fits.error())));
    if (!node_.registry.agent(from.agent))
        return reply(dormouse::fail(Code::bad_value, "there is no agent '" + from.agent + "'"));
    session::Create create;
    create.project = from.project;
    create.agent = from.agent;
    create.title = from.title;
    std::string const labels = labels_json(from.labels);
    if (!from.labels.empty()) create.labels = Json::trusted(labels);
    if (!from.prompt.empty())
        create.prompt = session::Create::FirstPrompt{wire::text_prompt(from.prompt).parts};
    std::string const content =
        from.agent + "\n" + from.project + "\n" + from.title + "\n" + labels + "\n" + from.prompt;
    auto const shared_reply = std::make_shared<runtime::Reply<SessionId>>(std::move(reply));
    auto then = [this, shared_reply, create = std::move(create),
                 by = asker(from.by, "create", from.key, content)]() mutable {
        node_.runner.create(
            std::move(create), std::move(by), [shared_reply](Result<runner::Created> created) {
                if (!created) return (*shared_reply)(std::unexpected(std::move(created.error())));
                (*shared_reply)(created->session);
            });
    };
    allow(Operation::create_session, {}, from.by, std::move(then),
          [shared_reply](Error error) { (*shared_reply)(std::unexpected(std::move(error))); });
}

void Runtime::Engine::prompt(SessionId session, std::string const& text,
                             PromptOptions const& options, runtime::Reply<Accepted> reply) {
    if (text.empty()) return reply(dormouse::fail(Code::bad_value, "text must not be empty"));
    if (auto fits = runtime::check_prompt(text); !fits)
        return reply(std::unexpected(std::move(fits.error())));
    if (auto fits = runtime::check_utf8("key", options.key); !fits)
        return reply(std::unexpected(std::move(fits.error())));
    session::Prompt command = wire::text_prompt(text);
    command.when = options.when;
    command.answers = options.answers;
    auto const shared_reply = std::make_shared<runtime::Reply<Accepted>>(std::move(reply));
    auto then = [this, session, shared_reply, command = std::move(command),
                 from =
                     asker(options.by, "prompt " + session.text(), options.key, text)]() mutable {
        node_.runner.command(
            session, std::move(command), std::move(from),
            [shared_reply](Result<session::Answer> answer) {
                if (!answer) return (*shared_reply)(std::unexpected(std::move(answer.error())));
                (*shared_reply)(Accepted{answer->turn, answer->seq});
            });
    };
    PendingId pending = options.answers.value_or(PendingId{});
    pending.session = session;
    allow(Operation::message, pending, options.by, std::move(then),
          [shared_reply](Error error) { (*shared_reply)(std::unexpected(std::move(error))); });
}

void Runtime::Engine::progress(PendingId pending, Json payload, std::string key,
                               std::string const& by, runtime::Reply<void> reply) {
    if (payload.size() > 65'536 || key.size() > 256)
        return reply(
            dormouse::fail(Code::too_large, "progress must be at most 64 KiB, its key 256 bytes"));
    auto const shared_reply = std::make_shared<runtime::Reply<void>>(std::move(reply));
    auto then = [this, pending, shared_reply, by, payload = std::move(payload),
                 key = std::move(key)]() mutable {
        node_.runner.command(
            pending.session, session::Progress{pending, std::move(payload), std::move(key)},
            asker(by, "", "", ""), [this, shared_reply, pending](Result<session::Answer> answer) {
                if (answer) return (*shared_reply)({});
                refuse_closed(pending, std::move(answer.error()), [shared_reply](Error error) {
                    (*shared_reply)(std::unexpected(std::move(error)));
                });
            });
    };
    allow(Operation::progress, pending, by, std::move(then),
          [shared_reply](Error error) { (*shared_reply)(std::unexpected(std::move(error))); });
}

namespace {

Result<void> check_reason(CancelOptions const& options) {
    if (options.reason.size() <= session::limits::cancel_reason_bytes_max) return {};
    return dormouse::fail(Code::bad_value, "reason must be at most 1000 bytes");
}

}  // namespace

void Runtime::Engine::cancel(PendingId pending, CancelOptions options,
                             runtime::Reply<Submitted> reply) {
    if (auto const checked = check_reason(options); !checked)
        return reply(std::unexpected(checked.error()));
    auto const shared_reply = std::make_shared<runtime::Reply<Submitted>>(std::move(reply));
    std::string const by = std::move(options.by);
    session::Cancel command{session::Cancel::Scope::call, pending, std::move(options.reason)};
    auto then = [this, pending, shared_reply, by, command = std::move(command)]() mutable {
        node_.runner.command(
            pending.session, std::move(command), asker(by, "", "", ""),
            [this, shared_reply, pending](Result<session::Answer> answer) {
                if (answer) return (*shared_reply)(runtime::submitted(*answer, pending));
                refuse_closed(pending, std::move(answer.error()), [shared_reply](Error error) {
                    (*shared_reply)(std::unexpected(std::move(error)));
                });
            });
    };
    allow(Operation::cancel, pending, by, std::move(then),
          [shared_reply](Error error) { (*shared_reply)(std::unexpected(std::move(error))); });
}

void Runtime::Engine::cancel(SessionId session, CancelOptions options, runtime::Reply<void> reply) {
    if (auto const checked = check_reason(options); !checked)
        return reply(std::unexpected(checked.error()));
    PendingId none;
    none.session = session;
    auto const shared_reply = std::make_shared<runtime::Reply<void>>(std::move(reply));
    std::string const by = std::move(options.by);
    session::Cancel command{session::Cancel::Scope::turn, {}, std::move(options.reason)};
    auto then = [this, session, shared_reply, by, command = std::move(command)]() mutable {
        node_.runner.command(
            session, std::move(command), asker(by, "", "", ""),
            [shared_reply](Result<session::Answer> answer) {
                if (!answer) return (*shared_reply)(std::unexpected(std::move(answer.error())));
                (*shared_reply)({});
            });
    };
    allow(Operation::cancel, none, by, std::move(then),
          [shared_reply](Error error) { (*shared_reply)(std::unexpected(std::move(error))); });
}

void Runtime::Engine::release(runtime::Reply<void> reply) {
    if (!node_.held()) return reply(dormouse::fail(Code::wrong_state, "The store is not held."));
    node_.remove_hold([this, reply = std::move(reply)](Result<void> removed) mutable {
        if (removed) node_.attached ? node_.attached->released() : node_.release();
        reply(std::move(removed));
    });
}

void Runtime::Engine::move(SessionId session, session::Move::To to, std::string const& by,
                           runtime::Reply<void> reply) {
    PendingId none;
    none.session = session;
    auto const shared_reply = std::make_shared<runtime::Reply<void>>(std::move(reply));
    auto then = [this, session, to, by, shared_reply] {
        node_.runner.command(
            session, session::Move{to, "asked for"}, asker(by, "", "", ""),
            [shared_reply](Result<session::Answer> answer) {
                if (!answer) return (*shared_reply)(std::unexpected(std::move(answer.error())));
                (*shared_reply)({});
            });
    };
    auto const asked =
        to == session::Move::To::pause ? Operation::pause_session : Operation::resume_session;
    allow(asked, none, by, std::move(then),
          [shared_reply](Error error) { (*shared_reply)(std::unexpected(std::move(error))); });
}

}  // namespace dormouse
