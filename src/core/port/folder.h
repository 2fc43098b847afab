#pragma once
// Files of a folder that others name: what the world must offer for it. Implemented by io/folder.h.

#include "port/world.h"

#include <string>

namespace dormouse::port {

// Nothing outside of `folder` is reached, neither by `..` nor by links, also when somebody changes
// them meanwhile; and only regular files are. `path` is seen from the folder. Completions come
// later on the loop, in the order of the calls. Errors: not_found, bad_value, too_large,
// queue_full, internal.
class Folders {
public:
    virtual ~Folders() = default;
    virtual void read(std::string folder, std::string path, std::size_t bytes_max,
                      Fn<void(Result<std::string>)> done) = 0;
    // Makes the file or replaces what is in it; makes no folders.
    virtual void write(std::string folder, std::string path, std::string content,
                       Fn<void(Result<void>)> done) = 0;
};

}  // namespace dormouse::port
