#include "mcp/server.h"

#include "base/url.h"
#include "cli/client/fault.h"
#include "mcp/tools.h"

#include <poll.h>
#include <algorithm>
#include <array>
#include <thread>

namespace dormouse::mcp {

using cli::bad_params;
using cli::failure;
namespace status = cli::status;

namespace {

constexpr std::array<std::string_view, 2> mcp_versions{"2025-06-18", "2025-03-26"};
constexpr std::string_view mcp_instructions =
    "Tools of this server may take minutes or days. They are started and answered at once; their "
    "outcome comes later as a message in this session, with the tool and its arguments. When "
    "nothing else is to be done, end your turn: you will be woken.";

// Returns a tool's answer; an error is text for the model.
Json tool_result(Outcome<std::string> const& result) {
    std::string text = result ? *result : result.error().what;
    if (!result && !result.error().remedy.empty()) text += ". " + result.error().remedy;
    json::Writer out;
    out.begin_object().key("content").begin_array().begin_object().member("type", "text");
    out.member("text", text).end_object().end_array();
    return out.member("isError", !result).end_object().json();
}

std::string mcp_words(json::View value) {
    auto const text = value.string();
    return text ? *text : std::string(value.raw());
}

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
    return mcp_words(task["result"]);
}

}  // namespace

void McpServer::run() {
    while (!stdio_.ended()) {
        pollfd waiting{stdio_.fd(), POLLIN, 0};
        if (::poll(&waiting, 1, waiting_.empty() ? -1 : 0) > 0) {
            for (rpc::Line const& line : stdio_.read()) take(line);
        }
        if (!waiting_.empty()) check_waiting();
    }
}

void McpServer::take(rpc::Line const& line) {
    auto const received = rpc::read(line);
    std::vector<std::string> answers;
    for (rpc::Message const& message : received.messages) {
        auto result = answer(message);
        if (!result.empty()) answers.push_back(std::move(result));
    }
    if (answers.empty()) return;
    stdio_.write(received.batch ? rpc::batch(answers) : answers.front());
}

std::string McpServer::answer(rpc::Message const& message) {
    using Kind = rpc::Message::Kind;
    if (message.kind == Kind::refused) return rpc::refusal(message.id, *message.fault);
    if (message.kind == Kind::notification && message.method == "notifications/cancelled") {
        auto const id = json::View(message.params)["requestId"].raw();
        std::erase_if(waiting_, [&](Waiting const& each) { return each.id.text() == id; });
    }
    if (message.kind != Kind::request) return {};
    auto const written = [&](Result const& result) {
        return result ? rpc::response(message.id, *result)
                      : rpc::refusal(message.id, result.error());
    };
    if (message.method != "tools/call") return written(answer_request(message));
    auto const result = call_tool(message.id, json::View(message.params));
    return result ? written(*result) : std::string();
}

McpServer::Result McpServer::answer_request(rpc::Message const& message) {
    if (message.method == "initialize") return initialize(json::View(message.params));
    if (message.method == "ping") return Json::trusted("{}");
    if (message.method == "tools/list") return list_tools();
    return std::unexpected(rpc::Fault{.code = rpc::code::method_not_found,
                                      .message = "unknown method: " + message.method});
}

McpServer::Result McpServer::initialize(json::View params) {
    auto const wanted = params["protocolVersion"].string();
    if (!wanted) return bad_params("protocolVersion is missing");
    bool const known = std::ranges::find(mcp_versions, *wanted) != mcp_versions.end();
    json::Writer out;
    out.begin_object().member("protocolVersion",
                              known ? *wanted : std::string(mcp_versions.front()));
    out.key("capabilities").begin_object().key("tools").begin_object().end_object().end_object();
    out.key("serverInfo").begin_object().member("name", "dormouse").member("title", "Dormouse");
    out.member("version", settings_.version).end_object();
    return out.member("instructions", mcp_instructions).end_object().json();
}

McpServer::Result McpServer::list_tools() {
    json::Writer out;
    out.begin_object().key("tools").begin_array();
    if (auto const read = read_tools(out); !read) return std::unexpected(fault_of(read.error()));
    for (McpTool const& tool : own_mcp_tools()) {
        out.begin_object().member("name", tool.name).member("description", tool.description);
        out.member_raw("inputSchema", tool.schema).end_object();
    }
    return out.end_array().end_object().json();
}

