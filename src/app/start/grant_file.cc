#include "app/start/grant_file.h"

#include "backup/files.h"
#include "json/json.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace dormouse::app {

GrantFile::GrantFile(std::string const& directory, Report lost) : lost_(std::move(lost)) {
    if (directory.empty()) return;
    file_ = (std::filesystem::path(directory) / "mcp-sign-ins.json").string();
    std::ifstream in(file_);
    std::ostringstream text;
    text << in.rdbuf();
    // A damaged file counts as empty: nobody has signed in.
    auto const read = json::check(text.str());
    if (!read) return;
    json::View(*read).members([this](std::string_view name, json::View record) {
        records_[std::string(name)] = record.copy();
    });
}

std::optional<Json> GrantFile::load(std::string const& name) const {
    auto const found = records_.find(name);
    return found == records_.end() ? std::nullopt : std::optional(found->second);
}

void GrantFile::store(std::string const& name, Json const& record, port::Fn<void(bool)> done) {
    records_[name] = record;
    if (file_.empty()) return done(true);
    json::Writer out;
    out.begin_object();
    for (auto const& [each, one] : records_) out.member(each, one);
    auto const saved = backup::replace_file(file_, out.end_object().take());
    if (!saved) lost_(name, saved.error().detail);
    done(true);
}

}  // namespace dormouse::app
