#pragma once
// Confines an external agent's program: the words before its command line.

#include <dormouse/error.h>

#include "io/folder.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::app {

struct Confinement {
    bool sandbox = false;     // bwrap: it writes only in its session's folder and its state
    std::string run_as = {};  // a user; empty: the server's
    std::vector<std::string> state = {};   // its own folders and files, relative to its home
    std::string hidden = {};               // a folder of the server that the sandbox hides
    std::vector<std::string> others = {};  // folders of other sessions that the sandbox hides
    std::vector<std::string> needed = {};  // files that it needs to run
};

struct Confined {
    // The words that build the sandbox for a command in `folder` (absolute, without links). Empty:
    // no sandbox.
    std::function<std::vector<std::string>(std::string const& folder)> before;
    // Variables that replace the server's.
    std::vector<std::pair<std::string, std::string>> environment = {};
};

// Errors: bad_value, with what this machine or this user lacks.
[[nodiscard]] Result<Confined> confine(Confinement how);

// nullopt: the user does not exist.
[[nodiscard]] std::optional<io::FileRights> rights_of(std::string const& user);

// Why a program that runs as `user` (empty: the server's) could write to or replace the server's
// data in `data`, and what to do; empty: it cannot.
[[nodiscard]] std::string data_problem(std::string const& user, std::string const& data);

// Returns true if the two are the same or one contains the other, after following links.
[[nodiscard]] bool overlap(std::string const& folder, std::string const& other);

}  // namespace dormouse::app