// Reads the tools of the session's agent, and adds asking a person, which every session has.
Outcome<void> McpServer::read_tools(json::Writer& out) {
    auto const session = client_.get("/api/sessions/" + percent_encode(settings_.session));
    if (!session) return std::unexpected(session.error());
    auto const agent = json::View(session->body)["agentID"].string_or("");
    auto const list = client_.get("/api/tools");
    if (!list) return std::unexpected(list.error());
    tools_.clear();
    read_ = true;
    auto const offer = [&](std::string const& tool, std::string_view about, json::View schema) {
        auto const name = mcp_name(tool);
        auto const keyed = with_key(schema);
        if (!tools_.emplace(name, Tool{tool, keyed.has_value()}).second) return;
        out.begin_object().member("name", name).member("description", about);
        out.member_raw("inputSchema", keyed ? keyed->text() : schema.raw()).end_object();
    };
    json::View(list->body)["items"].elements([&](json::View tool) {
        auto const name = tool["name"].string_or("");
        bool its = false;
        tool["agents"].elements([&](json::View each) { its = its || each.string_or("") == agent; });
        if (!its || is_own_mcp_tool(name) || tool["inputSchema"].is_null()) return;
        offer(name, tool["description"].string_or(""), tool["inputSchema"]);
    });
    offer("ask_human", "Asks a person; the answer may come days later, as a message.",
          json::View(R"({"type":"object","properties":{"question":{"type":"string"}},)"
                     R"("required":["question"],"additionalProperties":false})"));
    return {};
}

