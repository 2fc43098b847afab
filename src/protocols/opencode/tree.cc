// The older form: session/<project>/<session>.json, message/<session>/<message>.json and
// part/<message>/<part>.json. Ids are the file names.

#include "opencode/source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace dormouse::opencode {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t file_bytes_max = std::uintmax_t{64} << 20;

std::vector<fs::path> files_in(fs::path const& folder) {
    std::vector<fs::path> out;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        bool const plain = it->is_regular_file(error) && !it->is_symlink(error);
        if (plain && it->path().extension() == ".json") out.push_back(it->path());
    }
    std::ranges::sort(out);
    return out;
}

Json read_json(fs::path const& file, Found const& found) {
    std::error_code error;
    std::string why = "it is larger than 64 MiB";
    if (fs::file_size(file, error) <= file_bytes_max) {
        std::ifstream in(file, std::ios::binary);
        std::string const text{std::istreambuf_iterator<char>(in), {}};
        auto const value = json::check(text);
        if (value && json::View(*value).kind() == json::Kind::object) return *value;
        why = value ? "it is not an object" : value.error().detail;
    }
    found.unreadable(file.string() + ": " + why);
    return {};
}

Message read_message(fs::path const& storage, fs::path const& file, Json data, Found const& found) {
    Message message{.id = file.stem().string(),
                    .created = json::View(data)["time"]["created"].integer_or(0),
                    .data = std::move(data)};
    for (fs::path const& each : files_in(storage / "part" / message.id)) {
        auto part = read_json(each, found);
        if (!part.is_null()) message.parts.push_back({each.stem().string(), std::move(part)});
    }
    return message;
}

void read_session(fs::path const& storage, fs::path const& file, Found const& found) {
    auto const data = read_json(file, found);
    if (data.is_null()) return;
    json::View const info(data);
    Session session{.id = file.stem().string(),
                    .title = info["title"].string_or(""),
                    .directory = info["directory"].string_or(""),
                    .created = info["time"]["created"].integer_or(0)};
    for (fs::path const& each : files_in(storage / "message" / session.id)) {
        auto message = read_json(each, found);
        if (!message.is_null())
            session.messages.push_back(read_message(storage, each, std::move(message), found));
    }
    sort_messages(session);
    found.session(std::move(session));
}

}  // namespace

Result<void> read_tree(std::string const& storage, Found const& found) {
    std::error_code error;
    std::vector<fs::path> projects;
    fs::path const root(storage);
    for (fs::directory_iterator it(root / "session", error), end; !error && it != end;
         it.increment(error)) {
        if (it->is_directory(error) && !it->is_symlink(error)) projects.push_back(it->path());
    }
    if (error) return fail(Code::bad_value, storage + ": " + error.message());
    std::ranges::sort(projects);
    for (fs::path const& project : projects) {
        for (fs::path const& file : files_in(project)) read_session(root, file, found);
    }
    return {};
}

}  // namespace dormouse::opencode
