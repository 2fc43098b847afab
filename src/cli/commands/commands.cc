#include "cli/commands/commands.h"

#include "base/text/text.h"
#include "cli/client/resolve.h"
#include "cli/client/saved/last_list.h"
#include "cli/commands/pick.h"
#include "cli/render/render_formats.h"

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>
#include <utility>

namespace dormouse::cli {

Outcome<Client> Context::connect(int interrupt_fd, std::optional<Duration> time_limit) const {
    if (no_server) return std::unexpected(*no_server);
    auto address = parse_url(server_url(global, env));
    if (!address) return std::unexpected(address.error());
    Client::Options options;
    options.address = *std::move(address);
    options.token = token(global, env);
    // The token becomes a header: a line break would end that.
    auto const visible = [](char c) { return c > ' ' && c < '\x7f'; };
    if (!std::ranges::all_of(options.token, visible)) {
        return failure(status::usage, "the token contains an invalid character",
                       "Look at $DORMOUSE_TOKEN, or at the file token in the data directory.");
    }
    if (time_limit) options.time_limit = *time_limit;
    options.interrupt_fd = interrupt_fd;
    options.output_fd = output_fd;
    options.clock = clock;
    options.listed = last_list(data_directory(global, env), terminal, server_url(global, env));
    return Client(std::move(options));
}

void Context::remember(std::vector<std::string> const& ids) const {
    if (!global.json && !ids.empty())
        remember_list(data_directory(global, env), terminal, server_url(global, env), ids);
}

void Context::show(Json const& json, std::string const& text) const {
    switch (global.format) {
        case Format::yaml: out << "---\n" << yaml_text(json::View(json)); break;
        case Format::name: out << names_text(json::View(json)); break;
        default:
            if (global.json)
                out << json_for_terminal(json.text()) << '\n';
            else
                out << text;
    }
    out.flush();
}

Outcome<std::string> file_text(std::string const& path, std::size_t bytes_max) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return failure(status::usage, path + " is a folder, not a file");
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return failure(status::usage, "cannot read the file " + path + ": " + std::strerror(errno));
    std::string all;
    std::array<char, 64 * 1024> piece{};
    while (file && all.size() <= bytes_max) {
        file.read(piece.data(), piece.size());
        all.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) return failure(status::usage, "cannot read the file " + path);
    if (all.size() <= bytes_max) return all;
    auto const mib = std::to_string(bytes_max >> 20);
    return failure(status::usage, "the file " + path + " is larger than " + mib + " MiB");
}

Outcome<std::string> text_or_input(Context const& context, std::string const& text) {
    if (text != "-") return text;
    std::string all{std::istreambuf_iterator<char>(context.in), {}};
    if (all.ends_with('\n')) all.pop_back();
    if (all.ends_with('\r')) all.pop_back();
    return all;
}

void take_text_alone(Context const& context, std::string& id, std::optional<std::string>& text) {
    bool const is_id = id.starts_with("pnd_") || id.starts_with("#") || id.starts_with("…");
    if (context.may_ask && !text && !id.empty() && !is_id) text = std::exchange(id, {});
}

