#include "acp/client/client_terminals.h"

#include "acp/client/client_files.h"
#include "base/text/chars.h"
#include "base/text/utf8.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

namespace {

constexpr std::size_t variables_max = 256;

bool is_inside(std::string const& folder, std::string const& path) {
    return path == folder || folder == "/" || path.starts_with(folder + "/");
}

void write_end(json::Writer& out, port::ProcessEnd const& end) {
    using How = port::ProcessEnd::How;
    if (end.how == How::exited) {
        out.member("exitCode", end.status).member_null("signal");
    } else if (end.how == How::not_started) {
        out.member("exitCode", 127).member_null("signal");
    } else {
        out.member_null("exitCode").member("signal", std::to_string(end.status));
    }
}

Json no_result() { return Json::trusted("{}"); }

}  // namespace

void ClientTerminals::offer(json::Writer& out) const {
    out.member("terminal", settings_.terminals);
}

bool ClientTerminals::request(std::string const& method, Json const& id, json::View params,
                              std::string const& folder) {
    if (!method.starts_with("terminal/") || !settings_.terminals) return false;
    if (method == "terminal/create") {
        create(id, params, folder);
        return true;
    }
    std::string const name = params["terminalId"].string_or("");
    auto const found = terminals_.find(name);
    if (found == terminals_.end()) {
        rpc_.refuse(id, code_not_found, "terminal \"" + name + "\" not found");
    } else if (method == "terminal/output") {
        output(id, found->second);
    } else if (method == "terminal/wait_for_exit") {
        wait(id, found->second);
    } else if (method == "terminal/kill") {
        if (!found->second.end) processes_.kill(found->second.process);
        rpc_.respond(id, no_result());
    } else if (method == "terminal/release") {
        release(id, name);
    } else {
        return false;
    }
    return true;
}

// A command without arguments is a line for the shell: agents send what a model wrote like this.
Result<port::ProcessSpec> ClientTerminals::spec_of(json::View params,
                                                   std::string const& folder) const {
    port::ProcessSpec out;
    std::string const command = params["command"].string_or("");
    std::size_t size = command.size();
    std::vector<std::string> args;
    params["args"].elements([&](json::View arg) { args.push_back(arg.string_or("")); });
    for (std::string const& arg : args) size += arg.size();
    if (command.empty()) return fail(Code::bad_value, "command is missing.");
    if (size > command_bytes_max || args.size() > 4'096)
        return fail(Code::too_large, "The command is too long.");
    if (settings_.before) out.sandbox = settings_.before(folder);
    out.share = "terminals of agent " + settings_.agent;
    // Its input is empty, and stdout and stderr are one stream.
    out.argv.insert(out.argv.end(), {"/bin/sh", "-c", "exec </dev/null 2>&1\n"});
    out.argv.back() += args.empty() ? command : "exec \"$@\"";
    out.argv.insert(out.argv.end(), {"sh", command});
    out.argv.insert(out.argv.end(), args.begin(), args.end());
    out.environment = settings_.environment;
    std::string odd;
    params["env"].elements([&](json::View variable) {
        std::string const name = variable["name"].string_or("");
        std::string const value = variable["value"].string_or("");
        size += name.size() + value.size();
        if (!is_variable_name(name)) odd = "The name of a variable is invalid: \"" + name + "\".";
        set_variable(out.environment, name, value);
    });
    if (!odd.empty()) return fail(Code::bad_value, odd);
    auto const has_nul = [](std::string const& text) { return text.contains('\0'); };
    if (std::ranges::any_of(out.argv, has_nul) || std::ranges::any_of(out.environment, has_nul))
        return fail(Code::bad_value, "The command must not contain a NUL byte.");
    if (size > command_bytes_max || params["env"].size() > variables_max)
        return fail(Code::too_large, "The command's environment is too large.");
    auto const cwd = settings_.folder(params["cwd"].string_or(folder));
    if (!cwd) return std::unexpected(cwd.error());
    if (!is_inside(folder, *cwd))
        return fail(Code::bad_value, *cwd + " is outside of the session's folder, " + folder);
    out.cwd = *cwd;
    return out;
}

void ClientTerminals::create(Json const& id, json::View params, std::string const& folder) {
    if (terminals_.size() >= terminals_max)
        return refuse(
            rpc_, id,
            "There are " + std::to_string(terminals_max) + " terminals already; release one.");
    auto spec = spec_of(params, folder);
    if (!spec) return refuse(rpc_, id, spec.error());
    std::string const name = "term_" + std::to_string(++last_);
    std::int64_t const kept = params["outputByteLimit"].integer_or(output_bytes_max);
    Terminal terminal;
    terminal.output_max = static_cast<std::size_t>(
        std::clamp<std::int64_t>(kept, 0, static_cast<std::int64_t>(output_bytes_max)));
    spec->time_limit = Duration::max();
    spec->on_output =
        scope_.guard([this, name](std::string_view bytes) { on_output(name, bytes); });
    terminal.process = processes_.start(
        *std::move(spec), scope_.guard([this, name](auto const& end) { on_end(name, end); }));
    terminals_.emplace(name, std::move(terminal));
    json::Writer out;
    rpc_.respond(id, out.begin_object().member("terminalId", name).end_object().json());
}

// Keeps the newest bytes, beginning at a whole character.
void ClientTerminals::on_output(std::string const& name, std::string_view bytes) {
    auto const found = terminals_.find(name);
    if (found == terminals_.end()) return;
    Terminal& terminal = found->second;
    terminal.output += bytes;
    if (terminal.output.size() <= terminal.output_max) return;
    terminal.truncated = true;
    std::size_t const kept = tail_utf8(terminal.output, terminal.output_max).size();
    terminal.output.erase(0, terminal.output.size() - kept);
}

void ClientTerminals::on_end(std::string const& name, port::ProcessEnd const& end) {
    auto const found = terminals_.find(name);
    if (found == terminals_.end()) return;
    Terminal& terminal = found->second;
    if (end.how == port::ProcessEnd::How::not_started) terminal.output += end.error;
    terminal.end = end;
    auto const waiting = std::exchange(terminal.waiting, {});
    for (Json const& id : waiting) wait(id, terminal);
}

void ClientTerminals::output(Json const& id, Terminal const& terminal) {
    json::Writer out;
    out.begin_object().member("output", terminal.output).member("truncated", terminal.truncated);
    if (terminal.end) {
        out.key("exitStatus").begin_object();
        write_end(out, *terminal.end);
        out.end_object();
    }
    rpc_.respond(id, out.end_object().json());
}

void ClientTerminals::wait(Json const& id, Terminal& terminal) {
    if (!terminal.end) {
        constexpr std::size_t most = 64;
        if (terminal.waiting.size() >= most)
            return refuse(rpc_, id, "Too many requests wait for this terminal.");
        return terminal.waiting.push_back(id);
    }
    json::Writer out;
    out.begin_object();
    write_end(out, *terminal.end);
    rpc_.respond(id, out.end_object().json());
}

void ClientTerminals::release(Json const& id, std::string const& name) {
    auto const terminal = std::move(terminals_.extract(name).mapped());
    if (!terminal.end) processes_.stop(terminal.process);
    for (Json const& waits : terminal.waiting)
        rpc_.refuse(waits, code_not_found, "The terminal was released.");
    rpc_.respond(id, no_result());
}

void ClientTerminals::close() {
    for (auto const& [name, terminal] : terminals_)
        if (!terminal.end) processes_.stop(terminal.process);
    terminals_.clear();
}

}  // namespace dormouse::acp
