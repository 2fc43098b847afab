// [oidc]: the provider at which people sign in.
#include "config/parts.h"
#include "config/values.h"

#include "config/members.h"

#include "base/text/text.h"

#include <algorithm>

namespace dormouse::config {

namespace {

constexpr std::string_view roles_form =
    "write for example approvers = \"answer\", or team-a = { role = \"operate\", projects = "
    "[\"a\"] }";
constexpr std::size_t roles_max = 1'000;
constexpr std::size_t group_bytes_max = 256;

// Returns what is wrong with the part of a role; empty: nothing.
std::string take_role(Node const& node, OidcRole& out) {
    constexpr std::string_view words = "read, answer, operate, admin";
    auto const* const word = node.get<std::string>();
    if (word == nullptr || !has_word(words, *word))
        return "whose role must be one of " + std::string(words);
    out.role = *word;
    return {};
}

std::string take_projects(Node const& node, OidcRole& out) {
    constexpr std::size_t id_bytes_max = 64;
    auto const* const list = node.get<Node::Array>();
    if (list == nullptr || list->empty()) return "whose projects must be a list of names";
    for (Node const& each : *list) {
        auto const* const name = each.get<std::string>();
        if (name == nullptr || name->size() > id_bytes_max || misfit(Form::id, *name))
            return "whose projects must be names of letters, digits and _ . -";
        out.projects.push_back(*name);
    }
    return {};
}

std::string take_group(Member const& member, OidcRole& out) {
    out.group = member.name;
    if (member.name.empty() || member.name.size() > group_bytes_max)
        return "whose name must have 1 to 256 bytes";
    auto const* const parts = member.node.get<Node::Table>();
    if (parts == nullptr) return take_role(member.node, out);
    bool has_role = false;
    for (Member const& part : *parts) {
        has_role |= part.name == "role";
        if (part.name != "role" && part.name != "projects")
            return "which must not have " + shown(part.name);
        auto wrong =
            part.name == "role" ? take_role(part.node, out) : take_projects(part.node, out);
        if (!wrong.empty()) return wrong;
    }
    return has_role ? "" : "which has no role";
}

void check_claim(Section const& section, std::string_view key, std::string const& claim) {
    if (claim.starts_with('/') && misfit(Form::pointer, claim))
        section.report(key, "is not a JSON pointer", "write for example \"/realm_access/roles\"");
}

}  // namespace

void take(Value const& value, std::vector<OidcRole>& out) {
    auto const& table = *value.node.get<Node::Table>();
    if (table.size() > roles_max)
        return value.section.report(value.key.name,
                                    "has " + std::to_string(table.size()) + " groups",
                                    "write at most " + std::to_string(roles_max));
    for (Member const& member : table) {
        OidcRole one;
        if (auto const wrong = take_group(member, one); !wrong.empty()) {
            value.section.report(value.key.name,
                                 "has the group " + shown(member.name) + ", " + wrong, roles_form);
        } else {
            out.push_back(std::move(one));
        }
    }
}

std::string initial(Key const& /*key*/, std::vector<OidcRole> const& value) {
    std::string out;
    for (OidcRole const& one : value) {
        std::string projects;
        for (std::string const& project : one.projects)
            projects += (projects.empty() ? "" : ", ") + project;
        out += (out.empty() ? "" : "; ") + one.group + ": " + one.role +
               (projects.empty() ? "" : " in " + projects);
    }
    return out;
}

void finish(Section const& section, Oidc& out) {
    if (out.issuer.empty()) {
        for (Key const* const key : keys_of("oidc"))
            if (section.given(key->name) && key->name != "issuer")
                return section.require("issuer", "write the address of the provider");
        return;
    }
    section.require("client_id", "write this server's name at the provider");
    if (std::ranges::find(out.scopes, "openid") == out.scopes.end())
        section.report("scopes", "has no \"openid\"", "add \"openid\"");
    for (std::string const& scope : out.scopes) {
        if (scope.find_first_of(" \t\"\\") != std::string::npos)
            section.report("scopes", "names " + shown(scope) + ", which is not one scope",
                           "write each scope as a text of its own");
    }
    check_claim(section, "groups_claim", out.groups_claim);
    check_claim(section, "name_claim", out.name_claim);
}

void relate(Section const& section, Oidc const& oidc, std::vector<Placed<User>> const& users) {
    bool const wrong = section.given("roles") && section.node("roles") == nullptr;
    bool somebody = wrong || !oidc.roles.empty();
    for (auto const& [user, its] : users) {
        somebody |= !user.oidc_subject.empty() || !user.email.empty();
        if (oidc.issuer.empty() && !section.given("issuer") && !user.oidc_subject.empty())
            its.report("oidc_subject", "is set, and there is no provider",
                       "add issuer and client_id to [oidc]");
    }
    if (!oidc.issuer.empty() && !somebody)
        section.report("roles", "is empty, and no [[user]] can sign in: nobody could",
                       "add the groups that may sign in");
}

}  // namespace dormouse::config
