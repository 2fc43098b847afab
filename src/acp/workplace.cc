#include "acp/workplace.h"

#include "base/text.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

namespace {

constexpr std::size_t variables_max = 256;

// `path` as it is seen from `folder`. Error: it is no absolute path in it, as it is spelt.
Result<std::string> path_in(std::string const& folder, std::string const& path) {
    if (!path.starts_with('/'))
        return fail(Code::bad_value, "path must be absolute, and is \"" + path + "\"");
    if (path.contains('\0')) return fail(Code::bad_value, "path holds a NUL");
    std::string const top = folder.ends_with('/') ? folder : folder + "/";
    if (!path.starts_with(top) || path.size() == top.size())
        return fail(Code::bad_value, path + " is outside of the session's folder, " + folder);
    return path.substr(path.find_first_not_of('/', top.size() - 1));
}

// `limit` lines from line `first` (1 is the first one) on.
std::string_view lines_of(std::string_view text, std::int64_t first, std::int64_t limit) {
    for (std::int64_t line = 1; line < first && !text.empty(); ++line) {
        auto const end = text.find('\n');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    std::size_t size = 0;
    for (std::int64_t line = 0; line < limit && size < text.size(); ++line) {
        auto const end = text.find('\n', size);
        size = end == std::string_view::npos ? text.size() : end + 1;
    }
    return text.substr(0, size);
}

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

// As a shell takes it.
bool is_variable(std::string_view name) {
    auto const fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, fits);
}

Json no_result() { return Json::trusted("{}"); }

}  // namespace

void Workplace::offer(json::Writer& out) const {
    out.key("fs").begin_object().member("readTextFile", settings_.reads_files);
    out.member("writeTextFile", settings_.writes_files).end_object();
    out.member("terminal", settings_.terminals);
}

bool Workplace::request(std::string const& method, Id id, json::View params,
                        std::string const& folder) {
    if (method == "fs/read_text_file" && settings_.reads_files) {
        read_file(id, params, folder);
        return true;
    }
    if (method == "fs/write_text_file" && settings_.writes_files) {
        write_file(id, params, folder);
        return true;
    }
    if (!method.starts_with("terminal/") || !settings_.terminals) return false;
    if (method == "terminal/create") {
        create(id, params, folder);
        return true;
    }
    std::string const name = params["terminalId"].string_or("");
    auto const found = terminals_.find(name);
    if (found == terminals_.end()) {
        rpc_.refuse(id, code_not_found, "There is no terminal \"" + name + "\".");
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

void Workplace::refuse(Id id, std::string const& why) {
    rpc_.refuse(id, rpc::code::invalid_params, why);
}

void Workplace::refuse(Id id, Error const& error) {
    if (error.code == Code::not_found) return rpc_.refuse(id, code_not_found, error.detail);
    if (error.code == Code::bad_value || error.code == Code::too_large)
        return refuse(id, error.detail);
    rpc_.refuse(id, rpc::code::internal_error, error.detail);
}

void Workplace::read_file(Id id, json::View params, std::string const& folder) {
    auto path = path_in(folder, params["path"].string_or(""));
    if (!path) return refuse(id, path.error());
    if (files_open_ >= files_open_max) return refuse(id, "Too many files are asked for at once.");
    std::int64_t const first = params["line"].integer_or(1);
    std::int64_t const limit = params["limit"].integer_or(INT64_MAX);
    if (first < 1 || limit < 0) return refuse(id, "line counts from 1, and limit is not negative");
    ++files_open_;
    settings_.files->read(folder, *std::move(path), file_bytes_max,
                          [this, alive = alive_, id, first, limit](Result<std::string> content) {
                              if (!*alive) return;
                              --files_open_;
                              if (!content) return refuse(id, content.error());
                              if (!valid_utf8(*content))
                                  return refuse(id, "The file is no text in UTF-8.");
                              json::Writer out;
                              out.begin_object().member("content",
                                                        lines_of(*content, first, limit));
                              rpc_.respond(id, out.end_object().json());
                          });
}

void Workplace::write_file(Id id, json::View params, std::string const& folder) {
    auto path = path_in(folder, params["path"].string_or(""));
    if (!path) return refuse(id, path.error());
    auto content = params["content"].string();
    if (!content) return refuse(id, "content must be a text.");
    if (content->size() > file_bytes_max)
        return refuse(id, "content has more than " + std::to_string(file_bytes_max) + " bytes.");
    if (files_open_ >= files_open_max) return refuse(id, "Too many files are asked for at once.");
    ++files_open_;
    settings_.files->write(folder, *std::move(path), *std::move(content),
                           [this, alive = alive_, id](Result<void> written) {
                               if (!*alive) return;
                               --files_open_;
                               if (!written) return refuse(id, written.error());
                               rpc_.respond(id, no_result());
                           });
}

// Without arguments the command is a line for the shell: so do programs that run what a model
// wrote.
Result<port::ProcessSpec> Workplace::spec_of(json::View params, std::string const& folder) const {
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
    // Its input is empty, and both its outputs are one.
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
        if (!is_variable(name)) odd = "The name of a variable is invalid: \"" + name + "\".";
        set_variable(out.environment, name, value);
    });
    if (!odd.empty()) return fail(Code::bad_value, odd);
    auto const has_nul = [](std::string const& text) { return text.contains('\0'); };
    if (std::ranges::any_of(out.argv, has_nul) || std::ranges::any_of(out.environment, has_nul))
        return fail(Code::bad_value, "The command holds a NUL.");
    if (size > command_bytes_max || params["env"].size() > variables_max)
        return fail(Code::too_large, "The command's environment is too large.");
    auto const cwd = settings_.folder(params["cwd"].string_or(folder));
    if (!cwd) return std::unexpected(cwd.error());
    if (!is_inside(folder, *cwd))
        return fail(Code::bad_value, *cwd + " is outside of the session's folder, " + folder);
    out.cwd = *cwd;
    return out;
}

