#include "runner/mail_service.h"

#include "base/check.h"
#include "base/text/text.h"
#include "session/limits.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;
using Status = port::MailDelivery::Status;

struct MailService::Sending {
    SessionId from;
    port::MailSubmission submitted;
    std::vector<std::size_t> places;  // index in `deliveries` by the number of the message
    // Outcomes that came before the sender's own answer, by event and number of the message.
    std::map<Seq, std::map<std::uint32_t, std::pair<Status, std::string>>> reported;
    std::size_t open = 0;
    Duration wait{};
    port::Fn<void(Result<port::MailSubmission>)> done;
};

namespace {

using Names = std::vector<MailReceiver>;
using Rows = Result<std::vector<port::SessionRow>>;

// The projects in which names are looked up.
struct Directory {
    port::ListStore& store;
    std::vector<std::string> projects;  // the first one is the sender's
    std::function<bool(std::string const&)> reaches;
    Result<void> failed = {};

    [[nodiscard]] MailReceiver receiver(std::string name, std::string alias,
                                        port::SessionRow const& row) const {
        if (reaches && !reaches(row.agent)) return {std::move(name), std::nullopt, true};
        return {std::move(name), MailTarget{row.id, std::move(alias)}};
    }
};

std::optional<MailReceiver> by_id(Directory& in, std::string const& project,
                                  std::string const& name) {
    auto const id = SessionId::parse(name);
    if (!id) return std::nullopt;
    Rows const rows = in.store.sessions(project, id->number() + 1, 1);
    if (!rows) in.failed = std::unexpected(rows.error());
    bool const here = rows && !rows->empty() && rows->front().id == *id;
    if (!here) return std::nullopt;
    return in.receiver(name, {}, rows->front());
}

// `name`: as written in the draft.
std::optional<MailReceiver> by_alias(Directory& in, std::string const& project,
                                     std::string const& alias, std::string const& name) {
    Rows const rows = in.store.aliases(project, alias, 1);
    if (!rows) in.failed = std::unexpected(rows.error());
    if (!rows || rows->empty()) return std::nullopt;
    return in.receiver(name, alias, rows->front());
}

// Leaves out sessions that the draft may not reach.
Result<Names> everybody(Directory const& in, std::optional<SessionId> except) {
    CHECK(!in.projects.empty());
    Rows const rows = in.store.aliases(in.projects.front(), "", limits::mail_receivers_max + 2);
    if (!rows) return std::unexpected(rows.error());
    Names out;
    for (port::SessionRow const& row : *rows) {
        auto receiver = in.receiver(row.alias, row.alias, row);
        if (row.id != except && receiver.target) out.push_back(std::move(receiver));
    }
    return out;
}

MailReceiver find_name(Directory& in, std::string const& name) {
    CHECK(!in.projects.empty());
    for (std::string const& project : in.projects) {
        if (auto found = by_id(in, project, name)) return std::move(*found);
    }
    if (name.empty()) return {name};
    if (auto found = by_alias(in, in.projects.front(), name, name)) return std::move(*found);
    auto const slash = name.find('/');
    if (slash == std::string::npos) return {name};
    std::string const project = name.substr(0, slash);
    std::string const alias = name.substr(slash + 1);
    bool const may = std::ranges::find(in.projects, project) != in.projects.end();
    if (!may || alias.empty()) return {name};
    return by_alias(in, project, alias, name).value_or(MailReceiver{name});
}

// Returns a hint for the writer of an unknown name: the alias that was probably meant, else some
// that exist.
std::string hint_for(std::string const& name, Names const& known) {
    constexpr std::size_t some = 5;
    if (known.empty()) return "no other session here has an alias";
    std::vector<std::string_view> aliases;
    for (MailReceiver const& one : known) aliases.push_back(one.name);
    if (auto const meant = dormouse::nearest(name, aliases); !meant.empty())
        return "did you mean '" + std::string(meant) + "'?";
    std::string out = "aliases here:";
    for (std::size_t i = 0; i < std::min(some, aliases.size()); ++i)
        out += (i == 0 ? " " : ", ") + std::string(aliases[i]);
    return aliases.size() > some ? out + ", …" : out;
}

Result<void> add_hints(Directory const& in, std::optional<SessionId> except, Names& names) {
    std::size_t left = 10;  // each compares with every alias
    std::optional<Names> known;
    for (MailReceiver& one : names) {
        if (one.target || one.barred) continue;
        if (left-- == 0) break;
        if (!known) {
            auto all = everybody(in, except);
            if (!all) return std::unexpected(std::move(all.error()));
            known = std::move(*all);
        }
        one.hint = hint_for(one.name, *known);
    }
    return {};
}

Result<Names> find_names(Directory in, std::vector<std::string> const& names,
                         std::optional<SessionId> except) {
    if (names.empty()) return everybody(in, except);
    Names out;
    std::set<SessionId> known;  // an id and an alias may name the same session
    for (std::string const& name : names) {
        MailReceiver found = find_name(in, name);
        if (!in.failed) return std::unexpected(std::move(in.failed.error()));
        if (found.target && !known.insert(found.target->session).second) continue;
        out.push_back(std::move(found));
    }
    if (auto hinted = add_hints(in, except, out); !hinted)
        return std::unexpected(std::move(hinted.error()));
    return out;
}

// Returns why the receiver has no target.
std::string why_no_target(MailReceiver const& receiver) {
    std::string const hint = receiver.hint.empty() ? "" : " (" + receiver.hint + ")";
    if (!receiver.barred) return "unknown session '" + receiver.name + "'" + hint;
    return "this token may not start the agent of the session '" + receiver.name + "'";
}

std::pair<Status, std::string> delivery_status_of(Result<Answer> const& answer) {
    if (!answer) return {Status::failed, answer.error().detail};
    return {answer->quarantined ? Status::quarantined : Status::delivered, ""};
}

}  // namespace

