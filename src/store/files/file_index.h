#pragma once
// The index as JSON files below a folder:
//   storage/pending_tool/{pendingID}.json
//   storage/pending_tool/index.json
//   storage/session/{project}/{sessionID}.json
// A call or session is one file, written at once; index.json, which grows with the number of calls,
// is written by flush() alone, the less often the larger it is. It holds the position: after a
// crash the feed is read from there again. Blocks.

#include "port/index.h"
#include "store/files/contents.h"
#include "store/files/folder.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dormouse::store {

class FileIndex final : public port::Index {
public:
    // `directory` exists, or will when the index is opened.
    explicit FileIndex(std::string directory) : directory_(std::move(directory)) {}

    [[nodiscard]] std::string_view name() const override { return "files"; }
    [[nodiscard]] Result<std::string> open() override;
    [[nodiscard]] Result<void> begin_rebuild() override;
    [[nodiscard]] Result<void> apply(port::IndexBatch const& batch) override;
    [[nodiscard]] Result<void> flush() override;
    [[nodiscard]] std::optional<Duration> flush_within() const override;

private:
    struct Folders {
        files::Folder calls;
        files::Folder sessions;
    };
    [[nodiscard]] Result<void> open_folders();
    [[nodiscard]] Result<bool> is_complete() const;
    [[nodiscard]] Result<std::set<SessionId>> stored_sessions() const;
    [[nodiscard]] Result<void> write_calls(std::vector<port::CallDocument> const& calls);
    [[nodiscard]] Result<void> write_sessions(std::vector<port::SessionDocument> const& sessions);
    [[nodiscard]] Result<void> remove(std::vector<port::DeletedSession> const& deleted);
    [[nodiscard]] Result<void> end_rebuild();
    [[nodiscard]] Result<void> remove_other_sessions() const;

    std::string const directory_;
    std::optional<Folders> folders_ = {};  // nullopt: not open
    files::Contents contents_ = {};
    bool unflushed_ = false;
    bool rebuilding_ = false;
    std::set<SessionId> rebuilt_ = {};  // sessions that were written since begin_rebuild()
};

}  // namespace dormouse::store
