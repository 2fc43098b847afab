#pragma once
// The valid tokens, links and cookies in memory, against which every request is checked. A secret
// is found by its digest, so lookup time reveals nothing about other secrets. On the loop.

#include "base/crypto/sha256.h"
#include "port/world.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dormouse::http {

// Each role contains those before it. `anyone`: needs no role; the transport admits the request.
enum class Role : std::uint8_t { anyone, read, answer, operate, admin };
[[nodiscard]] std::string_view text(Role role);
[[nodiscard]] std::optional<Role> parse_role(
    std::string_view word);  // accepts every role but `anyone`

// The kind of rows that keep a secret from being valid, also if a process begins with it (see
// port::TokenRow::kind).
inline constexpr std::string_view revoked_kind = "revoked";

// The holder of a token and what it permits.
struct Principal {
    port::TokenRow row;
    Role role = Role::read;
    bool built_in = false;  // from the environment or the data directory; not in the store
    bool revoked = false;
    std::string made_by =
        {};  // of a link: who made it; empty: unknown, because a restart forgets it
    // Set for the token of a session's external agent: it makes calls, starts tasks and sends mail
    // for its session. It sees no other session and cannot settle a call.
    std::optional<SessionId> session = {};

    [[nodiscard]] bool is_cookie() const { return row.kind == "cookie"; }
    [[nodiscard]] bool for_all_projects() const { return row.projects.empty(); }
    [[nodiscard]] bool is_for(std::string_view project) const;
    // `runs_programs`: the agent can do everything that the server's user can.
    [[nodiscard]] bool may_start(std::string_view agent, bool runs_programs) const;
    [[nodiscard]] bool may_start_all() const;
    [[nodiscard]] bool valid(Time now) const;
};
using PrincipalPtr = std::shared_ptr<Principal const>;

class Tokens {
public:
    static constexpr std::size_t most = 10'000;

    explicit Tokens(port::Clock const& clock) : clock_(clock) {}

    // Adds an admin of all projects.
    void add_built_in(std::string const& name, std::string_view secret);
    // Adds a row. A row with an unknown role permits nothing. One of `revoked_kind` removes what
    // has its secret.
    void add(port::TokenRow row);
    // The store has these rows: adds those that are new, removes those that are gone. A built-in
    // token that was revoked stays so until the process ends.
    void replace_stored(std::vector<port::TokenRow> const& rows);
    // Adds the token of a session's external agent and removes the session's earlier one. It ends
    // with this process.
    void add_agent_token(SessionId session, std::string_view secret);
    void remove_agent_token(SessionId const& session);
    // Notes who made a link. Does nothing if it is unknown.
    void note_maker(std::string const& id, std::string name);
    void remove(std::string const& id);  // holders of the pointer see that it is revoked

    // Returns nullptr when unknown, expired or revoked.
    [[nodiscard]] PrincipalPtr find(std::string_view kind, std::string_view secret) const;
    [[nodiscard]] PrincipalPtr find_id(std::string const& id) const;
    // Returns all by id, without expired ones and those of external agents.
    [[nodiscard]] std::vector<PrincipalPtr> all() const;
    [[nodiscard]] std::size_t size() const { return by_secret_.size(); }
    // Returns the ids of those that have expired.
    [[nodiscard]] std::vector<std::string> expired() const;

private:
    struct ByFirstBytes {
        std::size_t operator()(Sha256 const& digest) const;
    };
    void put(Principal principal);
    void remove_secret(Sha256 const& digest);

    port::Clock const& clock_;
    std::unordered_map<Sha256, std::shared_ptr<Principal>, ByFirstBytes> by_secret_;
    std::unordered_map<std::string, Sha256> secret_of_;  // by id
};

}  // namespace dormouse::http
