#include "mcp/session_tools.h"

#include "base/url.h"
#include "mcp/tools.h"
#include "mcp/waiting.h"
#include "rpc/message.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace dormouse::mcp {
namespace {

constexpr std::string_view unknown_code = "unknown_tool";

std::string task_path(std::string_view task, std::string_view what) {
    return "/api/tasks/" + percent_encode(task) + std::string(what);
}

bool task_runs(json::View task) {
    auto const status = task["status"].string_or("");
    return status == "running" || status == "resumed";
}

std::string task_words(json::View task) {
    auto const id = task["taskID"].string_or("");
    if (task_runs(task)) {
        auto const progress = task["progress"].string();
        return "Task " + id + " is running." + (progress ? " Progress: " + *progress : "") +
               " You will be notified when it has ended.";
    }
    if (auto const error = task["error"].string()) return "Task " + id + " failed: " + *error;
    return task["result"].plain();
}

// The answer as text: `words` makes it.
template <class Words> ApiDone in_words(ToolDone done, Words words) {
    return [done = std::move(done), words = std::move(words)](ApiAnswer answer) mutable {
        if (!answer) return done(std::unexpected(std::move(answer.error())));
        done(words(json::View(*answer)));
    };
}

std::string words_of_broadcast(json::View sent) {
    std::string out;
    sent["receivers"].elements([&](json::View each) {
        out += (out.empty() ? "" : "\n") + each["to"].string_or(each["sessionID"].string_or("")) +
               ": " + each["status"].string_or("");
        if (auto const why = each["reason"].string()) out += ", " + *why;
    });
    if (auto const id = sent["id"].string())
        out += "\n" + *id + ": mail_status reports its delivery later.";
    return out.empty() ? "No session has an alias." : out;
}

// The newest mail is the last.
std::string words_of_inbox(json::View list) {
    std::string out;
    list["items"].elements([&](json::View mail) {
        auto const from = mail["from"];
        out += mail["number"].plain() + ". " + mail["id"].string_or("") + " from " +
               from["alias"].string_or(from["sessionID"].string_or("a person")) + " (" +
               mail["status"].string_or("") + "): " + mail["text"].string_or("") + "\n";
    });
    if (auto const next = list["next"].integer())
        out += "There is more: after " + std::to_string(*next);
    return out.empty() ? "There is no mail." : out;
}

std::string words_of_mail(json::View mail) {
    std::string out;
    mail["receivers"].elements([&](json::View delivery) {
        out += (out.empty() ? "" : "\n") +
               delivery["alias"].string_or(delivery["sessionID"].string_or("")) + ": " +
               delivery["status"].string_or("");
        if (auto const why = delivery["reason"].string()) out += ", " + *why;
    });
    return out;
}

std::string words_of_tasks(json::View list, std::optional<std::string> const& only) {
    json::Writer out;
    out.begin_array();
    list["items"].elements([&](json::View task) {
        if (only && task["status"].string_or("") != *only) return;
        out.begin_object();
        for (auto const* const name :
             {"taskID", "description", "agentID", "status", "resumeCount", "progress"})
            out.member_raw(name, task[name].raw());
        out.end_object();
    });
    return out.end_array().take();
}

// Sends one request for each path, one after the other; stops at the first refusal.
void ask_each(ApiPtr const& api, std::string method, std::vector<std::string> paths,
              std::string text, ToolDone done) {
    if (paths.empty()) return done(std::move(text));
    ApiRequest request{.method = method, .target = std::move(paths.back())};
    if (method == "POST") request.body = Json::trusted("{}");
    paths.pop_back();
    api->ask(std::move(request), [api, method = std::move(method), paths = std::move(paths),
                                  text = std::move(text),
                                  done = std::move(done)](ApiAnswer answer) mutable {
        if (!answer) return done(std::unexpected(std::move(answer.error())));
        ask_each(api, std::move(method), std::move(paths), std::move(text), std::move(done));
    });
}

}  // namespace

Refusal SessionTools::unknown(std::string const& tool) {
    return {.what = "unknown tool " + tool,
            .rpc_code = rpc::code::invalid_params,
            .code = std::string(unknown_code)};
}

bool SessionTools::is_unknown(Refusal const& why) { return why.code == unknown_code; }

std::string SessionTools::path(std::string_view what) const {
    return "/api/sessions/" + percent_encode(session_) + std::string(what);
}

void SessionTools::offer(json::Writer& out, std::string const& tool, std::string_view about,
                         json::View schema) {
    auto const name = mcp_name(tool);
    auto const keyed = with_key(schema);
    if (!tools_.emplace(name, Tool{tool, keyed.has_value()}).second) return;
    out.begin_object().member("name", name).member("description", about);
    out.member_raw("inputSchema", keyed ? keyed->text() : schema.raw()).end_object();
}