void Workplace::create(Id id, json::View params, std::string const& folder) {
    if (terminals_.size() >= terminals_max)
        return refuse(
            id, "There are " + std::to_string(terminals_max) + " terminals already; release one.");
    auto spec = spec_of(params, folder);
    if (!spec) return refuse(id, spec.error());
    std::string const name = "term_" + std::to_string(++last_);
    std::int64_t const kept = params["outputByteLimit"].integer_or(output_bytes_max);
    Terminal terminal;
    terminal.output_max = static_cast<std::size_t>(
        std::clamp<std::int64_t>(kept, 0, static_cast<std::int64_t>(output_bytes_max)));
    spec->time_limit = Duration::max();
    spec->on_output = [this, alive = alive_, name](std::string_view bytes) {
        if (*alive) on_output(name, bytes);
    };
    terminal.process =
        processes_.start(*std::move(spec), [this, alive = alive_, name](auto const& end) {
            if (*alive) on_end(name, end);
        });
    terminals_.emplace(name, std::move(terminal));
    json::Writer out;
    rpc_.respond(id, out.begin_object().member("terminalId", name).end_object().json());
}

// What is kept are the newest bytes, from the beginning of a character.
void Workplace::on_output(std::string const& name, std::string_view bytes) {
    auto const found = terminals_.find(name);
    if (found == terminals_.end()) return;
    Terminal& terminal = found->second;
    terminal.output += bytes;
    if (terminal.output.size() <= terminal.output_max) return;
    terminal.truncated = true;
    std::size_t from = terminal.output.size() - terminal.output_max;
    while (from < terminal.output.size() &&
           (static_cast<unsigned char>(terminal.output[from]) & 0xC0U) == 0x80U)
        ++from;
    terminal.output.erase(0, from);
}

void Workplace::on_end(std::string const& name, port::ProcessEnd const& end) {
    auto const found = terminals_.find(name);
    if (found == terminals_.end()) return;
    Terminal& terminal = found->second;
    if (end.how == port::ProcessEnd::How::not_started) terminal.output += end.error;
    terminal.end = end;
    auto const waiting = std::exchange(terminal.waiting, {});
    for (Json const& id : waiting) wait(id, terminal);
}

void Workplace::output(Id id, Terminal const& terminal) {
    json::Writer out;
    out.begin_object().member("output", terminal.output).member("truncated", terminal.truncated);
    if (terminal.end) {
        out.key("exitStatus").begin_object();
        write_end(out, *terminal.end);
        out.end_object();
    }
    rpc_.respond(id, out.end_object().json());
}

void Workplace::wait(Id id, Terminal& terminal) {
    if (!terminal.end) {
        constexpr std::size_t most = 64;
        if (terminal.waiting.size() >= most) return refuse(id, "Too many wait for this terminal.");
        return terminal.waiting.push_back(id);
    }
    json::Writer out;
    out.begin_object();
    write_end(out, *terminal.end);
    rpc_.respond(id, out.end_object().json());
}

void Workplace::release(Id id, std::string const& name) {
    auto const terminal = std::move(terminals_.extract(name).mapped());
    if (!terminal.end) processes_.stop(terminal.process);
    for (Json const& waits : terminal.waiting)
        rpc_.refuse(waits, code_not_found, "The terminal was released.");
    rpc_.respond(id, no_result());
}

std::string Workplace::shown(std::string const& terminal) const {
    auto const found = terminals_.find(terminal);
    return found == terminals_.end() ? "" : found->second.output;
}

void Workplace::close() {
    *alive_ = false;
    for (auto const& [name, terminal] : terminals_)
        if (!terminal.end) processes_.stop(terminal.process);
    terminals_.clear();
    alive_ = std::make_shared<bool>(true);
    files_open_ = 0;
}

}  // namespace dormouse::acp
