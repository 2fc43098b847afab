// Renders the objects of the API (docs/reference/http.md).

#include "cli/render/render.h"
#include "cli/render/render_question.h"

#include "base/text/text.h"
#include "cli/client/saved/settings.h"
#include "cli/render/money.h"

#include <algorithm>

namespace dormouse::cli {
namespace {

constexpr std::size_t title_columns = 40;
constexpr std::size_t input_columns = 60;

std::string safe(json::View value) { return escape_for_terminal(plain(value)); }

// True if the last turn failed and the session has been idle since.
bool has_failed(json::View session) {
    return session["lastTurn"]["failed"].boolean_or(false) &&
           session["activity"]["type"].string_or("") == "idle";
}

// Indents all lines of `text` but the first.
std::string lines_of(json::View text, std::size_t indent) {
    std::string out;
    for (char const c : escape_for_terminal(plain(text), true)) {
        out += c;
        if (c == '\n') out.append(indent, ' ');
    }
    return out;
}

Paint paint_of(std::string_view word) {
    if (word == "waiting" || word == "waiting_async" || word == "paused") return Paint::yellow;
    if (word == "error" || word == "failed") return Paint::red;
    if (word == "expired" || word == "cancelled") return Paint::dim;
    return Paint::plain;
}

// "deploy {"target":"A"}"
std::string call_text(json::View call) {
    return plain(call["tool"]) + " " + shortened(plain(call["input"]), input_columns);
}

std::string tool_part_text(json::View part, Style style) {
    auto const state = part["state"];
    auto const status = state["status"].string_or("");
    auto out = "  " + style(Paint::cyan,
                            escape_for_terminal(plain(part["tool"]) + " " + plain(state["input"])));
    out += "  " + style(paint_of(status), escape_for_terminal(status));
    if (status == "waiting_async") out += " " + safe(state["pendingID"]);
    if (status == "completed") out += ": " + escape_for_terminal(output_words(state["output"]));
    if (status == "error") out += ": " + safe(state["error"]);
    out += "\n";
    if (auto const noise = state["metadata"]["stderr"].string())
        out += style(Paint::dim, "    stderr: " + lines_of(state["metadata"]["stderr"], 12)) + "\n";
    return out;
}

// "deploy, ask_human"
std::string words_of(json::View list) {
    std::string out;
    list.elements([&](json::View each) { out += (out.empty() ? "" : ", ") + plain(each); });
    return out.empty() ? "-" : out;
}

bool holds(json::View list, std::string_view word) {
    bool found = false;
    list.elements([&](json::View each) { found = found || each.string_or("") == word; });
    return found;
}

std::string latest_progress(json::View call) {
    std::string out;
    call["progress"].elements([&](json::View step) { out = plain(step["payload"]); });
    return shortened(out, input_columns);
}

std::string waits_for(json::View call) {
    auto const reason = call["reason"].string_or("");
    if (call["inDoubt"].boolean_or(false))
        return "may have run before a crash; its outcome is unknown";
    if (reason == "approval") return "waits for approval";
    if (reason == "user_input") return "waits for an answer";
    if (reason == "elicitation") return "waits for a form to be filled in";
    if (reason == "budget") return "waits for a decision";
    if (reason == "handoff") return "continues by itself";
    return "waits for its result";
}

std::string command(std::string const& verb, std::string const& id, std::string const& rest,
                    std::string const& flags) {
    return "  dormouse " + verb + " " + escape_for_terminal(shell_word(id)) +
           (rest.empty() ? "" : " " + rest) + flags + "\n";
}

}  // namespace

std::string output_words(json::View output) {
    auto const head = output["head"].string();
    auto const id = output["artifactID"].string();
    if (!head || !id || !output["truncated"].boolean_or(false)) return plain(output);
    return shortened(*head, input_columns) + " (" + plain(output["bytes"]) +
           " bytes; all of it: dormouse artifact " + shell_word(*id) + ")";
}

std::string activity_text(json::View activity) {
    auto type = activity["type"].string_or("");
    if (type == "busy") return "busy, step " + plain(activity["step"]);
    if (type == "retry") return "tries again: " + plain(activity["message"]);
    if (type != "waiting_async") return type;
    auto const count = activity["pendingIDs"].size();
    if (count == 0) return "waits for the gate " + words_of(activity["missingGates"]);
    return "waits for " + plain(activity["tool"]) +
           (count > 1 ? " and " + std::to_string(count - 1) + " more" : std::string());
}

std::string sessions_table(json::View items, Time now, Style style, std::size_t terminal,
                           std::size_t first) {
    std::vector<Column> columns;
    if (first > 0) columns.emplace_back("#");
    columns.insert(columns.end(), {{"SESSION", Narrow::id},
                                   {"AGENT", Narrow::words},
                                   "STATUS",
                                   {"ACTIVITY", Narrow::words},
                                   "CHANGED",
                                   {"TITLE", Narrow::words}});
    Table table(std::move(columns));
    items.elements([&](json::View s) {
        auto const title = s["title"].string_or(s["alias"].string_or(""));
        auto const activity = has_failed(s) ? "failed" : activity_text(s["activity"]);
        auto const type = has_failed(s) ? activity : s["activity"]["type"].string_or("");
        std::vector<std::string> cells;
        if (first > 0) cells.push_back(std::to_string(first++));
        cells.insert(cells.end(), {plain(s["id"]), plain(s["agentID"]), plain(s["status"]),
                                   activity, ago(s["time"]["updated"].integer_or(0), now),
                                   shortened(title, title_columns)});
        table.add(std::move(cells), paint_of(type));
    });
    return table.empty() ? "no sessions yet; start one with: dormouse prompt 'deploy A'\n"
                         : table.text(style, terminal);
}

std::string reason_word(json::View call) {
    if (call["inDoubt"].boolean_or(false)) return "in doubt";
    auto const reason = call["reason"].string_or("");
    return reason == "handoff" ? "timer" : reason;
}

std::string pending_table(json::View items, Time now, Style style, std::size_t terminal,
                          std::size_t first) {
    bool all_wait = true;
    items.elements(
        [&](json::View call) { all_wait = all_wait && call["status"].string_or("") == "waiting"; });
    std::vector<Column> columns;
    if (first > 0) columns.emplace_back("#");
    columns.insert(
        columns.end(),
        {{"PENDING", Narrow::id_end}, {"CALL", Narrow::last}, {"REASON", Narrow::words}});
    if (!all_wait) columns.emplace_back("STATUS");
    columns.emplace_back("SINCE");
    columns.emplace_back("DEADLINE", Narrow::words);
    Table table(std::move(columns));
    items.elements([&](json::View call) {
        auto const status = call["status"].string_or("");
        bool const open = status == "waiting" || status == "processing";
        std::vector<std::string> cells;
        if (first > 0) cells.push_back(std::to_string(first++));
        cells.insert(cells.end(), {plain(call["id"]), call_text(call), reason_word(call)});
        if (!all_wait) cells.push_back(status);
        cells.push_back(ago(call["time"]["created"].integer_or(0), now));
        cells.push_back(open ? ahead(call["timeout"].integer_or(0), now) : "-");
        table.add(std::move(cells), open ? Paint::plain : paint_of(status));
    });
    return table.empty() ? "nothing waits\n" : table.text(style, terminal);
}

std::string deliveries_table(json::View items, Time now, Style style, std::size_t terminal) {
    Table table({{"DELIVERY", Narrow::id},
                 "TYPE",
                 "STATE",
                 "TRIES",
                 {"TO", Narrow::words},
                 {"NEXT", Narrow::words},
                 {"LAST", Narrow::words}});
    items.elements([&](json::View one) {
        auto const state = one["state"].string_or("");
        bool const lost = state == "dead" || state == "disabled";
        table.add({plain(one["id"]), plain(one["type"]), state,
                   std::to_string(one["attempts"].integer_or(0)), plain(one["url"]),
                   state == "pending" ? ahead(one["nextAt"].integer_or(0), now) : "-",
                   one["lastError"].is_null() ? "-" : plain(one["lastError"])},
                  lost ? Paint::red : Paint::plain);
    });
    return table.empty() ? "nothing was sent\n" : table.text(style, terminal);
}

std::string audit_table(json::View items, Time now, Style style, std::size_t terminal) {
    Table table({"LINE",
                 "WHEN",
                 {"WHO", Narrow::words},
                 {"WHAT", Narrow::words},
                 {"SESSION", Narrow::id},
                 {"CALL", Narrow::id}});
    auto const or_dash = [](json::View value) { return value.is_null() ? "-" : plain(value); };
    items.elements([&](json::View one) {
        bool const changed = !one["verified"].boolean_or(true);
        table.add({plain(one["n"]) + (changed ? " CHANGED" : ""), ago(one["at"].integer_or(0), now),
                   one["by"].is_null() ? "the server" : plain(one["by"]), plain(one["type"]),
                   or_dash(one["sessionID"]), or_dash(one["pendingID"])},
                  changed ? Paint::red : Paint::plain);
    });
    return table.empty() ? "no line of the audit matches\n" : table.text(style, terminal);
}

std::string tool_arguments(json::View tool) {
    auto const schema = tool["inputSchema"];
    std::string out;
    schema["properties"].members([&](std::string_view name, json::View) {
        out += (out.empty() ? "" : ", ") + std::string(name);
        if (!holds(schema["required"], name)) out += "?";
    });
    return out.empty() ? "-" : out;
}

std::string agents_table(json::View items, Style style, std::size_t terminal) {
    Table table({{"AGENT", Narrow::words},
                 "KIND",
                 {"MODEL", Narrow::words},
                 {"STATE", Narrow::words},
                 {"TOOLS", Narrow::words}});
    items.elements([&](json::View agent) {
        bool const there = agent["available"].boolean_or(false);
        auto const reason = agent["reason"].string_or("not available");
        table.add({plain(agent["id"]), plain(agent["kind"]), plain(agent["model"]),
                   there ? "available" : reason, words_of(agent["tools"])},
                  there ? Paint::plain : Paint::red);
    });
    return table.empty() ? "no agents\n" : table.text(style, terminal);
}

std::string tasks_table(json::View items, Style style, std::size_t terminal) {
    Table table({"TASK",
                 {"STATUS", Narrow::words},
                 {"AGENT", Narrow::words},
                 {"SESSION", Narrow::id},
                 {"DESCRIPTION", Narrow::words}});
    items.elements([&](json::View task) {
        std::string status = plain(task["status"]);
        if (task["queued"].boolean_or(false)) status += ", waits for a place";
        bool const failed = !task["error"].is_null();
        table.add({plain(task["taskID"]), status, plain(task["agentID"]), plain(task["sessionID"]),
                   plain(task["description"])},
                  failed ? Paint::red : Paint::plain);
    });
    return table.empty() ? "no tasks\n" : table.text(style, terminal);
}

std::string tools_table(json::View items, Style style, std::size_t terminal) {
    Table table({"TOOL", {"TAKES", Narrow::words}, {"AGENTS", Narrow::words}});
    items.elements([&](json::View tool) {
        table.add({plain(tool["name"]), tool_arguments(tool), words_of(tool["agents"])});
    });
    return table.empty() ? "no tools\n" : table.text(style, terminal);
}

namespace {

// Who settled a call.
std::string settled_by(json::View receipt) {
    auto const by = receipt["by"];
    if (by["type"].string_or("") != "runtime") return safe(by["name"]);
    bool const expired = receipt["kind"].string_or("") == "expiry";
    return expired ? "the server, at its deadline" : "the server";
}

}  // namespace

std::string pending_line(json::View call, Time now, Style style) {
    auto status = call["status"].string_or("");
    auto const receipt = call["receipt"];
    bool const settled = receipt.exists() && !receipt.is_null();
    std::int64_t at = call["time"]["created"].integer_or(0);
    call["progress"].elements([&](json::View step) { at = step["at"].integer_or(at); });
    if (settled) at = receipt["at"].integer_or(at);
    auto about = reason_word(call) + ", deadline " + ahead(call["timeout"].integer_or(0), now);
    if (auto const count = call["progressCount"].integer_or(0); count > 0)
        about += ", progress " + latest_progress(call);
    if (settled) about = "by " + settled_by(receipt);
    auto const paint = paint_of(status);
    status.resize(std::max(status.size(), std::size_t{10}), ' ');
    return style(Paint::dim, clock_text(at)) + "  " + style(paint, escape_for_terminal(status)) +
           "  " + safe(call["id"]) + "  " + escape_for_terminal(call_text(call) + "  " + about) +
           "\n";
}

std::string session_text(json::View session, Time now, Style style) {
    auto out = style(Paint::bold, safe(session["id"])) + "  agent " + safe(session["agentID"]) +
               "  " + safe(session["status"]) + ", " +
               escape_for_terminal(activity_text(session["activity"])) + "\n";
    if (auto const title = session["title"].string())
        out += "title     " + escape_for_terminal(*title) + "\n";
    if (auto const alias = session["alias"].string())
        out += "alias     " + escape_for_terminal(*alias) + "\n";
    if (auto const node = session["node"].string())
        out += "server    " + escape_for_terminal(*node) + "\n";
    if (auto const from = session["forkedFrom"]; from.exists() && !from.is_null()) {
        out += "forked    " + safe(from) + "\n";
    }
    if (auto const error = session["error"]; error.exists() && !error.is_null()) {
        out += style(Paint::red,
                     "error     " + safe(error["message"]) + " (" + safe(error["code"]) + ")") +
               "\n";
    }
    if (has_failed(session)) {
        auto const error = session["lastTurn"]["error"];
        out += style(Paint::red, "failed    " + lines_of(error["message"], 10) + " (" +
                                     safe(error["code"]) + ")") +
               "\n          try again: dormouse retry " + safe(session["id"]) + "\n";
    }
    out += "created   " + ago(session["time"]["created"].integer_or(0), now) + "\n";
    out +=
        "events    " + safe(session["seq"]) + ", messages " + safe(session["messageCount"]) + "\n";
    if (auto const cost = cost_text(read_cost(session["usage"]["cost"])); !cost.empty())
        out += "cost      " + cost + "\n";
    session["activity"]["pendingIDs"].elements(
        [&](json::View id) { out += "waits     " + style(Paint::yellow, safe(id)) + "\n"; });
    return out;
}

namespace {

// "[image cat.png image/png, 68 bytes; dormouse artifact art_…]"
std::string file_words(json::View part) {
    std::string out = "[" + part["type"].string_or("");
    for (std::string_view const about : {"name", "mime", "url"}) {
        if (auto const text = part[about].string()) out += " " + escape_for_terminal(*text);
    }
    if (auto const id = part["artifactID"].string())
        out += ", " + plain(part["bytes"]) + " bytes; dormouse artifact " + shell_word(*id);
    return out + "]";
}

}  // namespace

std::string message_text(json::View message, Style style) {
    auto const role = message["role"].string_or("");
    auto out = style(role == "user" ? Paint::green : Paint::bold, escape_for_terminal(role)) + " " +
               style(Paint::dim, clock_text(message["time"]["created"].integer_or(0))) + "\n";
    message["parts"].elements([&](json::View part) {
        auto const type = part["type"].string_or("");
        if (type == "text") out += "  " + escape_for_terminal(plain(part["text"]), true) + "\n";
        if (type == "reasoning") {
            out += style(Paint::dim, "  " + escape_for_terminal(plain(part["text"]), true)) + "\n";
        }
        if (type == "tool") out += tool_part_text(part, style);
        if (type == "image" || type == "file") out += "  " + file_words(part) + "\n";
    });
    return out;
}

namespace {

// Describes what a person decided and why; empty if no decision was made.
std::string decision_text(json::View decision, Style style) {
    if (!decision["approved"].exists()) return {};
    bool const approved = decision["approved"].boolean_or(false);
    auto out =
        "decision  " + (approved ? style(Paint::green, "approved") : style(Paint::red, "denied"));
    if (auto const reason = decision["reason"].string_or(""); !reason.empty())
        out += ": " + escape_for_terminal(reason);
    out += "\n";
    for (auto const& [member, label] :
         {std::pair("arguments", "with      "), std::pair("content", "content   ")}) {
        auto const value = decision[member];
        if (value.exists() && !value.is_null()) out += label + safe(value) + "\n";
    }
    return out;
}

}  // namespace

std::string pending_text(json::View call, Time now, Style style) {
    auto const status = call["status"].string_or("");
    auto out = style(Paint::bold, safe(call["id"])) + "  " +
               style(paint_of(status), escape_for_terminal(status)) + "\n";
    out +=
        "call      " + escape_for_terminal(plain(call["tool"]) + " " + plain(call["input"])) + "\n";
    if (auto const first = call["modelInput"]; first.exists() && !first.is_null())
        out += "asked for " + escape_for_terminal(plain(call["tool"]) + " " + plain(first)) + "\n" +
               changes_text(first, call["input"], 10, style);
    out += "session   " + safe(call["sessionID"]) + "\n";
    out += "reason    " + escape_for_terminal(reason_word(call)) + "\n";
    if (call["message"].string())
        out += "asks      " + question_text(call["message"], 10, style) + "\n";
    out += "since     " + ago(call["time"]["created"].integer_or(0), now) + "\n";
    if (call["receipt"].is_null()) {
        out += "deadline  " + ahead(call["timeout"].integer_or(0), now) + "\n";
        if (auto const next = call["answer"]["escalateTo"]; next.size() > 0)
            out += "then      " + escape_for_terminal(words_of(next)) + " is asked\n";
    }
    if (auto const digest = call["inputDigest"].string())
        out += "input     " + escape_for_terminal(*digest) + "\n";
    if (auto const result = call["result"]; result.exists() && !result.is_null()) {
        out += "result    " + safe(result["output"]) + "\n";
    }
    if (auto const error = call["error"].string())
        out += (call["status"].string_or("") == "expired" ? "expired   " : "error     ") +
               escape_for_terminal(*error) + "\n";
    if (auto const reason = call["cancelReason"].string())
        out += "cancelled " + escape_for_terminal(*reason) + "\n";
    out += decision_text(call["decision"], style);
    if (auto const receipt = call["receipt"]; receipt.exists() && !receipt.is_null()) {
        bool const by_server = receipt["by"]["type"].string_or("") == "runtime";
        out += "settled   " + clock_text(receipt["at"].integer_or(0)) + " by " +
               (by_server ? "" : safe(receipt["by"]["type"]) + " ") + settled_by(receipt) + ", " +
               safe(receipt["digest"]) + "\n";
        auto const used = receipt["consumed"];
        out += used.is_null() || !used.exists()
                   ? "used      not yet\n"
                   : "used      by " + safe(used["turnID"]) + ", step " + safe(used["step"]) + "\n";
    }
    return out;
}

namespace {

// Returns a hint on the form of an answer to the question.
std::string answer_hint(json::View call) {
    json::View const schema = call["schema"];
    bool const typed = schema.exists() && !schema.is_null();
    std::string out = typed ? "--json-value '{…}'" : "'ANSWER'";
    if (!typed && call["form"]["choices"].size() > 0) out = "NUMBER";
    if (call["files"].integer_or(0) > 0) out += " --file FILE";
    return out;
}

}  // namespace

std::string how_to_settle(json::View call, Time now, std::string const& flags, Style style) {
    auto const id = call["id"].string_or("");
    auto const reason = call["reason"].string_or("");
    auto const deadline = call["timeout"].integer_or(0);
    auto out = style(Paint::yellow, "sleeps: ") + escape_for_terminal(call_text(call)) + " " +
               waits_for(call);
    if (deadline != 0) out += ", deadline " + ahead(deadline, now);
    out += "\n";
    if (call["message"].string())
        out += "  asks: " + question_text(call["message"], 8, style) + "\n";
    std::size_t number = 0;
    call["form"]["choices"].elements([&](json::View choice) {
        out += "    " + std::to_string(++number) + ". " + safe(choice["title"]);
        if (choice["description"].string()) out += ": " + safe(choice["description"]);
        out += "\n";
    });
    if (reason == "approval") {
        out += command("approve", id, "", flags) + command("deny", id, "--reason 'WHY'", flags);
    } else if (reason == "budget") {
        auto const raise = call["form"]["properties"]["raise"]["default"];
        out +=
            command("approve", id, "", flags) +
            command("approve", id,
                    "--content '{\"raise\":" + escape_for_terminal(std::string(raise.raw())) + "}'",
                    flags) +
            command("deny", id, "", flags);
    } else if (reason == "elicitation") {
        out += command("approve", id, "--content '{…}'", flags) + command("deny", id, "", flags);
    } else if (reason == "user_input") {
        out += command("answer", id, answer_hint(call), flags);
    } else if (reason != "handoff") {
        out += command("result", id, "'TEXT'", flags) +
               command("error", id, "'WHAT WENT WRONG'", flags);
    }
    return out + command("cancel", id, "", flags);
}

}  // namespace dormouse::cli