MailService::MailService(port::Loop& loop, port::Journal& journal, Runner& runner)
    : loop_(loop), journal_(journal), runner_(runner) {}

void MailService::resolve(std::string const& project, std::vector<std::string> const& others,
                          port::MailDraft const& draft, std::optional<SessionId> except,
                          port::Fn<void(Result<Names>)> done) {
    CHECK(done);
    std::vector<std::string> projects{project};
    projects.insert(projects.end(), others.begin(), others.end());
    std::vector<std::string> names = draft.to;
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    auto question = [projects = std::move(projects), reaches = draft.reaches,
                     names = std::move(names), except](port::ListStore& store) {
        return find_names({store, projects, reaches}, names, except);
    };
    port::ask(journal_, std::move(question), scope_.guard(std::move(done)));
}

void MailService::send(SessionId from, port::MailDraft draft, port::MailSender sender,
                       Duration wait, port::Fn<void(Result<port::MailSubmission>)> done) {
    CHECK(done);
    auto address = [this, from, draft = std::move(draft), sender = std::move(sender), wait,
                    done = std::move(done)](Result<std::shared_ptr<Lane>> lane) mutable {
        if (!lane) return done(std::unexpected(std::move(lane.error())));
        bool const foreign = !draft.project.empty() && draft.project != (*lane)->state().project;
        if (foreign) return done(fail(Code::not_found, "This id was not found."));
        auto const sending = std::make_shared<Sending>();
        sending->from = from;
        sending->wait = wait;
        sending->done = std::move(done);
        Asker asker{std::move(sender.by), std::move(sender.idem_key),
                    std::move(sender.idem_digest)};
        std::string const& project = (*lane)->state().project;
        port::MailDraft const addressed{
            .to = std::move(draft.to), .text = {}, .reaches = std::move(draft.reaches)};
        resolve(project, runner_.mail_projects(project), addressed, from,
                [this, sending, draft = std::move(draft),
                 asker = std::move(asker)](Result<Names> found) mutable {
                    if (!found) return sending->done(std::unexpected(std::move(found.error())));
                    send_to(sending, std::move(*found), std::move(draft), std::move(asker));
                });
    };
    runner_.read_lane(from, scope_.guard(std::move(address)));
}

void MailService::send_to(Ptr const& sending, Names names, port::MailDraft draft, Asker asker) {
    CHECK(sending->open == 0 && sending->places.empty());
    SendMail command{{}, std::move(draft.text), draft.reply_to, draft.wake, draft.ttl};
    for (MailReceiver& one : names) {
        port::MailDelivery delivery{one.name, std::nullopt, Status::failed, why_no_target(one)};
        if (one.target) {
            delivery = {one.name, one.target->session, Status::queued, ""};
            sending->places.push_back(sending->submitted.deliveries.size());
            command.to.push_back(std::move(*one.target));
        }
        sending->submitted.deliveries.push_back(std::move(delivery));
    }
    if (command.to.empty()) return sending->done(std::move(sending->submitted));
    sending->open = command.to.size();
    CHECK(sending->open == sending->places.size());
    sending_.push_back(sending);
    runner_.command(
        sending->from, std::move(command), std::move(asker),
        scope_.guard([this, sending](Result<Answer> answer) { sent(sending, std::move(answer)); }));
}

void MailService::sent(Ptr const& sending, Result<Answer> answer) {
    if (!answer) {
        sending_.remove(sending);
        return sending->done(std::unexpected(std::move(answer.error())));
    }
    CHECK(sending->submitted.id.seq == 0);
    sending->submitted.id = {sending->from, answer->seq};
    if (answer->outcome == Answer::Outcome::duplicate) {
        sending->submitted.duplicate = true;
        sending_.remove(sending);
        return recall(sending, answer->seq);
    }
    auto early = std::move(sending->reported);
    for (auto const& [n, delivery] : early[answer->seq]) {
        if (n >= sending->places.size()) continue;
        port::MailDelivery& known = sending->submitted.deliveries[sending->places[n]];
        std::tie(known.status, known.why) = delivery;
        CHECK(sending->open > 0);
        --sending->open;
    }
    if (sending->open == 0 || sending->wait == Duration(0)) return finish(sending);
    loop_.after(sending->wait, scope_.guard([this, sending] { finish(sending); }));
}

