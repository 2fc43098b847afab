#pragma once
// Sends mail for the outer layers. Resolves names to sessions when mail is sent (later changes of
// aliases do not matter), and follows each mail for a while. On the loop.

#include "base/scope.h"
#include "port/mailer.h"
#include "runner/runner.h"

#include <list>

namespace dormouse::runner {

// A receiver as named in a draft, and the session that it means.
struct MailReceiver {
    std::string name;
    std::optional<session::MailTarget> target = {};
    bool barred = false;    // the session exists, but the draft may not reach its agent
    std::string hint = {};  // of an unknown name: what may have been meant
};

class MailService final : public port::Mailer {
public:
    // The arguments outlive this; the loop runs nothing of this after it is destroyed.
    MailService(port::Loop& loop, port::Journal& journal, Runner& runner);

    void send(SessionId from, port::MailDraft draft, port::MailSender sender, Duration wait,
              port::Fn<void(Result<port::MailSubmission>)> done) override;

    // The result of a person's mail for one receiver.
    struct Handed {
        std::string name;
        std::optional<SessionId> session;
        Result<session::Answer> answer;
    };
    void hand_in(std::string const& project, port::MailDraft draft, Asker asker,
                 port::Fn<void(Result<std::vector<Handed>>)> done);
    // Call from Observer::delivered().
    void delivered(session::OutboxKey const& key, Result<session::Answer> const& answer);

private:
    using Names = std::vector<MailReceiver>;
    struct Sending;
    using Ptr = std::shared_ptr<Sending>;

    // `others`: further projects whose sessions may be named.
    void resolve(std::string const& project, std::vector<std::string> const& others,
                 port::MailDraft const& draft, std::optional<SessionId> except,
                 port::Fn<void(Result<Names>)> done);
    void send_to(Ptr const& sending, Names names, port::MailDraft draft, Asker asker);
    void sent(Ptr const& sending, Result<session::Answer> answer);
    void recall(Ptr const& sending, Seq seq);
    void finish(Ptr const& sending);

    port::Loop& loop_;
    port::Journal& journal_;
    Runner& runner_;
    std::list<Ptr> sending_;
    Scope scope_;
};

}  // namespace dormouse::runner
