#include "base/text/names.h"
#include "http/objects/etag.h"
#include "http/objects/objects.h"
#include "http/resources/placed.h"
#include "http/resources/sessions/handlers.h"

#include "base/text/chars.h"
#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>

// Sessions: create, show, change, move, delete.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

std::optional<SessionId> session_in_path(ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) x->fail(not_found());
    return id;
}

bool is_idle(State const& state) {
    Activity const now = activity(state);
    return now == Activity::idle || now == Activity::waiting_async;
}

void command_then_session(Api& api, ExchangePtr const& x, Command::Body command) {
    auto const id = session_in_path(x);
    if (!id) return;
    api.services().runner.command(*id, std::move(command), x->asker(),
                                  [&api, x, id = *id](Result<Answer> answer) {
                                      if (!answer) return x->fail(answer.error());
                                      answer_with_session(api, x, id, 200);
                                  });
}

std::optional<Json> read_labels(Body& body) {
    auto const labels = body.object("labels");
    if (!labels) return std::nullopt;
    labels->members([&](std::string_view name, json::View value) {
        if (name.empty()) body.refuse("labels", "each label must have a name");
        if (value.kind() != json::Kind::string)
            body.refuse("labels", "each label must be a string");
    });
    return json::compact(labels->copy());
}

// A session is found by its id first; an alias that looks like an id would be hidden.
void check_alias(Body& body, std::string const& alias) {
    if (alias.empty()) return;
    if (!is_short_name(alias)) body.refuse("alias", "must match [A-Za-z0-9_.-]{1,64}");
    if (alias.starts_with("ses_")) body.refuse("alias", "must not begin with ses_");
}

Result<Create> read_create(ExchangePtr const& x) {
    Body body(json::View(x->body), create_request);
    Create create;
    create.project = x->params[0];
    create.agent = body.string_or_empty("agentID");
    create.alias = body.string_or_empty("alias");
    create.title = body.string_or_empty("title");
    create.cwd = body.string_or_empty("cwd");
    create.labels = read_labels(body).value_or(Json());
    check_alias(body, create.alias);
    if (auto const prompt = body.object("prompt")) {
        Body inner(*prompt, input_part, "/prompt");
        auto input = read_input(inner);
        if (inner.error()) body.refuse(*inner.error());
        if (input) create.prompt = Create::FirstPrompt{input->parts, std::move(input->files)};
    }
    if (body.error()) return std::unexpected(*body.error());
    return create;
}

void make_session(Api& api, ExchangePtr const& x, Duration wait, Create create) {
    if (auto const error = settle_agent(api, create)) return x->fail(*error);
    if (auto const error = refuse_agent(api, *x, create.agent)) return x->fail(*error);
    api.services().runner.create(
        std::move(create), x->asker(), [&api, x, wait](Result<runner::Created> created) {
            if (!created) return x->fail(created.error());
            SessionId const id = created->session;
            if (wait == Duration(0)) return answer_with_session(api, x, id, 201);
            api.services().runner.read_lane(
                id, [&api, x, id, wait](Result<std::shared_ptr<runner::Lane>> lane) {
                    if (!lane) return x->fail(gone_since(lane.error()));
                    wait_until(api, *lane, wait, x, is_idle,
                               [&api, x, id] { answer_with_session(api, x, id, 201); });
                });
        });
}

}  // namespace

void answer_session(ExchangePtr const& x, int status, State const& state) {
    std::vector<std::pair<std::string, std::string>> headers{{"ETag", etag(state)}};
    if (status == 201) headers.emplace_back("Location", "/api/sessions/" + state.id.text());
    x->json(status, session_object(state), std::move(headers));
}

void answer_with_session(Api& api, ExchangePtr const& x, SessionId session, int status) {
    api.services().runner.read_lane(session,
                                    [x, status](Result<std::shared_ptr<runner::Lane>> lane) {
                                        if (!lane) return x->fail(gone_since(lane.error()));
                                        answer_session(x, status, (*lane)->state());
                                    });
}

bool works_in_folders(Api& api, std::string const& agent) {
    auto const folder = api.services().catalogue.folder(agent, "");
    return !folder || !folder->empty();
}

