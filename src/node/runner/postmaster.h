#pragma once
// Mail for the faces: names become sessions here (at the door: who has an alias later does not
// matter), and what becomes of a mail is followed for a while. On the loop.

#include "port/mailer.h"
#include "runner/runner.h"

#include <list>

namespace dormouse::runner {

// A name in a letter, and the session behind it.
struct MailReceiver {
    std::string name;
    std::optional<session::MailTarget> target = {};
    bool barred = false;  // there is one, and the letter does not reach its agent
};

class Postmaster final : public port::Mailer {
public:
    // All outlive this, and the loop runs nothing of its own after it is gone.
    Postmaster(port::Loop& loop, port::Journal& journal, Runner& runner);
    ~Postmaster() override { *alive_ = false; }
    Postmaster(Postmaster const&) = delete;
    Postmaster& operator=(Postmaster const&) = delete;

    void send(SessionId from, port::Letter letter, port::MailSender sender, Duration wait,
              port::Fn<void(Result<port::MailPosted>)> done) override;

    // A person's mail: each receiver has one of its own.
    struct Handed {
        std::string name;
        std::optional<SessionId> session;
        Result<session::Answer> answer;
    };
    void hand_in(std::string const& project, port::Letter letter, Asker asker,
                 port::Fn<void(Result<std::vector<Handed>>)> done);
    // As Observer::delivered(): the runner's observer calls it.
    void delivered(session::PostKey const& key, Result<session::Answer> const& answer);

private:
    using Names = std::vector<MailReceiver>;
    struct Sending;
    using Ptr = std::shared_ptr<Sending>;

    // `others`: projects whose sessions may be named too.
    void resolve(std::string const& project, std::vector<std::string> const& others,
                 port::Letter const& letter, std::optional<SessionId> except,
                 port::Fn<void(Result<Names>)> done);
    void send_to(Ptr const& sending, Names names, port::Letter letter, Asker asker);
    void sent(Ptr const& sending, Result<session::Answer> answer);
    void recall(Ptr const& sending, Seq seq);
    void finish(Ptr const& sending);

    port::Loop& loop_;
    port::Journal& journal_;
    Runner& runner_;
    std::list<Ptr> sending_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::runner
