#pragma once
// Who may come in, as it stands in memory: every request is judged by it. A secret is found by its
// digest, so neither time nor order tells anything about those that are there. On the loop.

#include "base/sha256.h"
#include "port/world.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dormouse::server {

// Each contains those before it. `anyone`: whoever the transport lets in.
enum class Role : std::uint8_t { anyone, read, answer, operate, admin };
[[nodiscard]] std::string_view text(Role role);
[[nodiscard]] std::optional<Role> parse_role(std::string_view word);  // but `anyone`

// Who asks, and what for.
struct Principal {
    port::TokenRow row;
    Role role = Role::read;
    bool built_in = false;  // of the environment or of the data directory; not in the store
    bool revoked = false;
    // Of the program that is this session's agent: it makes calls, starts tasks and sends mail for
    // its session. Of others it sees nothing, and it gives no call its outcome.
    std::optional<SessionId> session = {};

    [[nodiscard]] bool is_cookie() const { return row.kind == "cookie"; }
    [[nodiscard]] bool for_all_projects() const { return row.projects.empty(); }
    [[nodiscard]] bool is_for(std::string_view project) const;
    // `runs_programs`: the agent can do what this server's user can.
    [[nodiscard]] bool may_start(std::string_view agent, bool runs_programs) const;
    [[nodiscard]] bool may_start_all() const;
    [[nodiscard]] bool valid(Time now) const;
};
using PrincipalPtr = std::shared_ptr<Principal const>;

class Tokens {
public:
    static constexpr std::size_t most = 10'000;

    explicit Tokens(port::Clock const& clock) : clock_(clock) {}

    // An admin of all projects.
    void add_built_in(std::string const& name, std::string_view secret);
    // A row whose role is no word of ours lets nobody in.
    void add(port::TokenRow row);
    // Takes the place of the one that the session's program had before; gone with this process.
    void add_program(SessionId session, std::string_view secret);
    void remove_program(SessionId const& session);
    void remove(std::string const& id);  // who holds it sees that it is revoked

    // nullptr: nobody, or not any more.
    [[nodiscard]] PrincipalPtr find(std::string_view kind, std::string_view secret) const;
    [[nodiscard]] PrincipalPtr find_id(std::string const& id) const;
    // By id; those that have expired, and those of programs, are left out.
    [[nodiscard]] std::vector<PrincipalPtr> all() const;
    [[nodiscard]] std::size_t size() const { return by_secret_.size(); }
    // Ids of those that have expired.
    [[nodiscard]] std::vector<std::string> expired() const;

private:
    struct ByFirstBytes {
        std::size_t operator()(Sha256 const& digest) const;
    };
    void put(Principal principal);

    port::Clock const& clock_;
    std::unordered_map<Sha256, std::shared_ptr<Principal>, ByFirstBytes> by_secret_;
    std::unordered_map<std::string, Sha256> secret_of_;  // by id
};

}  // namespace dormouse::server
