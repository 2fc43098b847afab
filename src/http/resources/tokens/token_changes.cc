#include "http/resources/tokens/token_changes.h"

#include "base/text/chars.h"
#include "base/text/names.h"
#include "base/text/text.h"
#include "http/objects/body.h"
#include "http/resources/shared_access.h"
#include "json/json.h"
#include "wire/audit.h"

#include <algorithm>

namespace dormouse::http {

namespace {

std::string audit_line(ChangeNote const& note, Time at, port::TokenRow const& row) {
    json::Writer out = wire::begin_audit_line(note.type, at, note.by);
    out.member("tokenID", row.id).member("kind", row.kind).member("name", row.name);
    out.member("role", row.role);
    if (!note.issuer.empty()) out.member("issuer", note.issuer).member("subject", note.subject);
    return out.end_object().take();
}

std::vector<std::string> read_names(Body& body, std::string_view field, std::string_view also) {
    std::vector<std::string> out;
    auto const list = body.array(field);
    if (!list) return out;
    list->elements([&](json::View one) {
        auto name = one.string().value_or("");
        if (!is_short_name(name, also)) body.refuse(field, "must be names: [A-Za-z0-9_.-]{1,64}");
        if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
    });
    if (list->size() == 0) body.refuse(field, "must not be empty; leave it out for the default");
    return out;
}

}  // namespace

Minted mint(Api& api, std::string_view prefix, port::TokenRow row, std::optional<Duration> lives) {
    Services& services = api.services();
    Random const id = services.entropy.random();
    Random const random = services.entropy.random();
    Minted out{std::move(row), std::string(prefix) + base64url(random)};
    out.row.id = "tok_" + base64url(std::span(id).first(16));
    out.row.secret = sha256(out.secret);
    out.row.created = services.runner.now();
    if (lives) out.row.expires = out.row.created + *lives;
    return out;
}

void change_tokens(Api& api, ChangeNote const& note, port::TokenChange change,
                   port::Fn<void(Result<void>)> done) {
    Tokens& tokens = api.services().gate.tokens();
    auto const dropped = tokens.find_id(change.drop);
    port::TokenRow const* const about = change.put ? &*change.put
                                        : dropped  ? &dropped->row
                                                   : nullptr;
    if (about && change.audit.empty())
        change.audit = audit_line(note, api.services().runner.now(), *about);
    // The old one is invalid from here on: if two requests use a link at once, one succeeds.
    tokens.remove(change.drop);
    api.services().journal.write(
        [change](port::AccessStore& store) { return store.change_tokens(change); },
        [&api, change, dropped, changing = api.shared_access().changing(),
         done = std::move(done)](Result<void> answer) mutable {
            changing.reset();
            Tokens& tokens = api.services().gate.tokens();
            if (answer && change.put) tokens.add(*change.put);
            if (answer) api.services().gate.devices().remove_token(change.drop);
            // After a failed revocation the token is valid and can be revoked again. A used link
            // stays used.
            bool const still_there = !answer && answer.error().code != Code::conflict;
            if (still_there && dropped && !change.put) tokens.add(dropped->row);
            api.close_revoked();
            done(std::move(answer));
        });
}

// Two processes that revoke it at the same time write the same row.
void revoke_built_in(Api& api, ChangeNote const& note, Principal const& principal,
                     port::Fn<void(Result<void>)> done) {
    Time const now = api.services().runner.now();
    port::TokenRow row{
        .id = "revoked_" + base64url(std::span(principal.row.secret).first(16)),
        .kind = std::string(revoked_kind),
        .name = principal.row.name,
        .role = principal.row.role,
        .secret = principal.row.secret,
        .created = now,
    };
    std::string audit = audit_line(note, now, principal.row);
    change_tokens(api, note, {.put = std::move(row), .audit = std::move(audit)}, std::move(done));
}

void drop_expired(Api& api) {
    constexpr std::size_t at_once = 100;
    auto expired = api.services().gate.tokens().expired();
    if (expired.size() > at_once) expired.resize(at_once);
    for (std::string const& id : expired)
        change_tokens(api, {"token_expired", {}}, {.drop = id}, [](Result<void> const&) {});
}

bool is_token_name(std::string_view text) { return is_short_name(text, "_.-@"); }

port::TokenRow read_token(Api& api, Body& body) {
    port::TokenRow row;
    row.name = body.string_or_empty("name");
    if (!is_token_name(row.name)) body.refuse("name", "must match [A-Za-z0-9_.@-]{1,64}");
    row.role = body.string_or_empty("role");
    row.projects = read_names(body, "projects", "_.-");
    row.agents = read_names(body, "agents", "_.-*");
    for (std::string const& agent : row.agents) {
        if (agent != "*" && !api.services().catalogue.has_agent(agent))
            body.refuse("agents", "unknown agent '" + agent + "' (GET /api/agents)");
    }
    return row;
}

std::optional<Duration> read_life(Body& body, std::string_view field,
                                  std::optional<Duration> by_default, Duration most) {
    auto const ms = body.integer(field);
    if (!ms) return by_default;
    if (*ms < 1'000 || *ms > most.count())
        body.refuse(field, "must be 1000 to " + std::to_string(most.count()));
    return Duration(*ms);
}

}  // namespace dormouse::http
