// dormouse config: writes the example, checks a file, lists the keys.
#include "app/commands/programs.h"
#include "app/parts/stores.h"
#include "app/start/complain.h"
#include "app/start/config_checks.h"

#include "base/text/duration.h"
#include "cli/client/new_file.h"
#include "cli/client/saved/settings.h"
#include "config/effective.h"
#include "config/example.h"
#include "config/keys.h"
#include "config/read.h"
#include "config/schema.h"
#include "config/values.h"
#include "json/json.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace dormouse::app {

namespace {

constexpr int usage = 2;
constexpr int example_mode = 0600;

int not_written(cli::ConfigOptions const& options, std::string const& path, std::error_code why) {
    Code const code = cli::is_disk_full(why) ? Code::store_full : Code::internal;
    return complain({"config", options.json},
                    {code, "cannot write " + path + ": " + why.message()});
}

int write_example(cli::ConfigOptions const& options) {
    std::string const& path = options.path;
    auto const text = config::example();
    if (path == "-") return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
    std::error_code error;
    auto const folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    if (error) return not_written(options, folder.string(), error);
    error = cli::write_new_file(path, text, example_mode);
    if (error == std::errc::file_exists)
        return complain({"config", options.json},
                        {Code::conflict,
                         path + " already exists; choose another file, or - to print the example"});
    if (error) return not_written(options, path, error);
    std::printf("%s written; every line of it is a comment.\n", path.c_str());
    std::printf("Edit it, then: dormouse config check %s\n", cli::shell_word(path).c_str());
    return 0;
}

std::string_view kind_name(config::Kind kind) {
    constexpr std::string_view names[] = {"boolean", "number",  "price", "duration",     "string",
                                          "word",    "strings", "table", "word or table"};
    return names[static_cast<std::size_t>(kind)];
}

std::string range_of(config::Key const& key) {
    if (key.kind == config::Kind::number || key.kind == config::Kind::price) {
        return std::to_string(key.min) + "-" + std::to_string(key.max);
    }
    if (key.kind == config::Kind::duration) {
        return duration_text(Duration(key.min)) + "-" + duration_text(Duration(key.max)) +
               (key.none ? ", none" : "");
    }
    return std::string(key.words);
}

int print_keys(bool as_json) {
    if (!as_json) {
        for (config::Key const& key : config::keys()) {
            std::string const name = std::string(key.section) + "." + std::string(key.name);
            std::string const by_default = key.required ? "required" : default_of(key);
            std::printf("%-40s %-14s %-18s %s\n", name.c_str(),
                        std::string(kind_name(key.kind)).c_str(), by_default.c_str(),
                        meaning(key).c_str());
        }
        return 0;
    }
    json::Writer out;
    out.begin_array();
    for (config::Key const& key : config::keys()) {
        out.begin_object().member("section", std::string(key.section));
        out.member("name", std::string(key.name)).member("type", std::string(kind_name(key.kind)));
        out.member("default", default_of(key)).member("range", range_of(key));
        bool const at_once = key.applies == config::Applies::reload;
        out.member("applies", at_once ? "reload" : "restart");
        out.member("required", key.required).member("about", meaning(key)).end_object();
    }
    std::puts(out.end_array().take().c_str());
    return 0;
}

std::string of(std::size_t n, std::string const& thing) {
    return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

// A file of this folder is not read unless it is named.
std::string defaults_text() {
    std::string const here = "dormouse.toml";
    std::string out = "No configuration file was found: these are the defaults.";
    std::error_code ignored;
    if (std::filesystem::exists(here, ignored))
        out += "\nThere is a " + here + " in this folder: dormouse config check " + here;
    return out;
}

void print_summary(config::Config const& config, Offer const& offer) {
    std::puts((config.file.empty() ? defaults_text() : config.file + " is valid.").c_str());
    std::printf("listen     %s\n", config.server.listen.c_str());
    if (!config.server.public_url.empty()) {
        std::printf("public     %s\n", config.server.public_url.c_str());
    }
    std::printf("store      %s\n", store_name(config.store).c_str());
    auto const& after = config.retention.completed_after;
    std::printf("retention  %s\n",
                after ? ("completed sessions are deleted after " + duration_text(*after)).c_str()
                      : "completed sessions are kept");
    if (auto const most = config.retention.messages_per_session)
        std::printf("           the oldest messages of a session are deleted from %u on\n", *most);
    if (auto const age = config.retention.message_age)
        std::printf("           messages of a session are deleted after %s\n",
                    duration_text(*age).c_str());
    if (auto const bytes = config.retention.session_bytes)
        std::printf("           the oldest messages of a session are deleted from %u bytes on\n",
                    *bytes);
    for (config::Model const& model : config.models) {
        std::printf("model      %s (%s)\n", model.id.c_str(),
                    std::string(text(model.kind)).c_str());
    }
    for (OfferedAgent const& agent : offer.agents) {
        std::printf("agent      %s (%s)\n", agent.id.c_str(),
                    of(agent.tools.size(), "tool").c_str());
    }
    for (std::string const& tool : offer.tools) std::printf("tool       %s\n", tool.c_str());
    for (config::Gate const& gate : config.gates) std::printf("gate       %s\n", gate.id.c_str());
}

void print_summary_json(config::Config const& config, Offer const& offer,
                        std::vector<config::Problem> const& warnings) {
    json::Writer out;
    out.begin_object().member("ok", true).member("file", config.file);
    out.member("listen", config.server.listen).member("store", store_name(config.store));
    out.key("models").begin_array();
    for (config::Model const& model : config.models) {
        out.begin_object().member("id", model.id).member("kind", std::string(text(model.kind)));
        out.end_object();
    }
    out.end_array().key("agents").begin_array();
    for (OfferedAgent const& agent : offer.agents) {
        out.begin_object().member("id", agent.id).key("tools").begin_array();
        for (std::string const& tool : agent.tools) out.value(tool);
        out.end_array().end_object();
    }
    out.end_array().key("tools").begin_array();
    for (std::string const& tool : offer.tools) out.value(tool);
    out.end_array().key("gates").begin_array();
    for (config::Gate const& gate : config.gates) out.value(gate.id);
    out.end_array().key("warnings").begin_array();
    for (config::Problem const& warning : warnings)
        out.value(config::line_of(config.file, warning));
    std::puts(out.end_array().end_object().take().c_str());
}

int print_mistakes(std::string const& file, Mistakes const& mistakes, bool as_json) {
    if (as_json) {
        json::Writer out;
        out.begin_object().member("ok", false).member("file", file).key("problems").begin_array();
        for (std::string const& mistake : mistakes) out.value(mistake);
        std::puts(out.end_array().end_object().take().c_str());
        return usage;
    }
    for (std::string const& mistake : mistakes) std::fprintf(stderr, "%s\n", mistake.c_str());
    std::fprintf(stderr, "dormouse config: %s in %s\n", of(mistakes.size(), "mistake").c_str(),
                 file.c_str());
    return usage;
}

int check(std::string const& file, std::string const& data, bool as_json) {
    auto const config = first_config(file);
    if (!config) return print_mistakes(file, config.error(), as_json);
    if (auto const mistakes = mistakes_in(*config); !mistakes.empty())
        return print_mistakes(file, mistakes, as_json);
    Offer const offer = offer_of(*config);
    auto const warnings = warnings_of(*config, data);
    for (config::Problem const& warning : warnings)
        std::fprintf(stderr, "%s (warning)\n", config::line_of(config->file, warning).c_str());
    as_json ? print_summary_json(*config, offer, warnings) : print_summary(*config, offer);
    return 0;
}

// Says nothing if there are none.
int only_mistakes(std::string const& file) {
    auto const config = first_config(file);
    if (!config) return print_mistakes(file, config.error(), false);
    auto const mistakes = mistakes_in(*config);
    return mistakes.empty() ? 0 : print_mistakes(file, mistakes, false);
}

int show(std::string const& file, bool as_json) {
    auto const config = first_config(file);
    if (!config) return print_mistakes(file, config.error(), as_json);
    as_json ? std::puts(std::string(config::effective_json(*config).text()).c_str())
            : std::fputs(config::effective_text(*config).c_str(), stdout);
    return 0;
}

}  // namespace

int config(cli::ConfigOptions const& options) {
    if (options.what == "init") return write_example(options);
    if (options.what == "schema") return std::puts(config::schema().c_str()) < 0 ? 1 : 0;
    if (options.what == "keys") return print_keys(options.json);
    if (options.what == "show") return show(options.path, options.json);
    if (options.what == "mistakes") return only_mistakes(options.path);
    return check(options.path, options.data, options.json);
}

}  // namespace dormouse::app