// The tools of the session's agent, and asking a person, which every session has.
void SessionTools::write_tools(json::Writer& out, std::string const& agent, json::View list) {
    tools_.clear();
    read_ = true;
    list["items"].elements([&](json::View tool) {
        auto const name = tool["name"].string_or("");
        bool its = false;
        tool["agents"].elements([&](json::View each) { its = its || each.string_or("") == agent; });
        if (!its || is_own_mcp_tool(name) || tool["inputSchema"].is_null()) return;
        offer(out, name, tool["description"].string_or(""), tool["inputSchema"]);
    });
    offer(out, "ask_human", "Asks a person; the answer may come days later, as a message.",
          json::View(R"({"type":"object","properties":{"question":{"type":"string"}},)"
                     R"("required":["question"],"additionalProperties":false})"));
}

void SessionTools::list(ApiDone done) {
    auto then = [self = shared_from_this(), done = std::move(done)](ApiAnswer session) mutable {
        if (!session) return done(std::move(session));
        auto write = [self, agent = json::View(*session)["agentID"].string_or(""),
                      done = std::move(done)](ApiAnswer list) mutable {
            if (!list) return done(std::move(list));
            json::Writer out;
            out.begin_array();
            self->write_tools(out, agent, json::View(*list));
            write_own_mcp_tools(out, own_mcp_tools());
            done(out.end_array().json());
        };
        self->api_->ask({.target = "/api/tools"}, std::move(write));
    };
    api_->ask({.target = path("")}, std::move(then));
}

void SessionTools::call(std::string name, Json arguments, TicketPtr ticket, ToolDone done) {
    if (read_) return call_found(name, arguments, std::move(ticket), std::move(done));
    list([self = shared_from_this(), name = std::move(name), arguments = std::move(arguments),
          ticket = std::move(ticket), done = std::move(done)](ApiAnswer read) mutable {
        if (!read) return done(std::unexpected(std::move(read.error())));
        self->call_found(name, arguments, std::move(ticket), std::move(done));
    });
}

void SessionTools::call_found(std::string const& name, Json const& arguments, TicketPtr ticket,
                              ToolDone done) {
    json::View const view(arguments);
    if (auto const found = tools_.find(name); found != tools_.end())
        return call_durable(found->second, view, std::move(done));
    auto const own = std::ranges::find(own_mcp_tools(), name, &McpTool::name);
    if (own == own_mcp_tools().end()) return done(std::unexpected(unknown(name)));
    if (auto wrong = wrong_arguments(*own, view); !wrong.empty())
        return done(refused(std::move(wrong)));
    if (!view["block"].boolean_or(false)) return call_own(name, view, std::move(done));
    call_own(name, view,
             [self = shared_from_this(), arguments, ticket = std::move(ticket),
              done = std::move(done)](ToolText begun) mutable {
                 if (!begun) return done(std::move(begun));
                 self->wait(json::View(arguments), ticket, std::move(done));
             });
}

