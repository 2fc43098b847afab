#include "acp/v1.h"

#include "acp/quirks.h"
#include "acp/trace_meta.h"
#include "base/text/chars.h"
#include "base/text/cut.h"
#include "base/text/iso_time.h"
#include "base/text/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

// Limits of what an agent reports, because it is kept, listed and counted.
constexpr std::size_t id_bytes_max = 1'024;
constexpr std::size_t kind_bytes_max = 64;
constexpr std::size_t title_bytes_max = 16'384;
constexpr std::int64_t tokens_max = 1'000'000'000'000;  // of one prompt
constexpr int code_login_required = -32000;

// Returns "" if there is no id or it is too long to keep.
std::string read_id(json::View id) {
    std::string text = id.string_or("");
    return text.size() <= id_bytes_max ? text : "";
}

// Returns the kind in the form that gates use: one word in lower case.
std::string read_kind(std::string const& kind) {
    std::string out = lower_case(kind);
    bool const is_word = !out.empty() && out.size() <= kind_bytes_max && is_made_of(out, "_-");
    return is_word ? out : "other";
}

std::string read_title(std::string const& title) {
    return cut_with_mark(title, title_bytes_max, cut_note);
}

bool offers(json::View capability) { return capability.exists() && !capability.is_null(); }

bool holds_one_of(std::string const& text, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(
        words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

// Agents have many texts for "I do not know this session". For a prompt the list is narrower,
// because an agent also refuses a prompt if a model or a service is not found.
bool says_unknown(std::string const& all, bool of_prompt) {
    if (of_prompt)
        return holds_one_of(lower_case(all), {"session not found", "invalid session",
                                              "unknown session", "no such session"});
    return holds_one_of(all, {"not found", "Invalid session", "No previous session",
                              "\"service\":\"session\"", "no such session"});
}

Refusal refusal_of(rpc::Fault fault, bool of_prompt = false) {
    using enum Refusal::Why;
    Refusal out{other, std::move(fault.message),
                fault.data.is_null() ? std::string() : std::string(fault.data.text())};
    bool const lost =
        fault.code == code_not_found || says_unknown(out.message + " " + out.data, of_prompt);
    if (fault.code == rpc::code::closed) {
        out.why = gone;
    } else if (fault.code == code_login_required) {
        out.why = login;
    } else if (lost) {
        out.why = unknown;
    }
    return out;
}

// Returns a callback that passes `read` of the result to `then`.
template <class T> rpc::Peer::Done reading(Dialect::Then<T> then, auto const& read) {
    return [then = std::move(then), read](rpc::Peer::Answer answer) mutable {
        if (!answer) return then(std::unexpected(refusal_of(std::move(answer.error()))));
        then(read(json::View(*answer)));
    };
}

Json session_member(std::string const& session) {
    json::Writer out;
    return out.begin_object().member("sessionId", session).end_object().json();
}

Hello read_hello(json::View result) {
    Hello out;
    json::View const version = result["protocolVersion"];
    if (version.integer() != 1) {
        out.other_version = version.exists() ? std::string(version.raw()) : "unknown";
        return out;
    }
    json::View const can = result["agentCapabilities"];
    json::View const sessions = can["sessionCapabilities"];
    out.can.load = can["loadSession"].boolean_or(false);
    out.can.resume = offers(sessions["resume"]);
    out.can.list = offers(sessions["list"]);
    out.can.close = offers(sessions["close"]);
    out.can.remove = offers(sessions["delete"]);
    out.can.images = can["promptCapabilities"]["image"].boolean_or(false);
    out.name = result["agentInfo"]["name"].string_or("");
    out.version = result["agentInfo"]["version"].string_or("");
    result["authMethods"].elements([&](json::View method) {
        out.logins.push_back({method["id"].string_or("?"),
                              method["description"].string_or(method["name"].string_or(""))});
    });
    return out;
}

void add_choice(std::vector<std::string>& to, json::View value) {
    if (value.exists()) to.push_back(value.string_or(""));
}

Option read_option(json::View option) {
    Option out{option["id"].string_or(""), {}, {}};
    json::View const value = option["currentValue"];
    if (value.exists()) out.value = value.copy();
    option["options"].elements([&](json::View one) {
        add_choice(out.choice, one["value"]);
        one["options"].elements([&](json::View in) { add_choice(out.choice, in["value"]); });
    });
    return out;
}

Opened read_opened(std::string session, json::View result) {
    Opened out{std::move(session)};
    out.mode = result["modes"]["currentModeId"].string_or("");
    result["modes"]["availableModes"].elements(
        [&](json::View mode) { add_choice(out.modes, mode["id"]); });
    result["configOptions"].elements(
        [&](json::View option) { out.options.push_back(read_option(option)); });
    return out;
}

Listed read_list(json::View result) {
    Listed out;
    result["sessions"].elements([&](json::View one) {
        out.sessions.push_back({one["sessionId"].string_or(""), one["cwd"].string_or(""),
                                parse_iso_time(one["updatedAt"].string_or(""))});
    });
    out.next = result["nextCursor"].string_or("");
    return out;
}

void write_server(json::Writer& out, McpServer const& server) {
    out.begin_object().member("name", server.name).member("command", server.command);
    out.key("args").begin_array();
    for (std::string const& argument : server.args) out.value(argument);
    out.end_array().key("env").begin_array();
    for (auto const& [name, value] : server.env)
        out.begin_object().member("name", name).member("value", value).end_object();
    out.end_array().end_object();
}

// `session` is empty for a new session.
Json place_of(std::string const& session, Place const& place) {
    json::Writer out;
    out.begin_object();
    if (!session.empty()) out.member("sessionId", session);
    out.member("cwd", place.folder).key("mcpServers").begin_array();
    for (McpServer const& server : place.servers) write_server(out, server);
    return out.end_array().end_object().json();
}

void write_block(json::Writer& out, Block const& block) {
    out.begin_object();
    if (!block.bytes) {
        out.member("type", "text").member("text", block.text).end_object();
        return;
    }
    out.member("type", "image").member("mimeType", block.mime);
    auto const* const data = reinterpret_cast<std::uint8_t const*>(block.bytes->data());
    out.member("data", base64({data, block.bytes->size()})).end_object();
}

FinishReason finish_of(std::string const& reason) {
    if (reason == "max_tokens") return FinishReason::length;
    if (reason == "max_turn_requests") return FinishReason::step_limit;
    if (reason == "refusal") return FinishReason::refusal;
    if (reason == "cancelled") return FinishReason::cancelled;
    return FinishReason::stop;
}

TurnEnd read_end(json::View result) {
    json::View const usage = result["usage"];
    auto const tokens = [&](std::string_view of) {
        return std::clamp<std::int64_t>(usage[of].integer_or(0), 0, tokens_max);
    };
    return {finish_of(result["stopReason"].string_or("end_turn")),
            {tokens("inputTokens"), tokens("outputTokens"), tokens("cachedReadTokens"),
             tokens("thoughtTokens")}};
}

// Returns the text of "content": "hi" for {"type":"text","text":"hi"}. Other types are named:
// "[image]".
std::string words_in(json::View content) {
    std::string const type = content["type"].string_or("text");
    if (type == "text") return content["text"].string_or("");
    if (type == "resource_link") return "[" + content["uri"].string_or("a link") + "]";
    return "[" + type + "]";
}

// Returns the texts of a tool call's content, and the names of other content.
std::string output_of(json::View content) {
    std::string out;
    content.elements([&](json::View item) {
        std::string const type = item["type"].string_or("");
        std::string piece;
        if (type == "content") piece = words_in(item["content"]);
        if (type == "diff") piece = "[changed " + item["path"].string_or("a file") + "]";
        if (type == "terminal") piece = "[a terminal]";
        if (!piece.empty()) out += (out.empty() ? "" : "\n") + piece;
    });
    return out;
}

bool is_empty(json::View value) {
    using enum json::Kind;
    if (!value.exists() || value.is_null()) return true;
    if (value.kind() == string) return value.string_or("").empty();
    return (value.kind() == object || value.kind() == array) && value.size() == 0;
}

// Returns the agent's own name of a tool. opencode writes it as the title of a call that waits for
// its input; a title with input or content describes the call.
std::optional<std::string> tool_name(json::View update) {
    constexpr std::size_t name_bytes_max = 128;
    json::View const input = update["rawInput"];
    bool const waits = update["sessionUpdate"].string_or("") == "tool_call" &&
                       update["status"].string_or("") == "pending" && input.exists() &&
                       !input.is_null() && is_empty(input) && is_empty(update["content"]);
    auto const is_word = [](std::string const& text) {
        return !text.empty() && text.size() <= name_bytes_max &&
               std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
    };
    for (std::string_view const at : tool_name_pointers) {
        if (auto name = update.at_pointer(at).string(); name && is_word(*name)) return name;
    }
    auto title = update["title"].string();
    if (waits && title && is_word(*title)) return title;
    return std::nullopt;
}

ToolChange tool_in(json::View update) {
    ToolChange out{read_id(update["toolCallId"])};
    out.name = tool_name(update);
    if (auto const status = update["status"].string()) out.status = parse<AgentToolStatus>(*status);
    if (auto title = update["title"].string()) out.title = read_title(*title);
    if (auto kind = update["kind"].string()) out.kind = read_kind(*kind);
    if (offers(update["rawInput"])) out.input = update["rawInput"].copy();
    if (offers(update["rawOutput"])) {
        out.output = update["rawOutput"].copy();
    } else if (std::string const text = output_of(update["content"]); !text.empty()) {
        out.output = Json::trusted(json::quote(text));
    }
    json::View const places = update["locations"];
    if (places.exists() && places.size() > 0) out.places = places.copy();
    return out;
}

// Returns the input without the ids of this call, because the same call has other ids after a
// restart.
Json without_names(json::View input, std::string const& call) {
    bool const named = input.kind() == json::Kind::object && !call.empty() &&
                       input[call_id_member].string_or("") == call;
    if (!named) return json::compact(input.copy());
    json::Writer out;
    out.begin_object();
    input.members([&](std::string_view name, json::View value) {
        bool const passing = std::ranges::find(passing_input_members, name) !=
                             std::ranges::end(passing_input_members);
        if (!passing) out.member(name, json::compact(value.copy()));
    });
    return out.end_object().json();
}

// Gemini sends no input, and opencode sometimes an empty one: people then decide by what the
// request shows. A title of one word names the tool and not what the call does.
void read_input(json::View call, Question& question) {
    if (!is_empty(call["rawInput"])) {
        question.input = without_names(call["rawInput"], question.call);
        return;
    }
    bool const shows = !is_empty(call["content"]) || !is_empty(call["locations"]);
    question.vague = !shows && question.title.find_first_of(" \n\t") == std::string::npos;
    if (!shows && question.title.empty()) return;
    json::Writer out;
    out.begin_object();
    for (std::string_view const name : {"kind", "title", "content", "locations"}) {
        if (!is_empty(call[name])) out.member(name, json::compact(call[name].copy()));
    }
    question.input = out.end_object().json();
}

// Some agents list their mode among their options.
Update mode_among(json::View options) {
    std::string mode;
    options.elements([&](json::View option) {
        if (option["id"].string_or("") == "mode") mode = option["currentValue"].string_or("");
    });
    if (mode.empty()) return OtherUpdate{};
    return ModeChange{std::move(mode)};
}

bool is_name(std::string_view text) { return !text.empty() && is_made_of(text, "_-"); }

std::string around(McpToolForm const& form, std::string const& server) {
    return std::string(form.before_server).append(server).append(form.after_server);
}

// Returns the name of a tool that certainly belongs to one of our own servers, else "". Only the
// agent itself can write the name, or the title together with the option: the model writes other
// titles.
std::string own_tool(json::View call, json::View options, std::vector<std::string> const& servers) {
    std::string title = call["title"].string_or("");
    bool of_mcp = false;
    options.elements([&](json::View option) {
        of_mcp = of_mcp || option["optionId"].string_or("") == mcp_option_id;
    });
    for (std::string const& server : servers) {
        std::string const before = around(mcp_tool_name, server);
        for (std::string_view const at : tool_name_pointers) {
            std::string const name = call.at_pointer(at).string_or("");
            bool const ours = name.starts_with(before) && name.size() > before.size();
            if (ours && is_name(name)) return name;
        }
        std::string const after = around(mcp_tool_title, server);
        bool const ends = of_mcp && title.ends_with(after);
        if (ends && is_name(title.substr(0, title.size() - after.size()))) return title;
    }
    return "";
}

// Chooses an option by its kind, because ids differ by product. Prefers "once" to "always".
std::optional<json::View> chosen(json::View options, bool allowed) {
    std::optional<json::View> once, always;
    options.elements([&](json::View option) {
        std::string const kind = option["kind"].string_or("");
        if (option["optionId"].string_or("").empty()) return;
        if (kind == (allowed ? "allow_once" : "reject_once") && !once) once = option;
        if (kind == (allowed ? "allow_always" : "reject_always") && !always) always = option;
    });
    return once ? once : always;
}

// A terminal's id does not show what it runs, and may belong to another terminal after a restart.
bool shows_terminal(json::View content) {
    bool found = false;
    content.elements(
        [&](json::View item) { found = found || item["type"].string_or("") == "terminal"; });
    return found;
}

std::string digest_of(Json const& value) { return digest_text(sha256(json::canonical(value))); }

// Returns what an approval covers: all members of the request, also unknown ones, but without ids
// and states, which differ when the agent asks again; the option that "yes" chooses; and what a
// person sees, with the member names of UpdateCoalescer::reported_of. Values are digests, because
// they may be long.
Json shown_in(json::View params, Question const& question) {
    constexpr std::string_view passing[] = {"sessionId", "toolCall", "toolCallId", "options",
                                            "status",    "rawInput", "rawOutput",  "_meta"};
    json::View const call = params["toolCall"];
    json::Writer out;
    auto const write = [&](std::string_view name, json::View value) {
        if (std::ranges::find(passing, name) == std::end(passing))
            out.member(name, digest_of(value.copy()));
    };
    out.begin_object().key("call").begin_object();
    call.members(write);
    out.end_object().key("beside").begin_object();
    params.members(write);
    out.end_object();
    if (auto const option = chosen(params["options"], true)) out.member("allows", option->copy());
    json::View const named = call.at_pointer(claude_tool_name);
    if (!is_empty(named))
        out.member(is_empty(call["name"]) ? "name" : "toolName", digest_of(named.copy()));
    for (std::string_view const name : {"name", "kind", "title", "locations"}) {
        if (!is_empty(call[name])) out.member(name, digest_of(call[name].copy()));
    }
    if (!is_empty(call["rawInput"])) out.member("input", digest_of(question.input));
    return out.end_object().json();
}

// A cost that is none, or not a plausible one, is not kept.
Update spent_in(json::View cost) {
    constexpr double unit = 1'000'000;
    constexpr double amount_max = 1'000'000'000;
    auto const amount = cost["amount"].number();
    std::string const currency = cost["currency"].string_or("");
    bool const named = currency.size() == 3 && std::ranges::all_of(currency, is_upper_letter);
    if (!amount || *amount < 0 || *amount > amount_max || !named) return OtherUpdate{};
    return Spent{{{currency, std::llround(*amount * unit)}}};
}

}  // namespace

Update update_in(json::View update) {
    std::string const kind = update["sessionUpdate"].string_or("");
    if (kind == "agent_message_chunk" || kind == "agent_thought_chunk")
        return AgentText{words_in(update["content"]), kind == "agent_thought_chunk",
                         update["messageId"].string_or("")};
    if (kind == "user_message_chunk") return UserText{update["content"]["text"].string_or("")};
    if (kind == "tool_call" || kind == "tool_call_update") return tool_in(update);
    if (kind == "session_info_update") return Title{update["title"].string_or("")};
    if (kind == "current_mode_update") return ModeChange{update["currentModeId"].string_or("")};
    if (kind == "usage_update") return spent_in(update["cost"]);
    if (kind == "config_option_update") return mode_among(update["configOptions"]);
    if (kind != "plan") return OtherUpdate{};
    json::View const entries = update["entries"];
    return Plan{entries.exists() ? entries.copy() : Json::trusted("[]")};
}

VersionOne::VersionOne(Settings const& settings, port::Processes& processes, Listener listener)
    : listener_(std::move(listener)),
      rpc_({[this](std::string const& line) { listener_.write(line); },
            [this](std::string const& method, Json const& id, Json const& params) {
                on_request(method, id, json::View(params));
            },
            [this](std::string const& method, Json const& params) {
                json::View const given(params);
                bool const ours = given["sessionId"].string_or("") == session_;
                if (method != "session/update" || !ours) return;
                listener_.on_update(update_in(given["update"]));
            }}),
      files_(settings, rpc_),
      terminals_(settings, processes, rpc_) {}

void VersionOne::close() {
    open_.clear();
    rpc_.close();
    files_.close();
    terminals_.close();
}

void VersionOne::ask(std::string_view method, Json const& params, Then<void> then) {
    rpc_.call(method, params, [then = std::move(then)](rpc::Peer::Answer answer) mutable {
        if (!answer) return then(std::unexpected(refusal_of(std::move(answer.error()))));
        then({});
    });
}

void VersionOne::greet(Then<Hello> then) {
    json::Writer out;
    out.begin_object().member("protocolVersion", 1).key("clientCapabilities").begin_object();
    files_.offer(out);
    terminals_.offer(out);
    out.end_object().key("clientInfo").begin_object();
    out.member("name", "dormouse").member("version", "0.1").end_object().end_object();
    rpc_.call("initialize", out.json(), reading<Hello>(std::move(then), read_hello));
}

void VersionOne::sign_in(std::string const& login, Then<void> then) {
    json::Writer out;
    ask("authenticate", out.begin_object().member("methodId", login).end_object().json(),
        std::move(then));
}

void VersionOne::settle_in(Place const& place) {
    folder_ = place.folder;
    servers_.clear();
    for (McpServer const& server : place.servers) servers_.push_back(server.name);
}

void VersionOne::open(Place const& place, Then<Opened> then) {
    session_.clear();
    settle_in(place);
    auto read = [this](json::View result) {
        session_ = read_id(result["sessionId"]);
        return read_opened(session_, result);
    };
    rpc_.call("session/new", place_of("", place), reading<Opened>(std::move(then), read));
}

void VersionOne::take_up(std::string const& session, Place const& place, bool with_past,
                         Then<Opened> then) {
    session_ = session;  // the agent may replay the past before it answers
    settle_in(place);
    auto read = [session](json::View result) { return read_opened(session, result); };
    rpc_.call(with_past ? "session/load" : "session/resume", place_of(session, place),
              reading<Opened>(std::move(then), read));
}

void VersionOne::list(std::string const& folder, std::string const& cursor, Then<Listed> then) {
    json::Writer out;
    out.begin_object().member("cwd", folder);
    if (!cursor.empty()) out.member("cursor", cursor);
    rpc_.call("session/list", out.end_object().json(), reading<Listed>(std::move(then), read_list));
}

void VersionOne::set_mode(std::string const& session, std::string const& mode, Then<void> then) {
    json::Writer out;
    out.begin_object().member("sessionId", session).member("modeId", mode);
    ask("session/set_mode", out.end_object().json(), std::move(then));
}

void VersionOne::set_option(std::string const& session, std::string const& option,
                            Json const& value, Then<void> then) {
    json::Writer out;
    out.begin_object().member("sessionId", session).member("configId", option);
    if (json::View(value).kind() == json::Kind::boolean) out.member("type", "boolean");
    out.member("value", value);
    ask("session/set_config_option", out.end_object().json(), std::move(then));
}

void VersionOne::prompt(std::string const& session, std::vector<Block> const& blocks,
                        session::TraceHeaders const& trace, Then<TurnEnd> then) {
    json::Writer out;
    out.begin_object().member("sessionId", session).key("prompt").begin_array();
    for (Block const& block : blocks) write_block(out, block);
    out.end_array();
    write_trace(out, trace);
    auto ended = [then = std::move(then)](rpc::Peer::Answer answer) mutable {
        if (!answer) return then(std::unexpected(refusal_of(std::move(answer.error()), true)));
        then(read_end(json::View(*answer)));
    };
    rpc_.call("session/prompt", out.end_object().json(), std::move(ended));
}

void VersionOne::cancel(std::string const& session) {
    rpc_.notify("session/cancel", session_member(session));
}

void VersionOne::close_session(std::string const& session, Then<void> then) {
    ask("session/close", session_member(session), std::move(then));
}

void VersionOne::remove_session(std::string const& session, Then<void> then) {
    ask("session/delete", session_member(session), std::move(then));
}

void VersionOne::on_request(std::string const& method, Json const& id, json::View params) {
    bool const ours = !session_.empty() && params["sessionId"].string_or("") == session_;
    if (method == "session/request_permission") {
        if (ours) return on_question(id, params);
        return respond({id, {}}, Decision::cancelled);
    }
    if (ours && files_.request(method, id, params, folder_)) return;
    if (ours && terminals_.request(method, id, params, folder_)) return;
    rpc_.refuse(id, rpc::code::method_not_found, "This client has no " + method + ".");
}

void VersionOne::on_question(Json const& id, json::View params) {
    json::View const call = params["toolCall"];
    Question out{.number = ++questions_,
                 .call = read_id(call["toolCallId"]),
                 .kind = offers(call["kind"]) ? read_kind(call["kind"].string_or("")) : "",
                 .title = call["title"].string_or("")};
    for (std::string_view const at : tool_name_pointers)
        out.names.push_back(call.at_pointer(at).string_or(""));
    out.names.push_back(call["title"].string_or(""));
    read_input(call, out);
    out.title = read_title(out.title);  // cut only now: the input has the whole title
    json::View const options = params["options"];
    out.own = own_tool(call, options, servers_);
    if (!shows_terminal(call["content"])) out.shown = shown_in(params, out);
    open_[out.number] = {id, options.exists() ? options.copy() : Json()};
    listener_.on_question(std::move(out));
}

void VersionOne::answer(std::uint64_t question, Decision decision) {
    if (auto const open = open_.extract(question)) respond(open.mapped(), decision);
}

void VersionOne::respond(Open const& open, Decision decision) {
    std::optional<json::View> option;
    if (decision != Decision::cancelled)
        option = chosen(json::View(open.options), decision == Decision::allowed);
    json::Writer out;
    out.begin_object().key("outcome").begin_object();
    if (!option) {
        out.member("outcome", "cancelled");
    } else {
        out.member("outcome", "selected").member("optionId", (*option)["optionId"].string_or(""));
    }
    rpc_.respond(open.id, out.end_object().end_object().json());
}

std::unique_ptr<Dialect> dialect_of(Settings const& settings, port::Processes& processes,
                                    Dialect::Listener listener) {
    if (settings.dialect) return settings.dialect(std::move(listener));
    return std::make_unique<VersionOne>(settings, processes, std::move(listener));
}

}  // namespace dormouse::acp
