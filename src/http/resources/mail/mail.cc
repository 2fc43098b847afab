#include "http/resources/mail/handlers.h"
#include "http/resources/mail/mail_fields.h"

#include "base/text/text.h"
#include "json/json.h"
#include "runner/mail_service.h"
#include "session/limits.h"

// Mail: send, list, release.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr Duration notified_within{2'000};

struct MailRequest {
    port::MailDraft draft;
    std::optional<std::string> from;
    std::string project = "default";
};

void read_receivers(Body& body, json::View text, MailRequest& out) {
    json::View const to = text["to"];
    if (auto const one = to.string()) {
        out.draft.to.push_back(*one);
    } else if (to.kind() == json::Kind::array) {
        to.elements([&](json::View name) {
            if (name.kind() != json::Kind::string) body.refuse("to", "each must be a string");
            out.draft.to.push_back(name.string_or(""));
        });
        if (out.draft.to.empty()) body.refuse("to", "must not be empty");
    } else if (to.exists() && !to.is_null()) {
        body.refuse("to", "must be an alias, a session, or an array of them");
    }
    for (std::string const& name : out.draft.to) {
        if (name.empty() || name.size() > 129) body.refuse("to", "names have 1 to 129 characters");
    }
    if (out.draft.to.size() > 1'000)
        body.refuse("to", "must have at most 1000 names; leave it out for all");
}

std::optional<MailRequest> read_mail_request(ExchangePtr const& x) {
    MailRequest out;
    json::View const text(x->body);
    Body body(text, mail_request);
    out.from = body.string("from");
    out.draft.text = body.string_or_empty("text");
    read_receivers(body, text, out);
    if (auto const reply = body.string("replyTo")) {
        out.draft.reply_to = parse_mail_id(*reply);
        if (!out.draft.reply_to) body.refuse("replyTo", "is not the id of a mail");
    }
    if (auto const ttl = body.integer("ttl")) out.draft.ttl = Duration(*ttl);
    if (auto const resume = body.boolean("resume"))
        out.draft.wake = *resume ? Wake::always : Wake::never;
    if (auto const project = x->request.query_value("project")) out.project = *project;
    if (body.error()) {
        x->fail(*body.error());
        return std::nullopt;
    }
    return out;
}

void answer_mail(ExchangePtr const& x, Result<port::MailSubmission> const& submitted) {
    if (!submitted) return x->fail(submitted.error());
    if (submitted->id.seq == 0) {
        std::string const why = submitted->deliveries.empty()
                                    ? "No other session has an alias."
                                    : submitted->deliveries.front().why + ".";
        return x->fail({Code::not_found, why});
    }
    MailAnswer answer{text(submitted->id), submitted->duplicate, {}};
    for (port::MailDelivery const& delivery : submitted->deliveries) {
        auto const mail = delivery.session ? answer.id : std::nullopt;
        answer.receivers.push_back(
            {delivery.name, delivery.session, mail, port::text(delivery.status), delivery.why});
    }
    x->json(202, object_text(answer));
}

using Handed = runner::MailService::Handed;

// The server cannot accept the mail for one receiver now: the caller must repeat the whole request.
// With its Idempotency-Key that is safe, because each receiver that has the mail knows the key.
std::optional<Error> refused_for_now(std::vector<Handed> const& handed) {
    for (Handed const& one : handed) {
        if (one.answer) continue;
        CodeInfo const& about = info(one.answer.error().code);
        if (about.http == 503 && about.next == Next::retry) return one.answer.error();
    }
    return std::nullopt;
}

void answer_handed(ExchangePtr const& x, Result<std::vector<Handed>> const& handed) {
    if (!handed) return x->fail(handed.error());
    if (handed->empty()) return x->fail({Code::not_found, "No session has an alias."});
    if (handed->size() == 1 && !handed->front().answer)
        return x->fail(handed->front().answer.error());
    bool duplicate = true;
    MailAnswer answer;
    for (auto const& one : *handed) {
        if (!one.answer) {
            answer.receivers.push_back(
                {one.name, one.session, {}, "failed", one.answer.error().detail});
            continue;
        }
        std::string const id = text(MailId{*one.session, one.answer->seq});
        if (!answer.id) answer.id = id;
        duplicate = duplicate && one.answer->outcome == Answer::Outcome::duplicate;
        answer.receivers.push_back(
            {one.name, one.session, id, one.answer->quarantined ? "quarantined" : "delivered", ""});
    }
    if (auto refused = refused_for_now(*handed)) {
        json::Writer out;
        write_value(out.begin_object().key("receivers"), answer.receivers);
        refused->extra = out.end_object().json();
        return x->fail(*refused);
    }
    answer.duplicate = duplicate && answer.id.has_value();
    x->json(202, object_text(answer));
}

void send_from(Api& api, ExchangePtr const& x, SessionId from, MailRequest request) {
    runner::Asker const asker = x->asker();
    request.draft.project = request.project;
    api.mail().send(from, std::move(request.draft), {asker.by, asker.idem_key, asker.idem_digest},
                    notified_within,
                    [x](Result<port::MailSubmission> submitted) { answer_mail(x, submitted); });
}

}  // namespace

namespace {

// An external agent writes in its session's name, in any project.
bool in_own_name(ExchangePtr const& x, MailRequest& request) {
    if (!x->principal || !x->principal->session) return true;
    if (request.from != x->principal->session->text()) return false;
    request.project.clear();
    return true;
}

}  // namespace

// Mail wakes its receiver, so it reaches only agents that the token may start. Mail of an external
// agent is its session's own.
void bind_to_agents(Api& api, ExchangePtr const& x, MailRequest& request) {
    if (!x->principal || x->principal->session || x->principal->may_start_all()) return;
    request.draft.reaches = [&gate = api.services().gate,
                             who = x->principal](std::string const& agent) {
        return who->may_start(agent, gate.runs_programs(agent));
    };
}

