// config and paths: print where files are.
#include "cli/commands/commands.h"

#include "base/text/text.h"
#include "json/json.h"

#include <filesystem>
#include <ostream>

namespace dormouse::cli {
namespace {

bool exists(std::string const& path) {
    std::error_code ignored;
    return !path.empty() && std::filesystem::exists(path, ignored);
}

std::string row(std::string const& name, std::string const& path, std::string const& from) {
    std::string const state = exists(path) ? "found" : "not found";
    return name + std::string(name.size() < 8 ? 8 - name.size() : 1, ' ') +
           (path.empty() ? "(no home is known)" : path) + "  (" + from + ", " + state + ")\n";
}

struct Token {
    std::string from;
    std::string path;           // empty: not from a file of its own
    bool is_elsewhere = false;  // of the environment or a context
};

Token token_place(Context const& context, std::string const& data) {
    if (auto const& name = context.global.login.name; !name.empty())
        return {"context " + name, {}, true};
    if (!context.env.token.empty()) return {"$DORMOUSE_TOKEN", {}, true};
    return {"the data directory", data.empty() ? std::string() : data + "/token"};
}

std::string server_from(Context const& context) {
    auto const& global = context.global;
    if (!global.server.empty()) return "--server";
    if (global.context.empty() && !context.env.url.empty()) return "$DORMOUSE_URL";
    if (!global.login.url.empty()) return "context " + global.login.name;
    auto const recorded = data_directory(global, context.env) + "/url";
    return exists(recorded) ? recorded : "the default";
}

std::string data_from(Context const& context) {
    if (!context.global.data.empty()) return "--data";
    return context.env.xdg_data_home.empty() ? "$HOME" : "$XDG_DATA_HOME";
}

Json json_of(Context const& context, std::vector<ConfigPlace> const& places,
             std::string const& data, Token const& token) {
    auto const maybe = [](std::string const& text) {
        return text.empty() ? std::nullopt : std::optional(text);
    };
    json::Writer out;
    out.begin_object().key("config").begin_object();
    out.member("file", maybe(find_config(places))).key("places").begin_array();
    for (ConfigPlace const& place : places) {
        out.begin_object().member("path", place.path).member("from", place.from);
        out.member("exists", exists(place.path)).end_object();
    }
    out.end_array().end_object().key("data").begin_object();
    out.member("path", maybe(data))
        .member("from", data_from(context))
        .member("exists", exists(data))
        .end_object();
    out.key("token").begin_object().member("path", maybe(token.path)).member("from", token.from);
    out.member("exists", token.is_elsewhere || exists(token.path));
    out.end_object().key("server").begin_object();
    out.member("url", server_url(context.global, context.env)).member("from", server_from(context));
    return out.end_object().end_object().json();
}

}  // namespace

Outcome<int> execute(Context const& context, ConfigArgs const& args) {
    ConfigOptions options{.what = args.what, .path = args.path, .json = context.as_json()};
    if ((args.what == "check" || args.what == "show") && args.path.empty()) {
        options.path = find_config(config_places({}, context.env));
    }
    if (args.what == "check") options.data = data_directory(context.global, context.env);
    if (args.what == "init" && args.path.empty()) {
        options.path = own_config(context.env);
        if (options.path.empty()) {
            return failure(status::usage, "no home is known: HOME and XDG_CONFIG_HOME are empty",
                           "Name a file: dormouse config init FILE.");
        }
    }
    return context.programs.config(options);
}

Outcome<int> execute(Context const& context, PathsArgs const& /*args*/) {
    auto const places = config_places({}, context.env);
    auto const data = data_directory(context.global, context.env);
    auto const token = token_place(context, data);
    std::string text;
    for (ConfigPlace const& place : places) text += row("config", place.path, place.from);
    text += row("data", data, data_from(context));
    text += token.is_elsewhere ? "token   (" + token.from + ")\n"
                               : row("token", token.path, token.from);
    text += "server  " + escape_for_terminal(server_url(context.global, context.env)) + "  (" +
            server_from(context) + ")\n";
    context.show(json_of(context, places, data, token), text);
    return status::done;
}

}  // namespace dormouse::cli
