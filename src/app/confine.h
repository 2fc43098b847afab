#pragma once
// How far an agent's program reaches: what stands before its command line.

#include <dormouse/error.h>

#include <functional>
#include <string>
#include <vector>

namespace dormouse::app {

struct Confinement {
    bool sandbox = false;     // bwrap: it writes in its session's folder and its state only
    std::string run_as = {};  // a user; empty: ours
    std::vector<std::string> state = {};  // folders and files of its own, seen from its home
    std::string hidden = {};              // a folder of ours that it does not see in the sandbox
};

struct Confined {
    // The words before a command that works in `folder` (absolute, without links). It ends with us.
    std::function<std::vector<std::string>(std::string const& folder)> before;
    std::vector<std::string> environment = {};  // that takes the place of ours
};

// Errors: bad_value, with what this machine or this user lacks.
[[nodiscard]] Result<Confined> confine(Confinement how);

}  // namespace dormouse::app