void post_mail(Api& api, ExchangePtr const& x) {
    auto request = read_mail_request(x);
    if (!request) return;
    bind_to_agents(api, x, *request);
    if (!in_own_name(x, *request))
        return x->fail({Code::forbidden,
                        "A token for one session sends mail only with that session as `from`."});
    if (!request->from) {
        std::string const project = request->project;
        return api.mail().hand_in(
            project, std::move(request->draft), x->asker(),
            [x](Result<std::vector<Handed>> const& handed) { answer_handed(x, handed); });
    }
    if (auto const id = SessionId::parse(*request->from))
        return send_from(api, x, *id, std::move(*request));
    auto question = [project = request->project, alias = *request->from](port::ListStore& store) {
        return store.aliases(project, alias, 1);
    };
    port::ask(api.services().journal, std::move(question),
              [&api, x,
               request = std::move(*request)](Result<std::vector<port::SessionRow>> found) mutable {
                  if (!found) return x->fail(found.error());
                  bool const named = !found->empty() && !request.from->empty();
                  if (!named) return x->fail(not_found());
                  SessionId const from = found->front().id;
                  send_from(api, x, from, std::move(request));
              });
}

std::string_view InboxMail::status() const {
    if (consumed) return "read";
    if (view.get().expired) return "expired";
    bool const quarantined = view.get().what.hold == MailHold::quarantined && !view.get().released;
    return quarantined ? "quarantined" : "delivered";
}

// Why the session has not read the mail that it has.
std::optional<std::string> InboxMail::reason() const {
    if (consumed) return std::nullopt;
    if (view.get().expired) return "it expired before the session read it";
    if (view.get().released) return std::nullopt;
    switch (view.get().what.hold) {
        case MailHold::none: return std::nullopt;
        case MailHold::quiet:
            return "it was sent with resume false, or its project's mail wakes no session";
        case MailHold::minute:
            return "its conversation has woken this session too often in this minute";
        case MailHold::quarantined: break;
    }
    return "its conversation is too long: a person may release it";
}

void list_inbox(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    Query query{x->request};
    std::size_t const limit = query.number("limit", 50, 1, 200);
    std::uint64_t const after = query.number("after", 0, 0, UINT64_C(1) << 53);
    std::string const wanted(x->request.query_value("status").value_or(""));
    bool const known = wanted.empty() || wanted == "delivered" || wanted == "quarantined" ||
                       wanted == "read" || wanted == "expired";
    if (!known)
        query.error = bad_value("?status", "must be delivered, quarantined, read or expired");
    if (query.error) return x->fail(*query.error);
    read_history(api, *id, [x, limit, after, wanted](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        State const& state = snapshot->lane->state();
        Inbox inbox{state.mails - state.inbox.size()};
        for (auto const& [seq, mail] : snapshot->history.mails()) {
            if (mail.what.number <= after) continue;
            InboxMail const one{state.id, mail, snapshot->history.consumed(seq)};
            if (!wanted.empty() && one.status() != wanted) continue;
            if (inbox.items.size() == limit) {
                inbox.next = inbox.items.back().number();
                break;
            }
            inbox.items.push_back(one);
        }
        x->json(200, object_text(inbox));
    });
}

namespace {

// The receivers that may hold the mail, one after the other.
struct Releasing {
    Api& api;
    ExchangePtr x;
    MailId mail;
    std::vector<SessionId> receivers;
    std::size_t at = 0;
    std::uint64_t released = 0;
};

void release_next(std::shared_ptr<Releasing> const& r);

void release_at(std::shared_ptr<Releasing> const& r, SessionId receiver) {
    r->api.services().runner.command(
        receiver, ReleaseMail{r->mail}, r->x->asker(), [r](Result<Answer> answer) {
            bool const changed = answer && answer->outcome == Answer::Outcome::applied;
            if (changed) ++r->released;
            bool const gone = !answer && info(answer.error().code).next != Next::retry;
            if (!answer && !gone) return r->x->fail(answer.error());
            release_next(r);
        });
}

void release_next(std::shared_ptr<Releasing> const& r) {
    if (r->at == r->receivers.size()) {
        return r->x->json(200, object_text(ReleaseAnswer{{r->mail}, r->released}));
    }
    SessionId const receiver = r->receivers[r->at++];
    r->api.services().runner.read_lane(
        receiver, [r, receiver](Result<std::shared_ptr<runner::Lane>> lane) {
            auto const& who = r->x->principal;
            bool const may = lane && (!who || who->is_for((*lane)->state().project));
            if (!may) return release_next(r);
            release_at(r, receiver);
        });
}

}  // namespace

void release_mail(Api& api, ExchangePtr const& x) {
    auto const mail = parse_mail_id(x->params[0]);
    if (!mail) return x->fail(not_found());
    Body body(json::View(x->body), empty_request);
    if (body.error()) return x->fail(*body.error());
    auto use = [&api, x, mail = *mail](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        auto const releasing = std::make_shared<Releasing>(Releasing{api, x, mail, {}});
        wire::History const& history = snapshot->history;
        if (auto const sent = history.sent().find(mail.seq); sent != history.sent().end()) {
            for (MailTarget const& to : sent->second.what.to)
                releasing->receivers.push_back(to.session);
        }
        if (history.mails().contains(mail.seq)) releasing->receivers.push_back(mail.session);
        if (releasing->receivers.empty()) return x->fail(not_found());
        release_next(releasing);
    };
    read_history_from(api, mail->session, mail->seq, std::move(use));
}

}  // namespace dormouse::http