Outcome<std::uint64_t> milliseconds(std::string_view flag, std::string_view text) {
    constexpr std::pair<std::string_view, std::uint64_t> units[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
    auto const digits = std::min(text.find_first_not_of("0123456789"), text.size());
    auto const number = parse_number(text.substr(0, digits));
    for (auto const& [unit, size] : units) {
        if (unit == text.substr(digits) && number && *number < 1'000'000'000) return *number * size;
    }
    return failure(status::usage, std::string(flag) + " is not a time: " + std::string(text),
                   "A number and ms, s, m, h or d: 90s, 10m.");
}

Outcome<Found> connect_to_pending(Context const& context, std::string const& id, Offered offered,
                                  int interrupt_fd) {
    auto client = context.connect(interrupt_fd);
    if (!client) return std::unexpected(client.error());
    auto full = id.empty() ? pick_call(context, *client, offered)
                           : resolve_pending(*client, context.global.project, id);
    if (!full) return std::unexpected(full.error());
    return Found{*std::move(client), *std::move(full)};
}

Outcome<Found> connect_to_session(Context const& context, std::string const& id, int interrupt_fd) {
    auto client = context.connect(interrupt_fd);
    if (!client) return std::unexpected(client.error());
    auto full = id.empty() ? pick_session(context, *client)
                           : resolve_session(*client, context.global.project, id);
    if (!full) return std::unexpected(full.error());
    return Found{*std::move(client), *std::move(full)};
}

Outcome<Found> connect_to_failed_session(Context const& context, std::string const& id,
                                         int interrupt_fd) {
    if (!id.empty()) return connect_to_session(context, id, interrupt_fd);
    auto client = context.connect(interrupt_fd);
    if (!client) return std::unexpected(client.error());
    auto full = pick_failed_session(context, *client);
    if (!full) return std::unexpected(full.error());
    return Found{*std::move(client), *std::move(full)};
}

Outcome<Json> json_argument(std::string_view flag, std::string_view text) {
    auto value = json::check(text);
    if (value) return *value;
    return failure(status::usage, std::string(flag) + " is not JSON: " + value.error().detail,
                   "A string needs its quotes: '\"live\"'.");
}

Outcome<int> execute(Context const& context, ServeArgs const& args) {
    auto options = args.options;
    if (options.ready_fd >= 0 && ::fcntl(options.ready_fd, F_GETFD) < 0)
        return failure(status::usage,
                       "--ready-fd: no open descriptor " + std::to_string(options.ready_fd));
    auto directory = needed_data_directory(context.global, context.env);
    if (!directory) return std::unexpected(directory.error());
    options.data = *std::move(directory);
    options.json = context.as_json();
    if (!args.no_config) options.config = find_config(config_places(args.config, context.env));
    return context.programs.serve(options);
}

Outcome<int> execute(Context const& context, VerifyArgs const& args) {
    // The files of an index are in the directory.
    bool const elsewhere =
        !args.archive.empty() || !args.backup.empty() || (args.store && !args.rebuild);
    auto directory = data_directory_unless(elsewhere, context.global, context.env);
    if (!directory) return std::unexpected(directory.error());
    return context.programs.verify({.data = *std::move(directory),
                                    .store = args.store,
                                    .json = context.as_json(),
                                    .backup = args.backup,
                                    .key = args.key,
                                    .rebuild = args.rebuild,
                                    .archive = args.archive,
                                    .key_env = args.key_env});
}

Outcome<int> execute(Context const& context, BackupArgs const& args) {
    if (args.now) return copy_now(context);
    if (args.target.empty())
        return failure(status::usage, "backup: name a DIR (or -, for an archive), or --now");
    auto directory = needed_data_directory(context.global, context.env);
    if (!directory) return std::unexpected(directory.error());
    return context.programs.backup({.data = *std::move(directory),
                                    .target = args.target,
                                    .key = args.key,
                                    .json = context.as_json()});
}

Outcome<int> execute(Context const& context, CompactArgs const& args) {
    auto directory = data_directory_unless(args.store.has_value(), context.global, context.env);
    if (!directory) return std::unexpected(directory.error());
    return context.programs.compact(
        {.data = *std::move(directory), .store = args.store, .json = context.as_json()});
}

Outcome<int> execute(Context const& context, UpgradeArgs const& args) {
    return context.programs.upgrade(
        {.store = args.store, .finish = args.finish, .json = context.as_json()});
}

Outcome<int> execute(Context const& context, RekeyArgs const& args) {
    if (!args.archive.empty())
        return context.programs.rekey({.data = {},
                                       .archive = args.archive,
                                       .store = std::nullopt,
                                       .key_env = args.key_env,
                                       .json = context.as_json()});
    auto directory = data_directory_unless(args.store.has_value(), context.global, context.env);
    if (!directory) return std::unexpected(directory.error());
    return context.programs.rekey({.data = *std::move(directory),
                                   .store = args.store,
                                   .key_env = args.key_env,
                                   .json = context.as_json()});
}

// A copy must not get into the default directory by an omission.
Outcome<int> execute(Context const& context, RestoreArgs const& args) {
    if (context.global.data.empty())
        return failure(status::usage, "restore needs --data DIR: an empty directory, or a new one");
    return context.programs.restore({.backup = args.backup,
                                     .data = context.global.data,
                                     .key = args.key,
                                     .at = args.at,
                                     .json = context.as_json()});
}

namespace {

// Adds where the token came from, which only the client knows.
Failure with_token_source(Context const& context, Failure failed) {
    if (code_of(failed) != "unauthenticated") return failed;
    auto const directory = data_directory(context.global, context.env);
    if (auto const& login = context.global.login; !login.token.empty()) {
        failed.what =
            "this server does not accept the token of context " + login.name + " (unauthenticated)";
        failed.remedy = "Sign in again: dormouse login " + shell_word(login.url) + " --name " +
                        login.name + ".";
    } else if (!context.env.token.empty()) {
        failed.what = "this server does not accept the token in $DORMOUSE_TOKEN (unauthenticated)";
    } else if (token(context.global, context.env).empty()) {
        failed.what = "no token found: " + directory + "/token does not exist (unauthenticated)";
    } else {
        failed.what =
            "this server does not accept the token in " + directory + "/token (unauthenticated)";
    }
    return failed;
}

}  // namespace

int execute(Context const& context, Command const& command) {
    auto const exit = std::visit([&](auto const& args) { return execute(context, args); }, command);
    if (exit) return *exit;
    if (exit.error().exit == status::unread) return status::unread;
    context.out.flush();
    auto const failed = with_token_source(context, exit.error());
    if (context.as_json().errors) {
        context.err << json_for_terminal(failure_json(failed).text()) << '\n';
    } else {
        context.err << text(failed);
    }
    context.err.flush();
    return failed.exit;
}

}  // namespace dormouse::cli
