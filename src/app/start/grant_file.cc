#include "app/start/grant_file.h"

#include "backup/files.h"
#include "http/resources/mcp/sign_in.h"
#include "json/json.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

namespace dormouse::app {

GrantFile::GrantFile(std::string const& directory) {
    if (directory.empty()) return;
    file_ = (std::filesystem::path(directory) / "mcp-sign-ins.json").string();
    std::ifstream in(file_);
    std::ostringstream text;
    text << in.rdbuf();
    // A damaged file counts as empty: nobody has signed in.
    auto const read = json::check(text.str());
    if (!read) return;
    json::View(*read).members([this](std::string_view server, json::View grant) {
        grants_[std::string(server)] = grant.copy();
    });
}

std::optional<Json> GrantFile::load(std::string const& server) const {
    auto const found = grants_.find(server);
    return found == grants_.end() ? std::nullopt : std::optional(found->second);
}

Result<void> GrantFile::save(std::string const& server, Json const& grant) {
    grants_[server] = grant;
    if (file_.empty()) return {};
    json::Writer out;
    out.begin_object();
    for (auto const& [name, one] : grants_) out.member(name, one);
    return backup::replace_file(file_, out.end_object().take());
}

mcp_client::SignInServices sign_in_services(std::string const& directory,
                                            std::function<serve::Serving*()> const& serving) {
    auto const grants = std::make_shared<GrantFile>(directory);
    auto save = [grants, serving](std::string const& server, Json const& grant) {
        auto const saved = grants->save(server, grant);
        serve::Serving* const by = serving();
        if (!saved && by)
            by->log().error("a sign-in to an MCP server is lost at the next start",
                            {{"server", server}, {"why", saved.error().detail}});
    };
    auto page = [serving](std::string const& server) {
        serve::Serving* const by = serving();
        return http::mcp_sign_in_url(by ? by->url() : "", server);
    };
    return {.load = [grants](std::string const& server) { return grants->load(server); },
            .save = std::move(save),
            .page = std::move(page)};
}

}  // namespace dormouse::app
