#pragma once
// The identity and rights of a person, from the claims of their ID token.

#include "http/access/people.h"
#include "oidc/id_token.h"

#include <expected>
#include <string>
#include <vector>

namespace dormouse::http {

// The rights of the members of a group.
struct GroupRole {
    std::string group;
    Role role = Role::read;
    std::vector<std::string> projects = {};  // empty: all
};

struct OidcRules {
    std::string groups_claim = "groups";  // a name, or a JSON pointer
    std::string name_claim = "preferred_username";
    std::vector<GroupRole> roles = {};
};

struct Admitted {
    std::string name;
    Role role = Role::read;
    std::vector<std::string> projects = {};  // empty: all
};

// A [[user]] with this subject, or with this verified e-mail address, has the rights of that entry.
// Everybody else has the highest role of their groups, in the projects of the groups that give it.
// The error says why nobody is signed in and what to do.
[[nodiscard]] std::expected<Admitted, std::string> admit(oidc::Claims const& claims,
                                                         OidcRules const& rules,
                                                         People const& people);

}  // namespace dormouse::http
