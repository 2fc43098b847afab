// The way of a driver from its program's first word to a session of the program's own.
#include "acp/driver.h"
#include "acp/prompt.h"

#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr std::size_t methods_told = 8;
constexpr std::size_t method_bytes_told = 200;
constexpr std::size_t choice_bytes_told = 500;

std::string version_of(json::View info) {
    std::string out = info["name"].string_or("");
    std::string const version = info["version"].string_or("");
    return version.empty() ? out : out + " " + version;
}

bool offers(json::View capability) { return capability.exists() && !capability.is_null(); }

void add_choice(std::string& to, json::View one) {
    if (!one.exists() || to.size() > choice_bytes_told) return;
    to += (to.empty() ? "" : ", ") + one.string_or("");
}

// What is set already is not set again.
void wish_for_mode(std::deque<Wish>& out, Settings const& settings, std::string const& session,
                   json::View modes) {
    if (settings.mode.empty() || modes["currentModeId"].string_or("") == settings.mode) return;
    Wish wish{"session/set_mode", {}, "mode \"" + settings.mode + "\"", {}};
    modes["availableModes"].elements([&](json::View mode) { add_choice(wish.choice, mode["id"]); });
    json::Writer params;
    params.begin_object().member("sessionId", session).member("modeId", settings.mode);
    wish.params = params.end_object().json();
    out.push_back(std::move(wish));
}

void wish_for_option(std::deque<Wish>& out, std::string const& session, std::string_view name,
                     json::View value, json::View known) {
    Wish wish{"session/set_config_option", {}, {}, {}};
    wish.what = "option " + std::string(name) + " = " + std::string(value.raw());
    bool is_set = false;
    known.elements([&](json::View option) {
        if (option["id"].string_or("") != name) return;
        is_set = option["currentValue"].exists() && option["currentValue"].raw() == value.raw();
        option["options"].elements([&](json::View one) {
            add_choice(wish.choice, one["value"]);
            one["options"].elements([&](json::View in) { add_choice(wish.choice, in["value"]); });
        });
    });
    if (is_set) return;
    json::Writer params;
    params.begin_object().member("sessionId", session).member("configId", name);
    if (value.kind() == json::Kind::boolean) params.member("type", "boolean");
    params.member_raw("value", value.raw());
    wish.params = params.end_object().json();
    out.push_back(std::move(wish));
}

std::deque<Wish> wishes_of(Settings const& settings, std::string const& session,
                           json::View result) {
    std::deque<Wish> out;
    wish_for_mode(out, settings, session, result["modes"]);
    json::View(settings.options).members([&](std::string_view name, json::View value) {
        wish_for_option(out, session, name, value, result["configOptions"]);
    });
    return out;
}

}  // namespace

void Driver::initialize() {
    phase_ = Phase::starting;
    json::Writer out;
    out.begin_object().member("protocolVersion", 1).key("clientCapabilities").begin_object();
    workplace_.offer(out);
    out.end_object().key("clientInfo").begin_object();
    out.member("name", "dormouse").member("version", "0.1").end_object().end_object();
    rpc_.call("initialize", out.json(), [this](RpcPeer::Answer answer) {
        if (!answer) return refuse(answer.error());
        initialized(json::View(*answer));
    });
}

void Driver::initialized(json::View result) {
    auto const version = result["protocolVersion"].integer();
    if (version != 1) {
        return fail(AgentFailure::How::refused, "agent_refused",
                    "The agent speaks version " + std::string(result["protocolVersion"].raw()) +
                        " of ACP, and this release version 1.");
    }
    json::View const can = result["agentCapabilities"];
    can_load_ = can["loadSession"].boolean_or(false);
    can_resume_ = offers(can["sessionCapabilities"]["resume"]);
    images_ = can["promptCapabilities"]["image"].boolean_or(false);
    program_ = version_of(result["agentInfo"]);
    bool const loses = settings_.never_load || program_.starts_with("gemini");
    can_load_ = can_load_ && !loses;
    sign_in_methods_ = result["authMethods"].exists() ? result["authMethods"].copy() : Json();
    told_.about({result["agentInfo"]["version"].string_or(""), can_load_, can_resume_});
    settings_.auth_method.empty() ? attach() : sign_in();
}

// By a way that needs no person here: what it shows and asks, nobody would see.
void Driver::sign_in() {
    std::string const& method = settings_.auth_method;
    json::Writer out;
    out.begin_object().member("methodId", method);
    rpc_.call("authenticate", out.end_object().json(), [this](RpcPeer::Answer answer) {
        if (answer) return attach();
        if (answer.error().code == code::closed) return;
        fail(AgentFailure::How::refused, "agent_login",
             "The agent did not take the login \"" + settings_.auth_method +
                 "\": " + without_secrets(answer.error().message) + "." + ways_to_sign_in());
    });
}

