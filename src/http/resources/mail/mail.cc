#include "http/objects/objects.h"
#include "http/resources/mail/handlers.h"

#include "base/text.h"
#include "json/json.h"
#include "runner/postmaster.h"
#include "session/limits.h"

// Mail: sent, listed, released.
namespace dormouse::server {

using namespace dormouse::session;

namespace {

constexpr Duration told_within{2'000};

struct Posting {
    port::Letter letter;
    std::optional<std::string> from;
    std::string project = "default";
};

void read_receivers(Body& body, json::View text, Posting& out) {
    json::View const to = text["to"];
    if (auto const one = to.string()) {
        out.letter.to.push_back(*one);
    } else if (to.kind() == json::Kind::array) {
        to.elements([&](json::View name) {
            if (name.kind() != json::Kind::string) body.refuse("to", "each must be a string");
            out.letter.to.push_back(name.string_or(""));
        });
        if (out.letter.to.empty()) body.refuse("to", "names nobody");
    } else if (to.exists() && !to.is_null()) {
        body.refuse("to", "must be an alias, a session, or an array of them");
    }
    for (std::string const& name : out.letter.to) {
        if (name.empty() || name.size() > 129) body.refuse("to", "names have 1 to 129 characters");
    }
    if (out.letter.to.size() > 1'000)
        body.refuse("to", "may name 1000; leave it out for everybody");
}

std::optional<Posting> read_posting(ExchangePtr const& x) {
    Posting out;
    json::View const text(x->body);
    Body body(text, "", {"from", "to", "text", "replyTo", "resume", "ttl"});
    out.from = body.string("from");
    out.letter.text = body.required_string("text");
    if (!body.error() && out.letter.text.empty()) body.refuse("text", "must not be empty");
    read_receivers(body, text, out);
    if (auto const reply = body.string("replyTo")) {
        out.letter.reply_to = parse_mail_id(*reply);
        if (!out.letter.reply_to) body.refuse("replyTo", "is not the id of a mail");
    }
    if (auto const ttl = body.integer("ttl")) {
        if (*ttl < 1 || Duration(*ttl) > limits::mail_ttl_max)
            body.refuse("ttl", "must be 1 ms to 366 days, in ms");
        out.letter.ttl = Duration(*ttl);
    }
    if (auto const resume = body.boolean("resume"))
        out.letter.wake = *resume ? Wake::always : Wake::never;
    if (auto const project = x->request.query_value("project")) out.project = *project;
    if (body.error()) {
        x->fail(*body.error());
        return std::nullopt;
    }
    return out;
}

void write_fate(json::Writer& out, std::string const& name, std::optional<SessionId> session,
                std::optional<std::string> const& mail, std::string_view status,
                std::string const& why) {
    out.begin_object().member("to", name);
    out.member("sessionID", session ? std::optional(session->text()) : std::nullopt);
    out.member("mailID", mail).member("status", status);
    out.member("reason", why.empty() ? std::nullopt : std::optional(why)).end_object();
}

void answer_posted(ExchangePtr const& x, Result<port::MailPosted> const& posted) {
    if (!posted) return x->fail(posted.error());
    if (posted->id.seq == 0) {
        std::string const why = posted->fates.empty() ? "Nobody else has an alias here."
                                                      : posted->fates.front().why + ".";
        return x->fail({Code::not_found, why});
    }
    std::string const id = text(posted->id);
    json::Writer out;
    out.begin_object().member("id", id).member("duplicate", posted->duplicate);
    out.key("receivers").begin_array();
    for (port::MailFate const& fate : posted->fates) {
        bool const sent = fate.session.has_value();
        write_fate(out, fate.name, fate.session, sent ? std::optional(id) : std::nullopt,
                   port::text(fate.status), fate.why);
    }
    x->json(202, out.end_array().end_object().take());
}

using Handed = runner::Postmaster::Handed;

// The server could not take the mail of one receiver now: the whole request is to be repeated. With
// its Idempotency-Key that is safe, because each receiver that has the mail knows the key.
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
    if (handed->empty()) return x->fail({Code::not_found, "Nobody has an alias here."});
    if (handed->size() == 1 && !handed->front().answer)
        return x->fail(handed->front().answer.error());
    bool duplicate = true;
    json::Writer list;
    list.begin_array();
    std::optional<std::string> first;
    for (auto const& one : *handed) {
        if (!one.answer) {
            write_fate(list, one.name, one.session, {}, "failed", one.answer.error().detail);
            continue;
        }
        std::string const id = text(MailId{*one.session, one.answer->seq});
        if (!first) first = id;
        duplicate = duplicate && one.answer->outcome == Answer::Outcome::duplicate;
        write_fate(list, one.name, one.session, id, one.answer->held ? "held" : "delivered", "");
    }
    std::string const receivers = list.end_array().take();
    json::Writer out;
    out.begin_object();
    if (auto refused = refused_for_now(*handed)) {
        refused->extra = out.key("receivers").raw(receivers).end_object().json();
        return x->fail(*refused);
    }
    out.member("id", first).member("duplicate", duplicate && first.has_value());
    out.key("receivers").raw(receivers);
    x->json(202, out.end_object().take());
}

void send_from(Api& api, ExchangePtr const& x, SessionId from, Posting posting) {
    runner::Asker const asker = x->asker();
    posting.letter.project = posting.project;
    api.mail().send(from, std::move(posting.letter), {asker.by, asker.idem_key, asker.idem_digest},
                    told_within,
                    [x](Result<port::MailPosted> posted) { answer_posted(x, posted); });
}

}  // namespace

namespace {

// A session's program writes in its session's name, whatever project that is of.
bool in_own_name(ExchangePtr const& x, Posting& posting) {
    if (!x->principal || !x->principal->session) return true;
    if (posting.from != x->principal->session->text()) return false;
    posting.project.clear();
    return true;
}

}  // namespace

// Mail wakes its receiver, so it reaches only agents that the token may start. What a session's
// program sends is the session's own.
void bind_to_agents(Api& api, ExchangePtr const& x, Posting& posting) {
    if (!x->principal || x->principal->session || x->principal->may_start_all()) return;
    posting.letter.reaches = [&gate = api.services().gate,
                              who = x->principal](std::string const& agent) {
        return who->may_start(agent, gate.runs_programs(agent));
    };
}

void post_mail(Api& api, ExchangePtr const& x) {
    auto posting = read_posting(x);
    if (!posting) return;
    bind_to_agents(api, x, *posting);
    if (!in_own_name(x, *posting))
        return x->fail({Code::forbidden, "A session's program sends mail as `from` its session."});
    if (!posting->from) {
        std::string const project = posting->project;
        return api.mail().hand_in(
            project, std::move(posting->letter), x->asker(),
            [x](Result<std::vector<Handed>> const& handed) { answer_handed(x, handed); });
    }
    if (auto const id = SessionId::parse(*posting->from))
        return send_from(api, x, *id, std::move(*posting));
    auto question = [project = posting->project, alias = *posting->from](port::ListStore& store) {
        return store.aliases(project, alias, 1);
    };
    port::ask(api.services().journal, std::move(question),
              [&api, x,
               posting = std::move(*posting)](Result<std::vector<port::SessionRow>> found) mutable {
                  if (!found) return x->fail(found.error());
                  bool const named = !found->empty() && !posting.from->empty();
                  if (!named) return x->fail(not_found());
                  SessionId const from = found->front().id;
                  send_from(api, x, from, std::move(posting));
              });
}

namespace {

std::string_view mail_status(wire::MailView const& mail,
                             std::optional<wire::Consumed> const& consumed) {
    if (consumed) return "read";
    if (mail.expired) return "expired";
    bool const held = mail.what.hold == MailHold::held && !mail.released;
    return held ? "held" : "delivered";
}

// Why nobody has read it yet, although it is here.
std::optional<std::string> mail_reason(wire::MailView const& mail, std::string_view status) {
    if (status == "read") return std::nullopt;
    if (mail.expired) return "nobody read it within its time to live";
    if (mail.released) return std::nullopt;
    switch (mail.what.hold) {
        case MailHold::none: return std::nullopt;
        case MailHold::quiet:
            return "it was sent with resume false, or its project's mail wakes nobody";
        case MailHold::minute: return "its conversation has woken this session often this minute";
        case MailHold::held: break;
    }
    return "its conversation has gone on for long: a person may release it";
}

void write_end(json::Writer& out, std::string_view name, std::optional<SessionId> const& session,
               std::string const& alias) {
    out.key(name).begin_object();
    out.member("sessionID", session ? std::optional(session->text()) : std::nullopt);
    out.member("alias", alias.empty() ? std::nullopt : std::optional(alias)).end_object();
}

std::string mail_object(Snapshot const& snapshot, Seq seq, wire::MailView const& mail) {
    Mail const& what = mail.what.mail;
    auto const consumed = snapshot.history.consumed(seq);
    std::string_view const status = mail_status(mail, consumed);
    json::Writer out;
    out.begin_object().member("id", text(what.id)).member("projectID", what.project);
    out.member("number", mail.what.number);
    write_end(out, "from", what.from, what.from_alias);
    write_actor(out.key("by"), what.by);
    write_end(out, "to", snapshot.lane->id(), what.to_alias);
    out.member("text", what.text);
    out.member("replyTo", what.reply_to ? std::optional(text(*what.reply_to)) : std::nullopt);
    out.member("conversation", text(what.conversation)).member("hops", what.hops);
    out.member("status", status).member("reason", mail_reason(mail, status));
    out.key("time").begin_object().member("created", to_ms(what.sent));
    out.member("delivered", to_ms(mail.at));
    out.member("read", consumed ? std::optional(to_ms(consumed->at)) : std::nullopt);
    out.member("expires", ms_or_null(what.expires));
    return out.end_object().end_object().take();
}

}  // namespace

void list_inbox(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    Query query{x->request};
    std::size_t const limit = query.number("limit", 50, 1, 200);
    std::uint64_t const after = query.number("after", 0, 0, UINT64_C(1) << 53);
    std::string const wanted(x->request.query_value("status").value_or(""));
    bool const known = wanted.empty() || wanted == "delivered" || wanted == "held" ||
                       wanted == "read" || wanted == "expired";
    if (!known) query.error = bad_value("?status", "must be delivered, held, read or expired");
    if (query.error) return x->fail(*query.error);
    read_history(api, *id, [x, limit, after, wanted](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        State const& state = snapshot->lane->state();
        json::Writer out;
        out.begin_object().member("read", state.mails - state.inbox.size());
        out.key("items").begin_array();
        std::size_t count = 0;
        std::uint64_t last = after;
        bool more = false;
        for (auto const& [seq, mail] : snapshot->history.mails()) {
            if (mail.what.number <= after) continue;
            auto const consumed = snapshot->history.consumed(seq);
            if (!wanted.empty() && mail_status(mail, consumed) != wanted) continue;
            more = count == limit;
            if (more) break;
            out.raw(mail_object(*snapshot, seq, mail));
            last = mail.what.number;
            ++count;
        }
        out.end_array().member("next", more ? std::optional(last) : std::nullopt);
        x->json(200, out.end_object().take());
    });
}

namespace {

// The receivers among which one may hold the mail, one after the other.
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
        json::Writer out;
        out.begin_object().member("id", text(r->mail)).member("released", r->released);
        return r->x->json(200, out.end_object().take());
    }
    SessionId const receiver = r->receivers[r->at++];
    r->api.services().runner.look(
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
    Body body(json::View(x->body), "", {});
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

}  // namespace dormouse::server
