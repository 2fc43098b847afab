#include "session/mail.h"

#include <array>

namespace dormouse::session {

namespace {
constexpr std::array<std::string_view, 3> wakes{"usual", "always", "never"};
constexpr std::array<std::string_view, 4> holds{"none", "quiet", "minute", "held"};

template <class E, std::size_t N>
std::optional<E> find(std::array<std::string_view, N> const& words, std::string_view word) {
    for (std::size_t i = 0; i < N; ++i) {
        if (words[i] == word) return static_cast<E>(i);
    }
    return std::nullopt;
}
}  // namespace

std::string_view text(Wake v) { return wakes.at(static_cast<std::size_t>(v)); }
std::string_view text(MailHold v) { return holds.at(static_cast<std::size_t>(v)); }
template <> std::optional<Wake> parse<Wake>(std::string_view word) {
    return find<Wake>(wakes, word);
}
template <> std::optional<MailHold> parse<MailHold>(std::string_view word) {
    return find<MailHold>(holds, word);
}

std::string text(MailId const& id) { return numbered_id("mail_", id.session, id.seq); }

std::optional<MailId> parse_mail_id(std::string_view text) {
    auto const id = parse_numbered("mail_", text);
    if (!id) return std::nullopt;
    return MailId{id->session, id->number};
}

}  // namespace dormouse::session