void SessionTools::wait(json::View arguments, TicketPtr const& ticket, ToolDone done) {
    auto const time = std::chrono::milliseconds(arguments["timeout"].integer_or(60'000));
    Waiting waiting{.target = task_path(arguments["task_id"].string_or(""), "/output"),
                    .final = [](Json const& task) { return !task_runs(json::View(task)); },
                    .until = api_->now() + time};
    wait_for(api_, std::move(waiting), ticket, in_words(std::move(done), task_words));
}

void SessionTools::call_own(std::string const& name, json::View arguments, ToolDone done) {
    auto const get = [&](std::string const& target, auto words) {
        api_->ask({.target = target}, in_words(std::move(done), words));
    };
    if (name == "background_task") return start_task(arguments, std::move(done));
    if (name == "background_output")
        return get(task_path(arguments["task_id"].string_or(""), "/output"), task_words);
    if (name == "background_resume") return resume_task(arguments, std::move(done));
    if (name == "background_cancel") return cancel_tasks(arguments, std::move(done));
    if (name == "background_clear") return clear_tasks(std::move(done));
    if (name == "background_list") return list_tasks(arguments, std::move(done));
    if (name == "inbox") return inbox(arguments, std::move(done));
    if (name == "mail_status")
        return get("/api/mail/" + percent_encode(arguments["mail_id"].string_or("")),
                   words_of_mail);
    if (name == "session_history") {
        auto const page = arguments["page"].string();
        return get(path("/messages?limit=20") + (page ? "&cursor=" + percent_encode(*page) : ""),
                   history_words);
    }
    if (name == "broadcast") return broadcast(arguments, std::move(done));
    json::Writer body;
    body.begin_object().member("text", arguments["text"].string_or("")).end_object();
    api_->ask({.method = "POST", .target = path("/report"), .body = body.json()},
              in_words(std::move(done), [](json::View) { return "Progress reported."; }));
}

void SessionTools::call_durable(Tool const& tool, json::View arguments, ToolDone done) {
    json::Writer body;
    body.begin_object().member("tool", tool.name);
    auto const key = tool.keyed ? arguments["key"].string() : std::nullopt;
    Json const input = tool.keyed ? without_key(arguments) : arguments.copy();
    body.member("arguments", input);
    if (key) body.member("key", *key);
    auto words = [what = tool.name + " " + std::string(input.text())](json::View call) {
        bool const again = call["duplicate"].boolean_or(false);
        return (again ? "This call is open already: " : "Started: ") + what + " (" +
               call["taskID"].string_or("") +
               "). Its outcome will come as a later message in this session, with the tool and its "
               "arguments. Do not call it again for that, and do not wait: continue with something "
               "else, or end your turn.";
    };
    api_->ask({.method = "POST",
               .target = path("/calls"),
               .body = body.end_object().json(),
               .patient = true},
              in_words(std::move(done), std::move(words)));
}

void SessionTools::start_task(json::View arguments, ToolDone done) {
    json::Writer body;
    body.begin_object().member("agentID", arguments["agent"].string_or(""));
    body.member("prompt", arguments["prompt"].string_or(""));
    if (arguments["fork"].boolean_or(false)) body.member("fork", true);
    body.member("description", arguments["description"].string_or("")).end_object();
    api_->ask({.method = "POST", .target = path("/tasks"), .body = body.json(), .patient = true},
              in_words(std::move(done), [](json::View started) {
                  return "Started task " + started["taskID"].string_or("") +
                         ". You will be notified when it has ended.";
              }));
}

void SessionTools::resume_task(json::View arguments, ToolDone done) {
    json::Writer body;
    body.begin_object().member("message", arguments["message"].string_or("")).end_object();
    auto task = arguments["task_id"].string_or("");
    std::string target = task_path(task, "/resume");
    api_->ask({.method = "POST", .target = std::move(target), .body = body.json(), .patient = true},
              in_words(std::move(done), [task = std::move(task)](json::View) {
                  return "Task " + task + " is resumed. You will be notified when it has ended.";
              }));
}

void SessionTools::cancel_tasks(json::View arguments, ToolDone done) {
    auto const task = arguments["task_id"].string_or("");
    bool const all = arguments["all"].boolean_or(false);
    if (all == !task.empty()) return done(refused("Give either task_id or all: true"));
    if (!all)
        return ask_each(api_, "POST", {task_path(task, "/cancel")},
                        "Task " + task + " is cancelled.", std::move(done));
    api_->ask({.target = path("/tasks")},
              [api = api_, done = std::move(done)](ApiAnswer list) mutable {
                  if (!list) return done(std::unexpected(std::move(list.error())));
                  std::vector<std::string> paths;
                  json::View(*list)["items"].elements([&](json::View each) {
                      if (task_runs(each))
                          paths.push_back(task_path(each["taskID"].string_or(""), "/cancel"));
                  });
                  std::string text = "Tasks cancelled: " + std::to_string(paths.size());
                  ask_each(api, "POST", std::move(paths), std::move(text), std::move(done));
              });
}

// Open calls are not tasks of an agent, so they stay.
void SessionTools::clear_tasks(ToolDone done) {
    api_->ask({.target = path("/tasks")},
              [api = api_, done = std::move(done)](ApiAnswer list) mutable {
                  if (!list) return done(std::unexpected(std::move(list.error())));
                  std::vector<std::string> paths;
                  json::View(*list)["items"].elements([&](json::View each) {
                      if (!each["agentID"].string_or("").starts_with("calls:"))
                          paths.push_back(task_path(each["taskID"].string_or(""), ""));
                  });
                  std::string text = "Tasks cleared: " + std::to_string(paths.size());
                  ask_each(api, "DELETE", std::move(paths), std::move(text), std::move(done));
              });
}

void SessionTools::list_tasks(json::View arguments, ToolDone done) {
    api_->ask({.target = path("/tasks")},
              in_words(std::move(done), [only = arguments["status"].string()](json::View list) {
                  return words_of_tasks(list, only);
              }));
}

void SessionTools::broadcast(json::View arguments, ToolDone done) {
    json::Writer body;
    body.begin_object().member("from", session_);
    body.member("text", arguments["message"].string_or(""));
    if (auto const to = arguments["to"]; to.exists()) body.member_raw("to", to.raw());
    if (auto const resume = arguments["resume"].boolean()) body.member("resume", *resume);
    if (auto const ttl = arguments["ttl"].integer()) body.member("ttl", *ttl);
    if (auto const reply_to = arguments["reply_to"].string()) body.member("replyTo", *reply_to);
    api_->ask({.method = "POST",
               .target = "/api/mail",
               .body = body.end_object().json(),
               .patient = true},
              in_words(std::move(done), words_of_broadcast));
}

void SessionTools::inbox(json::View arguments, ToolDone done) {
    std::string target = path("/inbox?limit=50");
    if (auto const after = arguments["after"].integer())
        target += "&after=" + std::to_string(*after);
    if (auto const only = arguments["status"].string())
        target += "&status=" + percent_encode(*only);
    api_->ask({.target = std::move(target)}, in_words(std::move(done), words_of_inbox));
}

}  // namespace dormouse::mcp
