#pragma once
// Reads and writes files beneath a folder with openat2(RESOLVE_BENEATH), on a thread of its own.

#include "io/worker.h"
#include "port/folder.h"

#include <memory>

namespace dormouse::io {

class FolderHost final : public port::Folders {
public:
    static constexpr std::size_t waiting_max = 1'024;

    explicit FolderHost(port::Loop& loop) : loop_(loop) {}

    void read(std::string folder, std::string path, std::size_t bytes_max,
              port::Fn<void(Result<std::string>)> done) override;
    void write(std::string folder, std::string path, std::string content,
               port::Fn<void(Result<void>)> done) override;

private:
    template <class T> void run(port::Fn<Result<T>()> work, port::Fn<void(Result<T>)> done);

    port::Loop& loop_;
    std::size_t waiting_ = 0;
    Worker worker_{"dm-files"};
};

}  // namespace dormouse::io
