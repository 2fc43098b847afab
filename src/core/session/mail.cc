#include "session/mail.h"

#include "base/enum_words.h"

namespace dormouse::session {

std::string_view text(Wake v) { return word_of(v); }
std::string_view text(MailHold v) { return word_of(v); }
template <> std::optional<Wake> parse<Wake>(std::string_view word) { return from_word<Wake>(word); }
template <> std::optional<MailHold> parse<MailHold>(std::string_view word) {
    return from_word<MailHold>(word);
}

std::string text(MailId const& id) { return numbered_id("mail_", id.session, id.seq); }

std::optional<MailId> parse_mail_id(std::string_view text) {
    auto const id = parse_numbered("mail_", text);
    if (!id) return std::nullopt;
    return MailId{id->session, id->number};
}

}  // namespace dormouse::session
