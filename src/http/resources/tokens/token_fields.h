#pragma once
// The members of tokens, and of the answers that create or redeem them (http/objects/fields.h).

#include "http/access/tokens.h"
#include "http/objects/fields.h"

namespace dormouse::http {

using port::TokenRow;

template <>
inline constexpr auto rows<Principal> =
    object("Token", "",
           of(&Principal::row, field("id", &TokenRow::id),
              field("kind", &TokenRow::kind, {.words = "token link cookie"}),
              field("name", &TokenRow::name),
              field("role", &TokenRow::role, {.words = "admin operate answer read"}),
              field("projects", or_null(&TokenRow::projects),
                    {.about = "null: all.", .more = R"("minItems":1,"maxItems":64)"}),
              field("agents", or_null(&TokenRow::agents),
                    {.about = "Agents it may start; null: all that run no programs; \"*\": all.",
                     .more = R"("minItems":1,"maxItems":64)"})),
           field("builtIn", &Principal::built_in),
           nested("time", "",
                  field("created",
                        [](Principal const& one) {
                            return one.built_in ? std::nullopt : std::optional(one.row.created);
                        }),
                  of(&Principal::row, field("expires", &TokenRow::expires))));

// The caller.
struct Me {
    Ref<Principal> who;
};
template <>
inline constexpr auto rows<Me> =
    object("Me", "The caller.",
           of(&Me::who,
              of(&Principal::row,
                 field("name", &TokenRow::name, "As receipts and votes name the person.")),
              field("role", [](Principal const& who) { return text(who.role); },
                    {.words = "read answer operate admin"}),
              of(&Principal::row, field("kind", &TokenRow::kind, {.words = "token cookie"}),
                 field("projects", or_null(&TokenRow::projects), "null: all."),
                 field("expires", &TokenRow::expires, "Milliseconds since 1970; null: never."))));

struct NewToken {
    std::string secret;
    std::optional<Ref<Principal>> token;  // nullopt: revoked in between
};
template <>
inline constexpr auto rows<NewToken> =
    object("NewToken", "", field("secret", &NewToken::secret), field("token", &NewToken::token));

struct NewLink {
    TokenRow row;
    std::string url;
};
template <>
inline constexpr auto rows<NewLink> =
    object("Link", "",
           of(&NewLink::row, field("id", &TokenRow::id), field("name", &TokenRow::name),
              field("role", &TokenRow::role)),
           field("url", &NewLink::url),
           field("expires", [](NewLink const& link) { return link.row.expires.value(); }));

// A link, before it is used.
struct LinkAbout {
    Ref<Principal> link;
    Duration lasts;  // how long the browser stays signed in
};
template <>
inline constexpr auto rows<LinkAbout> = object(
    "LinkAbout", "The purpose of a sign-in link. Reading it does not use it up.",
    of(&LinkAbout::link,
       of(&Principal::row, field("name", &TokenRow::name, "Whom it is for."),
          field("role", &TokenRow::role, {.words = "admin operate answer read"}),
          field("projects", or_null(&TokenRow::projects), "null: all.")),
       field("by", or_null(&Principal::made_by),
             "The person who made it; null: no longer known, because the server was restarted."),
       of(&Principal::row, field("created", &TokenRow::created),
          field("expires", [](TokenRow const& row) { return row.expires.value_or(row.created); }))),
    field(
        "lastsMs", [](LinkAbout const& about) { return about.lasts.count(); },
        "Time for which the browser stays signed in."));

struct SignedIn {
    TokenRow row;
    std::string next;
};
template <>
inline constexpr auto rows<SignedIn> =
    object("SignedIn", "",
           of(&SignedIn::row, field("name", &TokenRow::name), field("role", &TokenRow::role)),
           field("next", &SignedIn::next,
                 "The path to go to: `next` of the request if it is one of this server, else `/`."),
           field("expires", [](SignedIn const& in) { return in.row.expires.value(); }));

}  // namespace dormouse::http
