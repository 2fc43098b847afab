#pragma once
// The rows of keys.cc about people and how they sign in.

#include "config/rows/rows.h"

namespace dormouse::config::rows {

inline constexpr Key oidc_rows[] = {
    text<&Oidc::issuer>("issuer", rows::issuer,
                        "The provider's address, exactly as it names itself; https, except on this "
                        "machine.")
        .like("https://id.example.org"),
    text<&Oidc::name>("name", some_text.sized(1, 64),
                      "Name for people: \"Sign in with NAME\" on the sign-in page.")
        .like("Example ID"),
    text<&Oidc::client_id>("client_id", some_text.sized(1, 256),
                           "This server's name there. The redirect URI is "
                           "PUBLIC_URL/sign-in/oidc/callback.")
        .like("dormouse"),
    text<&Oidc::client_secret>("client_secret_env", variable,
                               "The variable with the client's secret; default: a public client.")
        .like("OIDC_SECRET"),
    texts<&Oidc::scopes>("scopes", some_text.sized(1, 128),
                         "The scopes to ask for; openid must be among them."),
    text<&Oidc::groups_claim>("groups_claim", some_text.sized(1, 256),
                              "The claim of the ID token with the person's groups: a name, or a "
                              "JSON pointer."),
    text<&Oidc::name_claim>("name_claim", some_text.sized(1, 256),
                            "The claim with the person's name in receipts and in the audit log. "
                            "Choose one that people cannot change themselves."),
    table<&Oidc::roles>("roles",
                        "Groups, and what their members may do; nobody else may sign in, except a "
                        "[[user]].")
        .like(R"({ approvers = "answer", team-a = { role = "operate", projects = ["a"] } })"),
    duration<&Oidc::session_length>("session_length", {60 * second, 30 * day},
                                    "Time for which a browser stays signed in."),
};

inline constexpr Key user_rows[] = {
    text<&User::name>("name", id, "Their name in receipts and in the audit log.").needed(),
    word<&User::role>("role", "read, answer, operate, admin", "Role of the person."),
    texts<&User::projects>("projects", id, "Only these projects; empty: all.")
        .like(R"(["default"])"),
    text<&User::email>("email", email, "Their e-mail address, for notifications and sign-in links.")
        .like("alice@example.org"),
    text<&User::slack>("slack", id,
                       "Their Slack member id; with it they decide by the buttons of a message.")
        .like("U0123456789"),
    text<&User::oidc_subject>("oidc_subject", some_text.sized(1, 255),
                              "Their subject (sub) at the issuer of [oidc]; without it their "
                              "verified email is compared.")
        .like("248289761001"),
};

}  // namespace dormouse::config::rows
