#pragma once
// Reads and writes files beneath a folder, on a thread of its own. The folder is reached without
// any link (openat2 with RESOLVE_NO_SYMLINKS), as it was when its path was made canonical: whoever
// may rename it may put a link in its place. What is in it is reached with RESOLVE_BENEATH.

#include "io/worker.h"
#include "port/folder.h"

#include <sys/types.h>
#include <memory>
#include <optional>
#include <vector>

namespace dormouse::io {

// Of the user who reads and writes, where that is another than ours.
struct FileRights {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups = {};
};

class FolderHost final : public port::Folders {
public:
    static constexpr std::size_t waiting_max = 1'024;

    // With rights of another it works with those and no more, also when we are root.
    explicit FolderHost(port::Loop& loop, std::optional<FileRights> rights = {});

    void read(std::string folder, std::string path, std::size_t bytes_max,
              port::Fn<void(Result<std::string>)> done) override;
    void write(std::string folder, std::string path, std::string content,
               port::Fn<void(Result<void>)> done) override;

private:
    template <class T> void run(port::Fn<Result<T>()> work, port::Fn<void(Result<T>)> done);

    port::Loop& loop_;
    std::size_t waiting_ = 0;
    bool may_work_ = true;  // belongs to the worker
    Worker worker_{"dm-files"};
};

}  // namespace dormouse::io
