#include "http/access/tokens.h"

#include "base/enum_words.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace dormouse::http {

std::string_view text(Role role) { return word_of(role); }

std::optional<Role> parse_role(std::string_view word) {
    auto const role = from_word<Role>(word);
    return role == Role::anyone ? std::nullopt : role;
}

bool Principal::is_for(std::string_view project) const {
    return row.projects.empty() || std::ranges::find(row.projects, project) != row.projects.end();
}

bool Principal::may_start(std::string_view agent, bool runs_programs) const {
    if (row.agents.empty()) return !runs_programs;
    return std::ranges::any_of(
        row.agents, [&](std::string const& allowed) { return allowed == "*" || allowed == agent; });
}

bool Principal::may_start_all() const { return std::ranges::count(row.agents, "*") > 0; }

bool Principal::valid(Time now) const { return !revoked && (!row.expires || now < *row.expires); }

std::size_t Tokens::ByFirstBytes::operator()(Sha256 const& digest) const {
    std::size_t out = 0;
    std::memcpy(&out, digest.data(), sizeof out);
    return out;
}

void Tokens::add_built_in(std::string const& name, std::string_view secret) {
    Principal made;
    made.row = {.id = name, .kind = "token", .name = name, .role = "admin"};
    made.row.agents = {"*"};
    made.row.secret = sha256(secret);
    made.role = Role::admin;
    made.built_in = true;
    put(std::move(made));
}

void Tokens::add(port::TokenRow row) {
    if (row.kind == revoked_kind) return remove_secret(row.secret);
    auto const role = parse_role(row.role);
    if (!role) return;
    Principal made;
    made.row = std::move(row);
    made.role = *role;
    put(std::move(made));
}

namespace {

std::string agent_token_name(SessionId const& session) { return "program of " + session.text(); }

}  // namespace

void Tokens::replace_stored(std::vector<port::TokenRow> const& rows) {
    std::set<std::string_view> stored;
    for (port::TokenRow const& row : rows) stored.insert(row.id);
    std::vector<std::string> gone;
    for (auto const& [secret, principal] : by_secret_)
        if (!principal->built_in && !stored.contains(principal->row.id))
            gone.push_back(principal->row.id);
    for (std::string const& id : gone) remove(id);
    for (port::TokenRow const& row : rows)
        if (!secret_of_.contains(row.id)) add(row);
}

void Tokens::remove_agent_token(SessionId const& session) { remove(agent_token_name(session)); }

void Tokens::add_agent_token(SessionId session, std::string_view secret) {
    Principal made;
    std::string const name = agent_token_name(session);
    made.row = {.id = name, .kind = "token", .name = name, .role = "operate"};
    made.row.agents = {"*"};  // it is itself a program of the server's user
    made.row.secret = sha256(secret);
    made.role = Role::operate;
    made.built_in = true;
    made.session = session;
    put(std::move(made));
}

void Tokens::put(Principal principal) {
    remove(principal.row.id);
    auto const secret = principal.row.secret;
    secret_of_.insert_or_assign(principal.row.id, secret);
    by_secret_.insert_or_assign(secret, std::make_shared<Principal>(std::move(principal)));
}

void Tokens::note_maker(std::string const& id, std::string name) {
    auto const secret = secret_of_.find(id);
    if (secret == secret_of_.end()) return;
    if (auto const found = by_secret_.find(secret->second); found != by_secret_.end())
        found->second->made_by = std::move(name);
}

void Tokens::remove(std::string const& id) {
    auto const found = secret_of_.find(id);
    if (found == secret_of_.end()) return;
    if (auto const principal = by_secret_.find(found->second); principal != by_secret_.end()) {
        principal->second->revoked = true;
        by_secret_.erase(principal);
    }
    secret_of_.erase(found);
}

void Tokens::remove_secret(Sha256 const& digest) {
    std::vector<std::string> ids;
    for (auto const& [id, secret] : secret_of_)
        if (secret == digest) ids.push_back(id);
    for (std::string const& id : ids) remove(id);
}

PrincipalPtr Tokens::find(std::string_view kind, std::string_view secret) const {
    if (secret.empty()) return nullptr;
    auto const found = by_secret_.find(sha256(secret));
    if (found == by_secret_.end() || found->second->row.kind != kind) return nullptr;
    return found->second->valid(clock_.now()) ? found->second : nullptr;
}

PrincipalPtr Tokens::find_id(std::string const& id) const {
    auto const secret = secret_of_.find(id);
    if (secret == secret_of_.end()) return nullptr;
    auto const found = by_secret_.find(secret->second);
    return found == by_secret_.end() ? nullptr : found->second;
}

std::vector<PrincipalPtr> Tokens::all() const {
    std::vector<PrincipalPtr> out;
    for (auto const& [secret, principal] : by_secret_)
        if (!principal->session && principal->valid(clock_.now())) out.push_back(principal);
    std::ranges::sort(out, {}, [](PrincipalPtr const& p) { return p->row.id; });
    return out;
}

std::vector<std::string> Tokens::expired() const {
    std::vector<std::string> out;
    for (auto const& [secret, principal] : by_secret_)
        if (!principal->valid(clock_.now())) out.push_back(principal->row.id);
    return out;
}

}  // namespace dormouse::http