std::string Driver::ways_to_sign_in() const {
    std::string keys;
    std::string ways;
    for (std::string const& name : settings_.wants) keys += (keys.empty() ? "" : ", ") + name;
    std::size_t count = 0;
    json::View(sign_in_methods_).elements([&](json::View method) {
        std::string const about = method["description"].string_or(method["name"].string_or(""));
        if (++count <= methods_told)
            ways += (ways.empty() ? "" : "; ") + method["id"].string_or("?") +
                    (about.empty() ? "" : " (" + about.substr(0, method_bytes_told) + ")");
    });
    std::string out = keys.empty() ? "" : " Not passed to it: " + keys + ".";
    if (!ways.empty())
        out += " Its logins: " + ways +
               ". Sign in with its own program as the server's user, or name one that needs nobody "
               "in auth_method.";
    return out;
}

// A prompt that may have been delivered is looked for in a replay; else resuming is quicker.
void Driver::attach() {
    auto const to = goal();
    if (!to) {  // nobody wants it any more
        phase_ = Phase::ready;
        acp_session_.clear();
        return rest();
    }
    bool const looks =
        prompt_ && prompt_->request.program->again && !prompt_->request.program->turn.heard;
    phase_ = Phase::attaching;
    if (to->acp_session.empty()) return open_new(false);
    if (can_load_ && (looks || !can_resume_)) return take_up("session/load", "load");
    if (can_resume_) return take_up("session/resume", "resume");
    open_new(true);
}

std::optional<Driver::Goal> Driver::goal() const {
    if (prompt_) return Goal{prompt_->request.program->acp_session, prompt_->request.program->cwd};
    if (visits_.empty()) return std::nullopt;
    return Goal{visits_.front().ask.acp_session, visits_.front().ask.cwd};
}

Json Driver::session_params(std::string const& acp_session) {
    has_servers_ = false;
    json::Writer out;
    out.begin_object();
    if (!acp_session.empty()) out.member("sessionId", acp_session);
    out.member("cwd", cwd_).key("mcpServers").begin_array();
    if (settings_.mcp_servers) {
        for (McpServer const& server : settings_.mcp_servers(session_)) {
            has_servers_ = true;
            out.begin_object().member("name", server.name).member("command", server.command);
            out.key("args").begin_array();
            for (std::string const& argument : server.args) out.value(argument);
            out.end_array().key("env").begin_array();
            for (auto const& [name, value] : server.env)
                out.begin_object().member("name", name).member("value", value).end_object();
            out.end_array().end_object();
        }
    }
    return out.end_array().end_object().json();
}

// `told`: it had a session of its own, which is lost.
void Driver::open_new(bool told) {
    if (!prompt_ && (told || visits_.front().ask.has_past)) return lose_visitors();
    rpc_.call("session/new", session_params(""), [this, told](RpcPeer::Answer answer) {
        if (!answer) return refuse(answer.error());
        json::View const result(*answer);
        acp_session_ = result["sessionId"].string_or("");
        if (acp_session_.empty())
            return fail(AgentFailure::How::refused, "agent_refused",
                        "The agent answered session/new without a sessionId.");
        attached("new", told, result);
    });
}

void Driver::take_up(std::string const& method, std::string const& how) {
    std::string const known = goal()->acp_session;
    acp_session_ = known;
    replaying_ = how == "load";
    replay_.clear();
    rpc_.call(method, session_params(known), [this, how](RpcPeer::Answer answer) {
        replaying_ = false;
        if (answer) {
            replayed_ = how == "load";
            return attached(how, false, json::View(*answer));
        }
        acp_session_.clear();
        if (says_unknown(answer.error())) return open_new(true);
        refuse(answer.error());
    });
}

void Driver::attached(std::string how, bool told, json::View result) {
    how_ = std::move(how);
    told_lost_ = told;
    wishes_ = wishes_of(settings_, acp_session_, result);
    grant_wishes();
}

// One after the other; then it is ready.
void Driver::grant_wishes() {
    if (wishes_.empty() || !goal()) return ready();
    Wish const wish = std::move(wishes_.front());
    wishes_.pop_front();
    rpc_.call(wish.method, wish.params, [this, wish](RpcPeer::Answer answer) {
        if (answer) return grant_wishes();
        if (answer.error().code == code::closed) return;
        fail(AgentFailure::How::refused, "agent_refused",
             "The agent did not take " + wish.what + ": " +
                 without_secrets(answer.error().message) + "." +
                 (wish.choice.empty() ? "" : " It has: " + wish.choice + "."));
    });
}

void Driver::ready() {
    phase_ = Phase::ready;
    // What was typed while nobody read it, as when the server was killed.
    if (how_ != "new" && visits_.empty()) read_screen();
    bool const first = how_ == "new" && !prompt_ && !visits_.empty();
    if (first) visits_.front().ask.told(AgentAttach{0, 0, 0, acp_session_, how_, program_, false});
    let_in();
    ++turn_of_clock_;
    if (!prompt_) return limit_idle();  // no answer that something could still belong to
    AskModel const& ask = prompt_->request.ask;
    told_past_ = how_ == "new" && has_past(prompt_->request);
    bool const says = told_lost_ || told_past_;
    prompt_->done(AgentAttach{ask.turn, ask.step, ask.attempt, acp_session_, how_, program_, says});
    if (prompt_) send_prompt();
}

}  // namespace dormouse::acp
