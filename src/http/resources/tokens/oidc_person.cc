#include "http/resources/tokens/oidc_person.h"

#include "base/text/text.h"
#include "http/resources/tokens/token_changes.h"
#include "json/json.h"

#include <algorithm>
#include <set>

namespace dormouse::http {

namespace {

using Texts = std::set<std::string, std::less<>>;

json::View claim_of(json::View claims, std::string const& name) {
    return name.starts_with('/') ? claims.at_pointer(name) : claims[name];
}

// A list of texts, or one text.
Texts texts_of(json::View value) {
    Texts out;
    if (auto one = value.string()) out.insert(*std::move(one));
    value.elements([&out](json::View each) {
        if (auto one = each.string()) out.insert(*std::move(one));
    });
    return out;
}

// An address that the provider has verified counts, unless its entry names another subject.
Person const* find_person(oidc::Claims const& claims, People const& people) {
    if (Person const* const known = people.find(&Person::subject, claims.subject)) return known;
    json::View const view(claims.all);
    std::string const email = lower_case(view["email"].string_or(""));
    if (email.empty() || !view["email_verified"].boolean_or(false)) return nullptr;
    auto const found = std::ranges::find_if(people.persons, [&](Person const& one) {
        return one.subject.empty() && lower_case(one.email) == email;
    });
    return found == people.persons.end() ? nullptr : &*found;
}

// Returns true if the name belongs to another [[user]] or to one of the server's own tokens.
bool is_taken(std::string const& name, People const& people) {
    std::string const small = lower_case(name);
    if (small == "env" || small == "first") return true;
    return std::ranges::any_of(people.persons,
                               [&](Person const& one) { return lower_case(one.name) == small; });
}

// The highest role of the groups; nullopt: none of them has one.
std::optional<Admitted> by_groups(Texts const& groups, std::vector<GroupRole> const& roles) {
    std::optional<Admitted> out;
    bool all = false;
    for (GroupRole const& one : roles) {
        if (!groups.contains(one.group) || (out && one.role < out->role)) continue;
        if (!out || one.role > out->role) {
            out = Admitted{{}, one.role, {}};
            all = false;
        }
        all |= one.projects.empty();
        for (std::string const& project : one.projects) {
            if (std::ranges::find(out->projects, project) == out->projects.end())
                out->projects.push_back(project);
        }
    }
    if (out && all) out->projects.clear();
    return out;
}

std::string no_group(Texts const& groups, std::string const& claim) {
    constexpr std::size_t shown_max = 10;
    if (groups.empty())
        return "The provider named no group of yours (claim " + claim +
               "). Ask the administrator to let it send your groups.";
    std::string list;
    std::size_t shown = 0;
    for (std::string const& group : groups) {
        if (shown++ == shown_max) break;
        list += (list.empty() ? "" : ", ") + group.substr(0, 64);
    }
    return "None of your groups may use this server: " + list +
           (groups.size() > shown_max ? ", and others" : "") +
           ". Ask the administrator to add one of them to roles in [oidc].";
}

}  // namespace

std::expected<Admitted, std::string> admit(oidc::Claims const& claims, OidcRules const& rules,
                                           People const& people) {
    if (Person const* const known = find_person(claims, people))
        return Admitted{known->name, known->role, known->projects};
    json::View const view(claims.all);
    Texts const groups = texts_of(claim_of(view, rules.groups_claim));
    auto out = by_groups(groups, rules.roles);
    if (!out) return std::unexpected(no_group(groups, rules.groups_claim));
    out->name = claim_of(view, rules.name_claim).string_or("");
    if (!is_token_name(out->name))
        return std::unexpected("The claim " + rules.name_claim +
                               " must be a name of letters, digits and _ . - @, of at most 64 "
                               "bytes. Ask the administrator to set name_claim in [oidc].");
    if (is_taken(out->name, people))
        return std::unexpected("The name " + out->name +
                               " belongs to somebody else on this server. Ask the administrator to "
                               "add your subject, " +
                               claims.subject + ", to your [[user]].");
    return *std::move(out);
}

}  // namespace dormouse::http
