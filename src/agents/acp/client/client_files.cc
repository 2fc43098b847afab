#include "acp/client/client_files.h"

#include "base/text/text.h"

#include <utility>

namespace dormouse::acp {

namespace {

// Returns `path` relative to `folder`: path_in("/srv", "/srv/a/b") is "a/b". Error: `path` is not
// absolute or not in `folder`. Links are not followed here.
Result<std::string> path_in(std::string const& folder, std::string const& path) {
    if (!path.starts_with('/'))
        return fail(Code::bad_value, "path must be absolute, and is \"" + path + "\"");
    if (path.contains('\0')) return fail(Code::bad_value, "path must not contain a NUL byte");
    std::string const top = folder.ends_with('/') ? folder : folder + "/";
    if (!path.starts_with(top) || path.size() == top.size())
        return fail(Code::bad_value, path + " is outside of the session's folder, " + folder);
    return path.substr(path.find_first_not_of('/', top.size() - 1));
}

// Returns `limit` lines, beginning with line `first` (lines count from 1).
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

}  // namespace

void refuse(rpc::Peer& rpc, Json const& id, std::string const& why) {
    rpc.refuse(id, rpc::code::invalid_params, why);
}

void refuse(rpc::Peer& rpc, Json const& id, Error const& error) {
    if (error.code == Code::not_found) return rpc.refuse(id, code_not_found, error.detail);
    if (error.code == Code::bad_value || error.code == Code::too_large)
        return refuse(rpc, id, error.detail);
    rpc.refuse(id, rpc::code::internal_error, error.detail);
}

void ClientFiles::offer(json::Writer& out) const {
    out.key("fs").begin_object().member("readTextFile", settings_.reads_files);
    out.member("writeTextFile", settings_.writes_files).end_object();
}

bool ClientFiles::request(std::string const& method, Json const& id, json::View params,
                          std::string const& folder) {
    bool const reads = method == "fs/read_text_file" && settings_.reads_files;
    bool const writes = method == "fs/write_text_file" && settings_.writes_files;
    if (reads) read(id, params, folder);
    if (writes) write(id, params, folder);
    return reads || writes;
}

void ClientFiles::read(Json const& id, json::View params, std::string const& folder) {
    auto path = path_in(folder, params["path"].string_or(""));
    if (!path) return refuse(rpc_, id, path.error());
    if (open_ >= open_max) return refuse(rpc_, id, "Too many file requests are open.");
    std::int64_t const first = params["line"].integer_or(1);
    std::int64_t const limit = params["limit"].integer_or(INT64_MAX);
    if (first < 1 || limit < 0)
        return refuse(rpc_, id, "line must be at least 1, and limit must not be negative");
    ++open_;
    settings_.files->read(folder, *std::move(path), bytes_max,
                          scope_.guard([this, id, first, limit](Result<std::string> content) {
                              --open_;
                              if (!content) return refuse(rpc_, id, content.error());
                              if (!valid_utf8(*content))
                                  return refuse(rpc_, id, "The file is not UTF-8 text.");
                              json::Writer out;
                              out.begin_object().member("content",
                                                        lines_of(*content, first, limit));
                              rpc_.respond(id, out.end_object().json());
                          }));
}

void ClientFiles::write(Json const& id, json::View params, std::string const& folder) {
    auto path = path_in(folder, params["path"].string_or(""));
    if (!path) return refuse(rpc_, id, path.error());
    auto content = params["content"].string();
    if (!content) return refuse(rpc_, id, "content must be a string.");
    if (content->size() > bytes_max)
        return refuse(rpc_, id, "content must be at most " + std::to_string(bytes_max) + " bytes.");
    if (open_ >= open_max) return refuse(rpc_, id, "Too many file requests are open.");
    ++open_;
    settings_.files->write(folder, *std::move(path), *std::move(content),
                           scope_.guard([this, id](Result<void> written) {
                               --open_;
                               if (!written) return refuse(rpc_, id, written.error());
                               rpc_.respond(id, Json::trusted("{}"));
                           }));
}

void ClientFiles::close() {
    scope_.end();
    open_ = 0;
}

}  // namespace dormouse::acp
