#include "archive/names.h"

#include "base/url.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>

namespace dormouse::archive {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view plain_end = ".jsonl.gz";
constexpr std::string_view sealed_end = ".jsonl.gz.sealed";
constexpr std::string_view index_end = ".index.json";

fs::path with(fs::path path, std::string_view end) { return path += end; }

std::string month_text(Time at) {
    std::chrono::year_month_day const day(std::chrono::floor<std::chrono::days>(at));
    auto const month = std::to_string(static_cast<unsigned>(day.month()));
    return std::to_string(static_cast<int>(day.year())) + (month.size() < 2 ? "-0" : "-") + month;
}

}  // namespace

Result<std::vector<std::string>> names_in(fs::path const& directory) {
    std::error_code error;
    std::vector<std::string> out;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
        out.push_back(at->path().filename().string());
    if (error == std::errc::no_such_file_or_directory)
        return fail(Code::not_found, directory.string() + ": directory not found");
    if (error) return fail(Code::store_unavailable, directory.string() + ": " + error.message());
    std::ranges::sort(out);
    return out;
}

std::optional<std::string> stem_of_index(std::string_view name) {
    if (!name.ends_with(index_end)) return std::nullopt;
    return std::string(name.substr(0, name.size() - index_end.size()));
}

std::optional<std::string> stem_of_new_index(std::string_view name) {
    if (!name.ends_with(new_end)) return std::nullopt;
    return stem_of_index(name.substr(0, name.size() - new_end.size()));
}

fs::path index_path(fs::path const& stem) { return with(stem, index_end); }

fs::path data_path(fs::path const& stem, Index const& index) {
    auto const version = index.version == 0 ? "" : "." + std::to_string(index.version);
    return with(with(stem, version), index.key ? sealed_end : plain_end);
}

bool is_data(std::string_view name) {
    return name.ends_with(plain_end) || name.ends_with(sealed_end);
}

bool is_data_of(std::string_view stem, std::string_view name) {
    if (!name.starts_with(stem)) return false;
    name.remove_prefix(stem.size());
    for (std::string_view const end : std::array{plain_end, sealed_end}) {
        if (!name.ends_with(end)) continue;
        auto const version = name.substr(0, name.size() - end.size());
        if (version.empty()) return true;
        auto const digit = [](char c) { return c >= '0' && c <= '9'; };
        return version.size() > 1 && version.front() == '.' &&
               std::ranges::all_of(version.substr(1), digit);
    }
    return false;
}

namespace {

// Returns true if an index or any version of its data has the stem: the index can be missing.
bool is_taken(fs::path const& stem) {
    if (fs::exists(index_path(stem))) return true;
    std::error_code error;
    for (auto const& entry : fs::directory_iterator(stem.parent_path(), error))
        if (is_data_of(stem.filename().string(), entry.path().filename().string())) return true;
    return false;
}

}  // namespace

fs::path free_stem(fs::path const& directory, std::string const& project, Time month) {
    std::string const name = percent_encode(project) + "-" + month_text(month) + ".";
    for (int i = 1;; ++i) {
        fs::path stem = directory / (name + std::to_string(i));
        if (!is_taken(stem)) return stem;
    }
}

}  // namespace dormouse::archive
