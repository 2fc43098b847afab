// init: writes a first configuration and an example tool.

#include "base/text/text.h"
#include "cli/client/address.h"
#include "cli/client/client.h"
#include "cli/client/new_file.h"
#include "cli/commands/commands.h"
#include "cli/commands/init/first_config.h"

#include <cstdlib>
#include <filesystem>
#include <istream>
#include <ostream>
#include <system_error>

namespace dormouse::cli {
namespace {

constexpr int tool_mode = 0755;
constexpr int config_mode = 0644;

// Empty: the proposal.
std::string answer(Context const& context, std::string const& question) {
    context.err << question << ' ' << std::flush;
    std::string line;
    std::getline(context.in, line);
    return line;
}

std::string model_name(FoundModel const& model) { return model.kind + " " + model.model; }

std::optional<FoundModel> choose_model(Context const& context, bool ask, Installed const& found) {
    if (found.models.empty()) {
        if (ask)
            context.err << "No model was found, so the scripted model is used; to use another, "
                           "set its API key and run this again, or edit the file.\n";
        return std::nullopt;
    }
    if (!ask) return found.models.front();
    std::string question = "1. Which model?";
    for (std::size_t i = 0; i < found.models.size(); ++i)
        question += "\n   " + std::to_string(i + 1) + "  " + model_name(found.models[i]);
    auto const text = answer(context, question + "\n   [1]:");
    auto const number = text.empty() ? 1 : std::strtoul(text.c_str(), nullptr, 10);
    return found.models[number >= 1 && number <= found.models.size() ? number - 1 : 0];
}

Outcome<void> not_written(std::string const& path, std::error_code why) {
    return failure(is_disk_full(why) ? status::refused : status::failed,
                   path + ": " + why.message());
}

// Nothing is written if one of the files exists.
Outcome<void> write_both(std::string const& config, std::string const& tool,
                         std::string const& text) {
    std::error_code error;
    for (std::string const& path : {config, tool})
        if (std::filesystem::exists(path, error))
            return failure(status::conflict, path + " exists already; nothing was written",
                           "Name another folder: dormouse init DIR.");
    auto const folder = std::filesystem::path(config).parent_path();
    std::filesystem::create_directories(folder, error);
    if (error) return not_written(folder.string(), error);
    error = write_new_file(config, text, config_mode);
    if (error) return not_written(config, error);
    error = write_new_file(tool, example_tool_text(), tool_mode);
    if (!error) return {};
    std::error_code ignored;
    std::filesystem::remove(config, ignored);  // so that the command can run again
    return not_written(tool, error);
}

std::string found_text(Installed const& found) {
    std::string out = "Found:";
    for (FoundModel const& model : found.models) {
        out += "\n  model      " + model_name(model);
        if (!model.api_key_env.empty()) out += " ($" + model.api_key_env + ")";
    }
    for (std::string const& agent : found.agents) out += "\n  agent      " + agent;
    for (FoundServer const& server : found.servers)
        out += "\n  MCP server " + server.name + " (" + server.file + ")";
    if (out == "Found:") out = "Found no model, agent or MCP server.";
    for (Skipped const& one : found.skipped) out += "\nskipped " + one.what + ": " + one.why;
    return escape_for_terminal(out, true) + "\n";
}

// A server that is busy must not delay the first minute.
Outcome<Json> ollama_tags(std::string const& url) {
    constexpr Duration limit{1'000};
    auto const address = parse_url(url);
    if (!address) return std::unexpected(address.error());
    auto reply = Client({.address = *address, .token = {}, .time_limit = limit}).get("/api/tags");
    if (!reply) return std::unexpected(reply.error());
    return std::move(reply->body);
}

Outcome<std::string> folder_of(Context const& context, std::string const& named) {
    // "shop/." is "shop/" in its normal form.
    if (!named.empty())
        return (std::filesystem::absolute(named) / "x").lexically_normal().parent_path().string();
    auto const own = own_config(context.env);
    if (!own.empty()) return std::filesystem::path(own).parent_path().string();
    return failure(status::usage, "no home is known: HOME and XDG_CONFIG_HOME are empty",
                   "Name a folder: dormouse init DIR.");
}

}  // namespace

Outcome<int> execute(Context const& context, InitArgs const& args) {
    auto folder = folder_of(context, args.folder);
    if (!folder) return std::unexpected(folder.error());
    auto const variable = [](char const* name) {
        char const* const value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    std::error_code ignored;
    auto const found = look_around(
        {variable, context.env.home, std::filesystem::current_path(ignored).string(), ollama_tags});
    context.err << found_text(found);
    bool const ask = !args.yes && context.may_ask;
    Choices choices{.model = choose_model(context, ask, found)};
    if (ask) {
        int asked = found.models.empty() ? 0 : 1;
        auto const number = [&asked] { return std::to_string(++asked) + ". "; };
        auto const approves =
            answer(context, number() + "Is a person asked before the example tool runs? [Y/n]:");
        choices.approve = !approves.starts_with('n') && !approves.starts_with('N');
        auto const other = answer(context, number() + "Which folder? [" + *folder + "]:");
        if (!other.empty()) folder = folder_of(context, other);
    }
    auto const config = *folder + "/dormouse.toml";
    auto const tool = *folder + "/" + std::string(example_tool);
    bool const is_default = config == own_config(context.env);
    auto const text = first_config(choices, found, is_default ? "" : config);
    if (auto written = write_both(config, tool, text); !written)
        return std::unexpected(written.error());
    json::Writer out;
    out.begin_object().member("config", config).member("tool", tool).end_object();
    std::string const flag = is_default ? "" : " --config " + shell_word(config);
    context.show(out.json(), "wrote " + config + "\nwrote " + tool + "\nnext: dormouse serve" +
                                 flag + ", then dormouse prompt --agent assistant 'deploy shop'\n");
    return status::done;
}

}  // namespace dormouse::cli
