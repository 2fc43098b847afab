#pragma once
// Access to files under a folder by paths that come from outside. Implemented by io/folder.h.

#include "port/world.h"

#include <string>

namespace dormouse::port {

// Reaches only regular files inside `folder`: not by `..`, not by links, not even if links change
// during the call. `path` is relative to the folder. Completions come later on the loop, in the
// order of the calls. Errors: not_found, bad_value, too_large, queue_full, internal.
class Folders {
public:
    virtual ~Folders() = default;
    virtual void read(std::string folder, std::string path, std::size_t bytes_max,
                      Fn<void(Result<std::string>)> done) = 0;
    // Creates the file or replaces its content; creates no folders.
    virtual void write(std::string folder, std::string path, std::string content,
                       Fn<void(Result<void>)> done) = 0;
};

}  // namespace dormouse::port
