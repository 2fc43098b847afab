#pragma once
// Reads and writes files in a folder, on a thread of its own. The folder itself is opened without
// following links (openat2 with RESOLVE_NO_SYMLINKS), from its canonical path: another user who may
// rename it could put a link in its place. Files in it are opened with RESOLVE_BENEATH.

#include "base/scope.h"
#include "io/threads/worker.h"
#include "port/folder.h"

#include <sys/types.h>
#include <memory>
#include <optional>
#include <vector>

namespace dormouse::io {

// The user as which files are read and written, if it is another one than the process's.
struct FileRights {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups = {};
};

class FolderHost final : public port::Folders {
public:
    static constexpr std::size_t waiting_max = 1'024;

    // With `rights`, it uses only these, even if the process is root.
    explicit FolderHost(port::Loop& loop, std::optional<FileRights> rights = {});

    void read(std::string folder, std::string path, std::size_t bytes_max,
              port::Fn<void(Result<std::string>)> done) override;
    void write(std::string folder, std::string path, std::string content,
               port::Fn<void(Result<void>)> done) override;

private:
    template <class T> void run(port::Fn<Result<T>()> work, port::Fn<void(Result<T>)> done);

    port::Loop& loop_;
    std::size_t waiting_ = 0;
    bool may_work_ = true;  // used by the worker only
    Worker worker_{"dm-files"};
    Scope scope_;
};

}  // namespace dormouse::io
