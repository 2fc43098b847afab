#include "mcp/tasks.h"

#include "base/url.h"
#include "mcp/questions.h"
#include "mcp/results.h"
#include "mcp/task_state.h"
#include "mcp/waiting.h"

#include <algorithm>
#include <utility>

namespace dormouse::mcp {
namespace {

constexpr std::string_view list_limit = "50";
constexpr std::string_view cancel_reason = "the MCP client cancelled its task";

// Tells a client that waits for the result what became of its task.
void notify(json::View call, TicketPtr const& ticket) {
    if (!ticket->send) return;
    json::Writer out;
    write_task(out.begin_object(), call, Era::with_initialize, {});
    ticket->send(rpc::notification("notifications/tasks/status", out.end_object().json()));
}

rpc::Fault unknown_task() { return bad_params("Task not found"); }

rpc::Fault fault_of_call(Refusal const& why) {
    return why.code == "not_found" ? unknown_task() : fault_of(why);
}

bool belongs_to(json::View call, std::string const& owner, std::string const& project) {
    return call["externalRef"].string_or("") == task_reference(owner) &&
           call["requestedBy"]["name"].string_or("") == owner &&
           (project.empty() || call["projectID"].string_or("") == project);
}

bool is_over(json::View call, Time now) {
    auto const deadline = call["timeout"].integer();
    return call["status"].string_or("") == "expired" || (deadline && to_ms(now) >= *deadline);
}

// nullopt: the member is malformed.
std::optional<std::int64_t> ttl_of(json::View task) {
    if (task.exists() && task.kind() != json::Kind::object) return std::nullopt;
    auto const ttl = task["ttl"];
    if (!ttl.exists() || ttl.is_null()) return task_ttl_default_ms;
    auto const wanted = ttl.number();
    if (!wanted) return std::nullopt;
    return static_cast<std::int64_t>(std::clamp(*wanted, static_cast<double>(task_ttl_min_ms),
                                                static_cast<double>(task_ttl_max_ms)));
}

}  // namespace

bool Tasks::is_method(std::string_view method, Era era) {
    if (method == "tasks/get" || method == "tasks/cancel") return true;
    if (era == Era::stateless) return method == "tasks/update";
    return method == "tasks/list" || method == "tasks/result";
}

void Tasks::with_owner(TicketPtr const& ticket,
                       std::move_only_function<void(std::expected<std::string, rpc::Fault>)> then) {
    ask_until_back(api_, "/api/me", ticket, [then = std::move(then)](ApiAnswer me) mutable {
        if (!me) return then(std::unexpected(fault_of(me.error())));
        then(json::View(*me)["name"].string_or(""));
    });
}

void Tasks::create(std::string_view tool, json::View arguments, json::View task, Era era,
                   Done done) {
    auto const ttl = ttl_of(task);
    if (!ttl) return done(std::unexpected(bad_params("task must be an object with ttl, in ms")));
    with_owner(nullptr, [api = api_, project = project_, tool = std::string(tool),
                         arguments = arguments.copy(), ttl = *ttl, era, done = std::move(done)](
                            std::expected<std::string, rpc::Fault> owner) mutable {
        if (!owner) return done(std::unexpected(std::move(owner.error())));
        auto request =
            question_of(project, tool, json::View(arguments), TaskTerms{*std::move(owner), ttl});
        if (!request) return done(std::unexpected(bad_params(request.error().what)));
        api->ask(*std::move(request), [era, done = std::move(done)](ApiAnswer made) mutable {
            if (!made) return done(std::unexpected(fault_of(made.error())));
            done(created_task(json::View(*made)["call"], era));
        });
    });
}

void Tasks::answer(rpc::Message const& message, Era era, Elicits const& elicits,
                   TicketPtr const& ticket, Done done) {
    json::View const params(message.params);
    if (message.method == "tasks/list") return list(params, elicits, std::move(done));
    auto const id = params["taskId"].string();
    if (!id) return done(std::unexpected(bad_params("taskId must be a string")));
    if (message.method == "tasks/get") return get(*id, era, elicits, std::move(done));
    if (message.method == "tasks/cancel") return cancel(*id, era, std::move(done));
    if (message.method == "tasks/result") return result(*id, elicits, ticket, std::move(done));
    update(*id, params, std::move(done));
}

// Responses to what is not asked are ignored, as the extension wants it.
void Tasks::update(std::string const& id, json::View params, Done done) {
    auto const responses = params["inputResponses"];
    if (responses.kind() != json::Kind::object)
        return done(std::unexpected(bad_params("inputResponses must be an object")));
    find(id, nullptr,
         [api = api_,
          response = responses[task_input_key].exists()
                         ? std::optional(responses[task_input_key].copy())
                         : std::nullopt,
          done = std::move(done)](auto call) mutable {
             if (!call) return done(std::unexpected(std::move(call.error())));
             json::View const view(*call);
             if (!response || !may_elicit(view)) return done(Json::trusted("{}"));
             take_elicited(api, view, json::View(*response),
                           [done = std::move(done)](std::optional<rpc::Fault> wrong) mutable {
                               if (wrong) return done(std::unexpected(*std::move(wrong)));
                               done(Json::trusted("{}"));
                           });
         });
}

// The pending call of the owner's task.
void Tasks::find(std::string const& id, TicketPtr const& ticket, Found found) {
    with_owner(ticket, [self = shared_from_this(), id, ticket, found = std::move(found)](
                           std::expected<std::string, rpc::Fault> owner) mutable {
        if (!owner) return found(std::unexpected(std::move(owner.error())));
        auto check = [self, owner = *std::move(owner),
                      found = std::move(found)](ApiAnswer call) mutable {
            if (!call) return found(std::unexpected(fault_of_call(call.error())));
            json::View const view(*call);
            if (!belongs_to(view, owner, self->project_))
                return found(std::unexpected(unknown_task()));
            if (is_over(view, self->api_->now()))
                return found(std::unexpected(bad_params("Task has expired")));
            found(*std::move(call));
        };
        ask_until_back(self->api_, pending_path(id) + "?view=inbox", ticket, std::move(check));
    });
}

void Tasks::get(std::string const& id, Era era, Elicits const& elicits, Done done) {
    find(id, nullptr, [era, elicits, done = std::move(done)](auto call) mutable {
        if (!call) return done(std::unexpected(std::move(call.error())));
        done(detailed_task(json::View(*call), era, elicits));
    });
}

// A page may be short: lists find the owner's calls by a reference that others may use too.
void Tasks::list(json::View params, Elicits const& elicits, Done done) {
    auto const cursor = params["cursor"];
    if (cursor.exists() && !cursor.string())
        return done(std::unexpected(bad_params("cursor is invalid")));
    with_owner(nullptr,
               [self = shared_from_this(), elicits, cursor = cursor.string(),
                done = std::move(done)](std::expected<std::string, rpc::Fault> owner) mutable {
                   if (!owner) return done(std::unexpected(std::move(owner.error())));
                   auto const& project = self->project_;
                   std::string target =
                       "/api/pending?view=inbox&changedSince=0&limit=" + std::string(list_limit) +
                       "&project=" + (project.empty() ? "*" : percent_encode(project)) +
                       "&externalRef=" + percent_encode(task_reference(*owner));
                   if (cursor) target += "&cursor=" + percent_encode(*cursor);
                   auto write = [self, elicits, owner = *owner,
                                 done = std::move(done)](ApiAnswer list) mutable {
                       if (!list && list.error().code == "bad_cursor")
                           return done(std::unexpected(bad_params("cursor is invalid")));
                       if (!list) return done(std::unexpected(fault_of(list.error())));
                       json::Writer out;
                       out.begin_object().key("tasks").begin_array();
                       json::View(*list)["items"].elements([&](json::View call) {
                           bool const gone = is_over(call, self->api_->now());
                           if (!belongs_to(call, owner, self->project_) || gone) return;
                           out.begin_object();
                           write_task(out, call, Era::with_initialize, elicits);
                           out.end_object();
                       });
                       out.end_array();
                       if (auto const next = json::View(*list)["next"].string())
                           out.member("nextCursor", *next);
                       done(out.end_object().json());
                   };
                   self->api_->ask({.target = std::move(target)}, std::move(write));
               });
}

// Waits for the outcome; answers as the call of the tool would have.
void Tasks::result(std::string const& id, Elicits const& elicits, TicketPtr const& ticket,
                   Done done) {
    find(id, ticket, [api = api_, id, elicits, ticket, done = std::move(done)](auto call) mutable {
        if (!call) return done(std::unexpected(std::move(call.error())));
        if (is_settled(*call)) return done(tool_result(answer_of(json::View(*call)), id));
        elicit(json::View(*call), elicits, id, ticket);
        auto finish = [id, elicits, ticket, done = std::move(done)](ApiAnswer settled) mutable {
            if (!settled) return done(std::unexpected(fault_of_call(settled.error())));
            if (!is_settled(*settled))
                return done(std::unexpected(rpc::Fault{.message = "The request was withdrawn"}));
            json::View const view(*settled);
            end_elicitation(view, elicits, ticket);
            notify(view, ticket);
            done(tool_result(answer_of(view), id));
        };
        Waiting waiting{.target = pending_path(id), .final = is_settled};
        wait_for(api, std::move(waiting), ticket, std::move(finish));
    });
}

// The call may be settled before: 2025-11-25 refuses that, the extension does not.
void Tasks::cancel(std::string const& id, Era era, Done done) {
    auto const is_final = [](json::View call) {
        auto const status = std::string(task_status(call));
        return bad_params("Cannot cancel task: already in terminal status '" + status + "'");
    };
    find(id, nullptr,
         [self = shared_from_this(), id, era, is_final, done = std::move(done)](auto call) mutable {
             if (!call) return done(std::unexpected(std::move(call.error())));
             if (is_settled(*call)) {
                 if (era == Era::stateless) return done(Json::trusted("{}"));
                 return done(std::unexpected(is_final(json::View(*call))));
             }
             auto then = [self, id, era, is_final, done = std::move(done)](ApiAnswer gone) mutable {
                 bool const late =
                     !gone && (gone.error().code == "conflict" || gone.error().code == "expired");
                 if (!gone && !late) return done(std::unexpected(fault_of_call(gone.error())));
                 if (era == Era::stateless) return done(Json::trusted("{}"));
                 self->find(id, nullptr,
                            [late, is_final, done = std::move(done)](auto now) mutable {
                                if (!now) return done(std::unexpected(std::move(now.error())));
                                if (late) return done(std::unexpected(is_final(json::View(*now))));
                                done(detailed_task(json::View(*now), Era::with_initialize, {}));
                            });
             };
             self->api_->ask(
                 {.method = "DELETE",
                  .target = pending_path(id) + "?reason=" + percent_encode(cancel_reason)},
                 std::move(then));
         });
}

void write_task_capabilities(json::Writer& out, Era era) {
    if (era == Era::stateless) {
        out.key("extensions").begin_object().key("io.modelcontextprotocol/tasks");
        out.begin_object().end_object().end_object();
        return;
    }
    out.key("tasks").begin_object();
    for (auto const* const name : {"list", "cancel"}) out.key(name).begin_object().end_object();
    out.key("requests").begin_object().key("tools").begin_object().key("call");
    out.begin_object().end_object().end_object().end_object().end_object();
}

}  // namespace dormouse::mcp
