#include "cli/commands/hook/plugin_text.h"

#include "cli/commands/shell/embed.h"
#include "cli/commands/shell/template.h"
#include "json/json.h"

EMBED(dormouse_template_opencode, "opencode.js")

namespace dormouse::cli {

std::string plugin_text(std::vector<std::string> const& command) {
    json::Writer words;
    words.begin_array();
    for (std::string const& word : command) words.value(word);
    words.end_array();
    Record data;
    data.texts["command"] = words.take();
    auto const unchanged = [](std::string_view text) { return std::string(text); };
    return filled(between(dormouse_template_opencode, dormouse_template_opencode_end), data,
                  unchanged);
}

bool is_own_plugin(std::string_view text) {
    return text.starts_with("// Written by `dormouse hook install opencode`");
}

}  // namespace dormouse::cli
