#pragma once
// The people of the configuration ([[user]]), and how other services name them.

#include "http/access/tokens.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::port {
class MailClient;
}

namespace dormouse::http {

struct Person {
    std::string name;
    Role role = Role::answer;
    std::vector<std::string> projects = {};  // empty: all
    std::string email = {};
    std::string slack = {};    // member id
    std::string subject = {};  // at the issuer of [oidc]
};

struct People {
    std::vector<Person> persons = {};
    // Signing secrets of Slack apps whose buttons decide; empty: none does.
    std::vector<std::string> slack_secrets = {};
    port::MailClient* mail = nullptr;  // null: no e-mail is sent
    std::string mail_from = {};

    // Returns nullptr if no person has this value, or if it is empty.
    [[nodiscard]] Person const* find(std::string Person::* member, std::string_view value) const {
        auto const found = std::ranges::find(persons, value, member);
        return value.empty() || found == persons.end() ? nullptr : &*found;
    }
};

// Returns the rights of a person in a request that another service has verified.
[[nodiscard]] inline PrincipalPtr principal_of(Person const& person) {
    auto out = std::make_shared<Principal>();
    out->row = {.id = "user " + person.name,
                .kind = "token",
                .name = person.name,
                .role = std::string(text(person.role)),
                .projects = person.projects};
    out->role = person.role;
    return out;
}

}  // namespace dormouse::http
