#include "base/text/chars.h"
#include "http/resources/calls/handlers.h"
#include "http/resources/rights.h"

#include <algorithm>

// Reassigns a pending call to other answerers.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::string_view role_prefix = "role:";

std::string role_text(Role role) { return std::string(role_prefix) + std::string(text(role)); }

// The roles of the answer terms that everybody with `role` has.
std::vector<std::string> roles_within(Role role) {
    std::vector<std::string> out;
    for (Role const each : {Role::answer, Role::operate, Role::admin}) {
        if (role >= each) out.push_back(role_text(each));
    }
    return out;
}

// The roles that each token of this name has which may answer in the project; empty: there is none.
std::vector<std::string> roles_of(Api& api, std::string const& name, std::string const& project) {
    std::optional<Role> least;
    for (PrincipalPtr const& one : api.services().gate.tokens().all()) {
        bool const link = one->row.kind == "link";
        bool const here = one->row.name == name && one->is_for(project) && !link;
        if (!here || one->role < Role::answer) continue;
        least = std::min(least.value_or(Role::admin), one->role);
    }
    return least ? roles_within(*least) : std::vector<std::string>{};
}

std::optional<Error> add(Api& api, std::string const& name, std::size_t number,
                         std::string const& project, std::vector<Reassign::To>& to) {
    std::string const pointer = "/to/" + std::to_string(number);
    if (std::ranges::find(to, name, &Reassign::To::name) != to.end()) return std::nullopt;
    if (auto error = wrong_answerer(name, pointer)) return error;
    auto const role = name.starts_with(role_prefix)
                          ? parse_role(std::string_view(name).substr(role_prefix.size()))
                          : std::nullopt;
    to.push_back({name, role ? roles_within(*role) : roles_of(api, name, project)});
    return std::nullopt;
}

Result<Reassign> read_reassign(Api& api, ExchangePtr const& x, PendingId const& pending,
                               std::string const& project) {
    Body body(json::View(x->body), reassign_request);
    Reassign command{pending, {}};
    auto const names = body.array("to");
    if (body.error()) return std::unexpected(*body.error());
    std::optional<Error> error;
    std::size_t number = 0;
    names->elements([&](json::View one) {
        auto const name = one.string();
        std::string const pointer = "/to/" + std::to_string(number);
        if (!name && !error) error = bad_value(pointer, "must be a string");
        if (!error) error = add(api, *name, number, project, command.to);
        ++number;
    });
    if (error) return std::unexpected(*std::move(error));
    return command;
}

// As tokens are named.
bool is_person(std::string_view name) {
    constexpr std::size_t bytes_max = 64;
    return !name.empty() && name.size() <= bytes_max && is_made_of(name, "_.@-");
}

}  // namespace

std::optional<Error> wrong_answerer(std::string_view name, std::string const& pointer) {
    if (!name.starts_with(role_prefix)) {
        if (is_person(name)) return std::nullopt;
        return bad_value(pointer, "must be the name of a person, or role:ROLE");
    }
    auto const role = parse_role(name.substr(role_prefix.size()));
    if (role && *role >= Role::answer) return std::nullopt;
    return bad_value(pointer, "must be role:answer, role:operate or role:admin");
}

void post_reassign(Api& api, ExchangePtr const& x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    api.services().runner.read_lane(
        pending->session,
        [&api, x, pending = *pending](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane) return x->fail(lane.error());
            auto command = read_reassign(api, x, pending, (*lane)->state().project);
            if (!command) return x->fail(command.error());
            api.services().runner.command(pending.session, *std::move(command), x->asker(),
                                          [&api, x, pending](Result<Answer> answer) {
                                              if (!answer)
                                                  return fail_with_receipt(
                                                      api, x, pending, std::move(answer.error()));
                                              get_pending(api, x);
                                          });
        });
}

}  // namespace dormouse::http