std::optional<Error> settle_agent(Api& api, Create& create) {
    constexpr std::size_t most = 4'096;
    bool const named = !create.cwd.empty();
    if (named && !works_in_folders(api, create.agent))
        return bad_value("/cwd", "only external agents (acp) work in a folder");
    bool const well = create.cwd.starts_with('/') && create.cwd.size() <= most &&
                      create.cwd.find('\0') == std::string::npos;
    if (named && !well) return bad_value("/cwd", "must be an absolute path of at most 4096 bytes");
    auto folder = api.services().catalogue.folder(create.agent, create.cwd);
    if (!folder && named) return bad_value("/cwd", folder.error().detail);
    if (folder) create.cwd = *std::move(folder);
    if (api.services().catalogue.has_agent(create.agent)) return std::nullopt;
    return bad_value("/agentID", "unknown agent '" + create.agent + "' (GET /api/agents)");
}

void create_session(Api& api, ExchangePtr const& x) {
    Query query{x->request};
    Duration const wait = query.wait();
    if (query.error) return x->fail(*query.error);
    read_aside<Create>(
        api, x, [x] { return read_create(x); },
        [&api, x, wait](Create create) { make_session(api, x, wait, std::move(create)); });
}

void get_session(Api& api, ExchangePtr const& x) {
    auto const id = session_in_path(x);
    if (!id) return;
    Query query{x->request};
    Duration const wait = query.wait();
    if (query.error) return x->fail(*query.error);
    api.services().runner.read_lane(
        *id, [&api, x, wait](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane) return x->fail(lane.error());
            std::shared_ptr<runner::Lane> const kept = std::move(*lane);
            wait_until(api, kept, wait, x, is_idle, [x, kept] {
                if (kept->state().lifecycle == Lifecycle::deleted) return x->fail(not_found());
                std::string const tag = etag(kept->state());
                if (none_match_names(x->request, tag))
                    return x->responder->reply({304, "", {{"ETag", tag}}, ""});
                answer_session(x, 200, kept->state());
            });
        });
}

void patch_session(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), patch_request);
    Change change;
    if (json::View(x->body)["title"].exists()) change.title = body.string_or_empty("title");
    change.labels = read_labels(body);
    change.alias = body.string("alias");
    json::View const alias = json::View(x->body)["alias"];
    if (alias.exists() && alias.is_null()) change.alias = "";
    check_alias(body, change.alias.value_or(""));
    change.node = body.string("node");
    if (auto const error = change.node ? refuse_target(api, *change.node) : std::nullopt)
        body.refuse(*error);
    auto const match = if_match(x->request);
    if (!match) return x->fail(match.error());
    change.if_match = *match;
    if (body.error()) return x->fail(*body.error());
    if (!change.alias || change.alias->empty())
        return command_then_session(api, x, std::move(change));
    auto const id = session_in_path(x);
    if (!id) return;
    api.services().runner.rename(*id, std::move(change), x->asker(),
                                 [&api, x, id = *id](Result<Answer> answer) {
                                     if (!answer) return x->fail(answer.error());
                                     answer_with_session(api, x, id, 200);
                                 });
}

void delete_session(Api& api, ExchangePtr const& x) {
    auto const id = session_in_path(x);
    if (!id) return;
    auto const match = if_match(x->request);
    if (!match) return x->fail(match.error());
    api.services().runner.command(*id, Delete{*match}, x->asker(), [x](Result<Answer> answer) {
        if (!answer) return x->fail(answer.error());
        x->empty(204);
    });
}

void cancel_session(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), cancel_request);
    Cancel cancel;
    cancel.reason = body.string_or_empty("reason");
    bool const all = body.boolean("all").value_or(false);
    bool const turn = body.boolean("turn").value_or(false);
    auto const pending = body.string("pendingID");
    if (int(all) + int(turn) + int(pending.has_value()) > 1)
        body.refuse("", "give exactly one of turn, all and pendingID");
    if (body.error()) return x->fail(*body.error());
    if (all) cancel.scope = Cancel::Scope::all;
    if (pending) {
        cancel.scope = Cancel::Scope::call;
        cancel.pending = PendingId::parse(*pending);
        bool const here = cancel.pending && cancel.pending->session.text() == x->params[0];
        if (!here) return x->fail(not_found());
    }
    command_then_session(api, x, std::move(cancel));
}

namespace {

void move_session(Api& api, ExchangePtr const& x, Move::To to, std::string why) {
    Body body(json::View(x->body), empty_request);
    if (body.error()) return x->fail(*body.error());
    command_then_session(api, x, Move{to, std::move(why)});
}

}  // namespace

void resume_session(Api& api, ExchangePtr const& x) {
    move_session(api, x, Move::To::resume, "resumed");
}
void end_session(Api& api, ExchangePtr const& x) { move_session(api, x, Move::To::end, "ended"); }
void retry_session(Api& api, ExchangePtr const& x) {
    move_session(api, x, Move::To::retry, "retried");
}

}  // namespace dormouse::http
