#include "http/objects/object_fields.h"
#include "http/resources/tasks/handlers.h"

#include "json/json.h"
#include "session/parts.h"

// Background tasks (requirements D1 to D9): what the tools can do, for people and programs.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

Error no_task(std::string const& id) { return {Code::not_found, "Task not found: " + id}; }

// Returns the session and the number of the task in the path; answers with an error otherwise.
std::optional<NumberedId> task_in_path(ExchangePtr const& x) {
    auto id = parse_numbered("tsk_", x->params[0]);
    if (!id) x->fail(no_task(x->params[0]));
    return id;
}

Result<std::string> object_of(Snapshot const& snapshot, TaskNo no) {
    auto const& tasks = snapshot.history.tasks();
    auto const found = tasks.find(no);
    if (found == tasks.end())
        return std::unexpected(no_task(task_id(snapshot.lane->state().id, no)));
    return task_object(snapshot.lane->state(), found->second);
}

void answer_task(Api& api, ExchangePtr const& x, SessionId session, TaskNo no, int status) {
    read_history(api, session, [x, no, status](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        auto const object = object_of(*snapshot, no);
        if (!object) return x->fail(object.error());
        x->json(status, *object);
    });
}

void ask_task(Api& api, ExchangePtr const& x, SessionId session, TaskAsk ask, int status) {
    api.services().runner.command(session, std::move(ask), x->asker(),
                                  [&api, x, session, status](Result<Answer> const& answer) {
                                      if (!answer) return x->fail(answer.error());
                                      answer_task(api, x, session, answer->task, status);
                                  });
}

Result<TaskAsk> read_start(ExchangePtr const& x) {
    Body body(json::View(x->body), task_request);
    TaskAsk ask;
    ask.what = TaskAsk::What::start;
    if (body.error()) return std::unexpected(*body.error());
    ask.agent = body.string_or_empty("agentID");
    ask.parts = text_parts(body.string_or_empty("prompt"));
    ask.description = body.string_or_empty("description");
    ask.fork = body.boolean("fork").value_or(false);
    return ask;
}

Result<TaskAsk> read_resume(ExchangePtr const& x) {
    Body body(json::View(x->body), task_resume_request);
    if (body.error()) return std::unexpected(*body.error());
    TaskAsk ask;
    ask.what = TaskAsk::What::resume;
    ask.task = x->params[0];
    ask.parts = text_parts(body.string_or_empty("message"));
    return ask;
}

bool runs(State const& state, TaskNo no) {
    auto const found = state.tasks.find(no);
    return found != state.tasks.end() && found->second.active();
}

// A token limited to some agents may resume only tasks of these agents.
void resume(Api& api, ExchangePtr const& x, NumberedId const& id, TaskAsk ask) {
    if (!x->principal || x->principal->session || x->principal->may_start_all())
        return ask_task(api, x, id.session, std::move(ask), 202);
    auto const no = static_cast<TaskNo>(id.number);
    read_history(api, id.session,
                 [&api, x, no, ask = std::move(ask)](Result<Snapshot> snapshot) mutable {
                     if (!snapshot) return x->fail(snapshot.error());
                     auto const& tasks = snapshot->history.tasks();
                     auto const task = tasks.find(no);
                     if (task == tasks.end()) return x->fail(no_task(x->params[0]));
                     if (auto const error = refuse_agent(api, *x, task->second.agent))
                         return x->fail(*error);
                     ask_task(api, x, snapshot->lane->id(), std::move(ask), 202);
                 });
}

}  // namespace

void list_tasks(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    auto const tree = x->request.query_value("tree").value_or("false");
    if (tree != "true" && tree != "false")
        return x->fail(bad_value("?tree", "must be true or false"));
    if (tree == "true") return list_task_tree(api, x, *id);
    read_history(api, *id, [x](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        std::vector<TaskSource> tasks;
        for (auto const& [no, task] : snapshot->history.tasks())
            tasks.push_back({snapshot->lane->state(), task});
        x->json(200, list_text(tasks, {}));  // at most 200: one page
    });
}

void start_task(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    read_aside<TaskAsk>(
        api, x, [x] { return read_start(x); },
        [&api, x, id = *id](TaskAsk ask) {
            if (!api.services().catalogue.has_agent(ask.agent))
                return x->fail(
                    bad_value("/agentID", "unknown agent '" + ask.agent + "' (GET /api/agents)"));
            if (auto const error = refuse_agent(api, *x, ask.agent)) return x->fail(*error);
            ask_task(api, x, id, std::move(ask), 201);
        });
}

void post_report(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    Body body(json::View(x->body), report_request);
    if (body.error()) return x->fail(*body.error());
    TaskAsk ask;
    ask.what = TaskAsk::What::report;
    ask.description = body.string_or_empty("text");
    api.services().runner.command(*id, std::move(ask), x->asker(),
                                  [x](Result<Answer> const& answer) {
                                      if (!answer) return x->fail(answer.error());
                                      x->empty(204);
                                  });
}

void resume_task(Api& api, ExchangePtr const& x) {
    auto const id = task_in_path(x);
    if (!id) return;
    read_aside<TaskAsk>(
        api, x, [x] { return read_resume(x); },
        [&api, x, id = *id](TaskAsk ask) { resume(api, x, id, std::move(ask)); });
}

void cancel_task(Api& api, ExchangePtr const& x) {
    auto const id = task_in_path(x);
    if (!id) return;
    Body body(json::View(x->body), task_cancel_request);
    TaskAsk ask;
    ask.reason = body.string_or_empty("reason");
    if (body.error()) return x->fail(*body.error());
    ask.what = TaskAsk::What::cancel;
    ask.task = x->params[0];
    api.services().runner.command(
        id->session, std::move(ask), x->asker(),
        [&api, x, session = id->session](Result<Answer> const& answer) {
            if (!answer) return x->fail(answer.error());
            read_history(api, session, [x, no = answer->task](Result<Snapshot> snapshot) {
                if (!snapshot) return x->fail(snapshot.error());
                auto const object = object_of(*snapshot, no);
                // A cancelled call of the external agent is reported and removed at once.
                object ? x->json(200, *object) : x->empty(204);
            });
        });
}

void delete_task(Api& api, ExchangePtr const& x) {
    auto const id = task_in_path(x);
    if (!id) return;
    TaskAsk ask;
    ask.what = TaskAsk::What::clear;
    ask.task = x->params[0];
    api.services().runner.command(id->session, std::move(ask), x->asker(),
                                  [x](Result<Answer> const& answer) {
                                      if (!answer) return x->fail(answer.error());
                                      x->empty(204);
                                  });
}

// Answers 200 when the run has ended, 202 when the time is over.
void get_task_output(Api& api, ExchangePtr const& x) {
    auto const id = task_in_path(x);
    if (!id) return;
    Query query{x->request};
    Duration const wait = query.wait();
    if (query.error) return x->fail(*query.error);
    auto const no = static_cast<TaskNo>(id->number);
    api.services().runner.read_lane(id->session, [&api, x, wait, no, session = id->session](
                                                     Result<std::shared_ptr<runner::Lane>> lane) {
        if (!lane) return x->fail(no_task(x->params[0]));
        auto const ended = [no](State const& state) { return !runs(state, no); };
        wait_until(api, *lane, wait, x, ended, [&api, x, kept = *lane, session, no] {
            answer_task(api, x, session, no, runs(kept->state(), no) ? 202 : 200);
        });
    });
}

}  // namespace dormouse::http
