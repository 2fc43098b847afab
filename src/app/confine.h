#pragma once
// How far an agent's program reaches: what is built around its command line.

#include <dormouse/error.h>

#include "io/folder.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::app {

struct Confinement {
    bool sandbox = false;     // bwrap: it writes in its session's folder and its state only
    std::string run_as = {};  // a user; empty: ours
    std::vector<std::string> state = {};   // folders and files of its own, seen from its home
    std::string hidden = {};               // a folder of ours that it does not see in the sandbox
    std::vector<std::string> others = {};  // folders whose sessions it does not see either
    std::vector<std::string> needed = {};  // files that it is run with
};

struct Confined {
    // The words that build the sandbox of a command that works in `folder` (absolute, without
    // links). Empty: there is none to build.
    std::function<std::vector<std::string>(std::string const& folder)> before;
    // Variables that take the place of ours.
    std::vector<std::pair<std::string, std::string>> environment = {};
};

// Errors: bad_value, with what this machine or this user lacks.
[[nodiscard]] Result<Confined> confine(Confinement how);

// nullopt: there is no such user.
[[nodiscard]] std::optional<io::FileRights> rights_of(std::string const& user);

// Why a program that runs as `user` (empty: ours) cannot be kept from the server's data in `data`,
// which it may write to or replace, and what to do; empty: it can be.
[[nodiscard]] std::string data_problem(std::string const& user, std::string const& data);

// Whether one of the two lies in the other, or is it, links followed.
[[nodiscard]] bool overlap(std::string const& folder, std::string const& other);

}  // namespace dormouse::app