std::optional<McpServer::Result> McpServer::call_tool(Json const& id, json::View params) {
    auto const name = params["name"].string();
    auto const given = params["arguments"];
    bool const object = !given.exists() || given.kind() == json::Kind::object;
    if (!name || !object)
        return bad_params("tools/call must have a name and arguments (an object)");
    json::View const arguments = given.exists() ? given : json::View("{}");
    if (!read_) {
        json::Writer unused;
        unused.begin_array();
        if (auto const read = read_tools(unused); !read)
            return tool_result(std::unexpected(read.error()));
    }
    if (auto const found = tools_.find(*name); found != tools_.end())
        return tool_result(call_durable(found->second, arguments));
    auto const own = std::ranges::find(own_mcp_tools(), *name, &McpTool::name);
    if (own == own_mcp_tools().end()) return bad_params("unknown tool " + *name);
    if (auto const wrong = wrong_arguments(*own, arguments); !wrong.empty())
        return tool_result(failure(status::usage, wrong));
    auto result = call_own(*name, arguments);
    bool const waits = arguments["block"].boolean_or(false);
    if (!result || !waits) return tool_result(result);
    auto const time = std::chrono::milliseconds(arguments["timeout"].integer_or(60'000));
    waiting_.push_back({.id = id,
                        .task = arguments["task_id"].string_or(""),
                        .until = std::chrono::steady_clock::now() + time});
    return std::nullopt;
}

McpServer::ToolText McpServer::call_own(std::string_view name, json::View arguments) {
    if (name == "background_task") return start_task(arguments);
    if (name == "background_output") return task_output(arguments["task_id"].string_or(""));
    if (name == "background_resume") return resume_task(arguments);
    if (name == "background_cancel") return cancel_tasks(arguments);
    if (name == "background_clear") return clear_tasks();
    if (name == "background_list") return list_tasks(arguments);
    if (name == "inbox") return inbox(arguments);
    if (name == "mail_status") return mail_status(arguments);
    if (name == "report_progress") return report_progress(arguments);
    if (name == "session_history") return history(arguments);
    return broadcast(arguments);
}

McpServer::ToolText McpServer::call_durable(Tool const& tool, json::View arguments) {
    json::Writer body;
    body.begin_object().member("tool", tool.name);
    auto const key = tool.keyed ? arguments["key"].string() : std::nullopt;
    Json const input = tool.keyed ? without_key(arguments) : arguments.copy();
    body.member("arguments", input);
    if (key) body.member("key", *key);
    auto const reply = client_.post_patiently(
        "/api/sessions/" + percent_encode(settings_.session) + "/calls", body.end_object().json());
    if (!reply) return std::unexpected(reply.error());
    json::View const call(reply->body);
    std::string const what =
        tool.name + " " + std::string(input.text()) + " (" + call["taskID"].string_or("") + ")";
    bool const again = call["duplicate"].boolean_or(false);
    return (again ? "This call is open already: " : "Started: ") + what +
           ". Its outcome will come as a later message in this session, with the tool and its "
           "arguments. Do not call it again for that, and do not wait: continue with something "
           "else, or end your turn.";
}

McpServer::ToolText McpServer::start_task(json::View arguments) {
    json::Writer body;
    body.begin_object().member("agentID", arguments["agent"].string_or(""));
    body.member("prompt", arguments["prompt"].string_or(""));
    if (arguments["fork"].boolean_or(false)) body.member("fork", true);
    body.member("description", arguments["description"].string_or("")).end_object();
    auto const reply = client_.post_patiently(
        "/api/sessions/" + percent_encode(settings_.session) + "/tasks", body.json());
    if (!reply) return std::unexpected(reply.error());
    return "Started task " + json::View(reply->body)["taskID"].string_or("") +
           ". You will be notified when it has ended.";
}

McpServer::ToolText McpServer::history(json::View arguments) {
    auto const page = arguments["page"].string();
    auto const reply =
        client_.get("/api/sessions/" + percent_encode(settings_.session) + "/messages?limit=20" +
                    (page ? "&cursor=" + percent_encode(*page) : ""));
    if (!reply) return std::unexpected(reply.error());
    return history_words(json::View(reply->body));
}

McpServer::ToolText McpServer::task_output(std::string const& task) {
    auto const reply = client_.get(task_path(task, "/output"));
    if (!reply) return std::unexpected(reply.error());
    return task_words(json::View(reply->body));
}

McpServer::ToolText McpServer::resume_task(json::View arguments) {
    json::Writer body;
    body.begin_object().member("message", arguments["message"].string_or("")).end_object();
    auto const task = arguments["task_id"].string_or("");
    auto const reply = client_.post_patiently(task_path(task, "/resume"), body.json());
    if (!reply) return std::unexpected(reply.error());
    return "Task " + task + " is resumed. You will be notified when it has ended.";
}

Outcome<Json> McpServer::tasks() {
    auto reply = client_.get("/api/sessions/" + percent_encode(settings_.session) + "/tasks");
    if (!reply) return std::unexpected(reply.error());
    return reply->body;
}

McpServer::ToolText McpServer::cancel_tasks(json::View arguments) {
    auto const task = arguments["task_id"].string_or("");
    bool const all = arguments["all"].boolean_or(false);
    if (all == !task.empty()) return failure(status::usage, "Give either task_id or all: true");
    std::vector<std::string> wanted{task};
    if (all) {
        auto const list = tasks();
        if (!list) return std::unexpected(list.error());
        wanted.clear();
        json::View(*list)["items"].elements([&](json::View each) {
            if (task_runs(each)) wanted.push_back(each["taskID"].string_or(""));
        });
    }
    for (std::string const& each : wanted) {
        auto const reply = client_.post(task_path(each, "/cancel"), Json::trusted("{}"));
        if (!reply) return std::unexpected(reply.error());
    }
    return all ? "Tasks cancelled: " + std::to_string(wanted.size())
               : "Task " + task + " is cancelled.";
}

// Open calls are not tasks of an agent, so they stay.
McpServer::ToolText McpServer::clear_tasks() {
    auto const list = tasks();
    if (!list) return std::unexpected(list.error());
    std::vector<std::string> wanted;
    json::View(*list)["items"].elements([&](json::View each) {
        if (!each["agentID"].string_or("").starts_with("calls:"))
            wanted.push_back(each["taskID"].string_or(""));
    });
    for (std::string const& each : wanted) {
        if (auto const gone = client_.remove(task_path(each, "")); !gone)
            return std::unexpected(gone.error());
    }
    return "Tasks cleared: " + std::to_string(wanted.size());
}

McpServer::ToolText McpServer::list_tasks(json::View arguments) {
    auto const list = tasks();
    if (!list) return std::unexpected(list.error());
    auto const only = arguments["status"].string();
    json::Writer out;
    out.begin_array();
    json::View(*list)["items"].elements([&](json::View task) {
        if (only && task["status"].string_or("") != *only) return;
        out.begin_object();
        for (auto const* const name :
             {"taskID", "description", "agentID", "status", "resumeCount", "progress"})
            out.member_raw(name, task[name].raw());
        out.end_object();
    });
    return out.end_array().take();
}

McpServer::ToolText McpServer::broadcast(json::View arguments) {
    json::Writer body;
    body.begin_object().member("from", settings_.session);
    body.member("text", arguments["message"].string_or(""));
    if (auto const to = arguments["to"]; to.exists()) body.member_raw("to", to.raw());
    if (auto const resume = arguments["resume"].boolean()) body.member("resume", *resume);
    if (auto const ttl = arguments["ttl"].integer()) body.member("ttl", *ttl);
    if (auto const reply_to = arguments["reply_to"].string()) body.member("replyTo", *reply_to);
    auto const reply = client_.post_patiently("/api/mail", body.end_object().json());
    if (!reply) return std::unexpected(reply.error());
    std::string out;
    json::View(reply->body)["receivers"].elements([&](json::View each) {
        out += (out.empty() ? "" : "\n") + each["to"].string_or(each["sessionID"].string_or("")) +
               ": " + each["status"].string_or("");
        if (auto const why = each["reason"].string()) out += ", " + *why;
    });
    auto const id = json::View(reply->body)["id"].string();
    if (id) out += "\n" + *id + ": mail_status reports its delivery later.";
    return out.empty() ? "No session has an alias." : out;
}

// Lists the newest mail last.
McpServer::ToolText McpServer::inbox(json::View arguments) {
    std::string target = "/api/sessions/" + percent_encode(settings_.session) + "/inbox?limit=50";
    if (auto const after = arguments["after"].integer())
        target += "&after=" + std::to_string(*after);
    if (auto const only = arguments["status"].string())
        target += "&status=" + percent_encode(*only);
    auto const reply = client_.get(target);
    if (!reply) return std::unexpected(reply.error());
    std::string out;
    json::View const list(reply->body);
    list["items"].elements([&](json::View mail) {
        auto const from = mail["from"];
        out += mcp_words(mail["number"]) + ". " + mail["id"].string_or("") + " from " +
               from["alias"].string_or(from["sessionID"].string_or("a person")) + " (" +
               mail["status"].string_or("") + "): " + mail["text"].string_or("") + "\n";
    });
    if (auto const next = list["next"].integer())
        out += "There is more: after " + std::to_string(*next);
    return out.empty() ? "There is no mail." : out;
}

McpServer::ToolText McpServer::mail_status(json::View arguments) {
    auto const reply =
        client_.get("/api/mail/" + percent_encode(arguments["mail_id"].string_or("")));
    if (!reply) return std::unexpected(reply.error());
    std::string out;
    json::View(reply->body)["receivers"].elements([&](json::View fate) {
        out += (out.empty() ? "" : "\n") +
               fate["alias"].string_or(fate["sessionID"].string_or("")) + ": " +
               fate["status"].string_or("");
        if (auto const why = fate["reason"].string()) out += ", " + *why;
    });
    return out;
}

McpServer::ToolText McpServer::report_progress(json::View arguments) {
    json::Writer body;
    body.begin_object().member("text", arguments["text"].string_or("")).end_object();
    auto const reply =
        client_.post("/api/sessions/" + percent_encode(settings_.session) + "/report", body.json());
    if (!reply) return std::unexpected(reply.error());
    return "Progress reported.";
}

// Asks about the oldest one for a second at most, so that other messages are not delayed.
void McpServer::check_waiting() {
    auto const& first = waiting_.front();
    auto const reply = client_.get(task_path(first.task, "/output?wait=1"));
    bool const away = !reply && is_away(reply.error());
    bool const late = std::chrono::steady_clock::now() >= first.until;
    if (away) std::this_thread::sleep_for(std::chrono::seconds(1));
    if (!late && (away || (reply && task_runs(json::View(reply->body))))) {
        std::ranges::rotate(waiting_, waiting_.begin() + 1);
        return;
    }
    auto const result = reply ? ToolText(task_words(json::View(reply->body)))
                              : ToolText(std::unexpected(reply.error()));
    stdio_.write(rpc::response(first.id, tool_result(result)));
    waiting_.erase(waiting_.begin());
}

}  // namespace dormouse::mcp