// The mail was sent by an earlier request: finds its receivers, and what its journal and the store
// know about them.
void MailService::recall(Ptr const& sending, Seq seq) {
    auto compare = [this, sending, seq](Result<Runner::Read> const& read) {
        if (!read) return sending->done(std::unexpected(read.error()));
        auto& deliveries = sending->submitted.deliveries;
        deliveries.clear();
        for (wire::RecordPtr const& record : read->records) {
            if (auto const* mail = std::get_if<MailSent>(&record->event.body);
                mail && record->event.seq == seq) {
                for (MailTarget const& to : mail->to)
                    deliveries.push_back({to.alias.empty() ? to.session.text() : to.alias,
                                          to.session, Status::delivered, ""});
            }
            auto const* back = std::get_if<MailBounced>(&record->event.body);
            if (!back || back->mail != seq) continue;
            for (port::MailDelivery& delivery : deliveries) {
                if (delivery.session != back->to.session) continue;
                delivery.status = Status::failed;
                delivery.why = back->error.message;
            }
        }
        auto question = [from = sending->from, seq, count = deliveries.size()](
                            port::OutboxStore& store) -> Result<std::vector<bool>> {
            std::vector<bool> waits;
            for (std::uint32_t n = 0; n < count; ++n) {
                auto row = store.outbox_message({from, seq, n});
                if (!row) return std::unexpected(std::move(row.error()));
                waits.push_back(row->has_value());
            }
            return waits;
        };
        port::ask(journal_, std::move(question), [sending](Result<std::vector<bool>> waits) {
            if (!waits) return sending->done(std::unexpected(std::move(waits.error())));
            CHECK(waits->size() == sending->submitted.deliveries.size());
            for (std::size_t n = 0; n < waits->size(); ++n) {
                if ((*waits)[n]) sending->submitted.deliveries[n].status = Status::queued;
            }
            sending->done(std::move(sending->submitted));
        });
    };
    runner_.read(sending->from, seq, scope_.guard(std::move(compare)));
}

void MailService::delivered(OutboxKey const& key, Result<Answer> const& answer) {
    auto const all = sending_;
    for (Ptr const& sending : all) {
        if (sending->from != key.from) continue;
        if (sending->submitted.id.seq == 0) {
            sending->reported[key.seq][key.n] = delivery_status_of(answer);
            continue;
        }
        if (sending->submitted.id.seq != key.seq || key.n >= sending->places.size()) continue;
        port::MailDelivery& delivery = sending->submitted.deliveries[sending->places[key.n]];
        if (delivery.status != Status::queued) continue;
        std::tie(delivery.status, delivery.why) = delivery_status_of(answer);
        CHECK(sending->open > 0);
        if (--sending->open == 0) finish(sending);
    }
}

void MailService::finish(Ptr const& sending) {
    if (!sending->done) return;
    sending_.remove(sending);
    std::exchange(sending->done, {})(std::move(sending->submitted));
}

namespace {

struct Handing {
    Runner& runner;
    Names names;
    TakeMail command;
    Asker asker;
    port::Fn<void(Result<std::vector<MailService::Handed>>)> done;
    std::vector<MailService::Handed> handed = {};
};

void hand_next(std::shared_ptr<Handing> const& h) {
    CHECK(h->handed.size() <= h->names.size());
    if (h->handed.size() == h->names.size()) return h->done(std::move(h->handed));
    MailReceiver const& next = h->names[h->handed.size()];
    if (!next.target) {
        auto const code = next.barred ? Code::forbidden : Code::not_found;
        h->handed.push_back({next.name, std::nullopt, fail(code, why_no_target(next) + ".")});
        return hand_next(h);
    }
    TakeMail command = h->command;
    command.mail.to_alias = next.target->alias;
    auto const session = next.target->session;
    h->runner.command(session, std::move(command), h->asker, [h](Result<Answer> answer) {
        MailReceiver const& to = h->names[h->handed.size()];
        h->handed.push_back({to.name, to.target->session, std::move(answer)});
        hand_next(h);
    });
}

}  // namespace

void MailService::hand_in(std::string const& project, port::MailDraft draft, Asker asker,
                          port::Fn<void(Result<std::vector<Handed>>)> done) {
    CHECK(done);
    TakeMail command;
    command.mail.project = project;
    command.mail.text = std::move(draft.text);
    command.mail.reply_to = draft.reply_to;
    command.mail.wake = draft.wake;
    command.ttl = draft.ttl;
    resolve(project, {}, draft, std::nullopt,
            [this, command = std::move(command), asker = std::move(asker),
             done = std::move(done)](Result<Names> found) mutable {
                if (!found) return done(std::unexpected(std::move(found.error())));
                hand_next(std::make_shared<Handing>(Handing{runner_, std::move(*found),
                                                            std::move(command), std::move(asker),
                                                            std::move(done)}));
            });
}

}  // namespace dormouse::runner
