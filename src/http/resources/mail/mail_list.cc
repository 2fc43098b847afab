#include "http/resources/mail/handlers.h"
#include "http/resources/mail/mail_fields.h"

#include "json/json.h"
#include "runner/lane/rows.h"
#include "session/limits.h"
#include "wire/outbox_json.h"

#include <algorithm>

// Sent mail and its delivery: GET /api/mail and GET /api/mail/{id}.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

// The number of outbox messages of all projects that are searched for mail of one project.
constexpr std::uint32_t messages_max = 10'000;

Mail mail_of(State const& state, Seq seq, wire::SentView const& sent) {
    MailSent const& what = sent.what;
    return {{state.id, seq}, state.project, state.id,          state.alias, {},
            what.text,       what.reply_to, what.conversation, what.hops,   what.wake,
            what.by,         sent.at,       what.expires};
}

// ---- undelivered or quarantined mail of a project

Result<std::vector<SentMail>> find_undelivered(port::OutboxStore& store, std::string const& project,
                                               std::size_t limit) {
    std::vector<SentMail> out;
    for (std::string_view const kind : {runner::quarantined_kind, std::string_view("session")}) {
        bool const quarantined = kind == runner::quarantined_kind;
        auto const rows = store.due_messages(std::string(kind), Time::max(), messages_max);
        if (!rows) return std::unexpected(rows.error());
        for (port::OutboxRow const& row : *rows) {
            if (out.size() == limit) return out;
            auto const what = wire::read_outbox_body(row.body);
            auto const* const mail = what ? std::get_if<Mail>(&*what) : nullptr;
            if (!mail || (quarantined ? row.target : mail->project) != project) continue;
            auto const to = quarantined ? row.key.from : SessionId::parse(row.target);
            if (!to) continue;
            out.push_back(
                {*mail, MailSide{to, mail->to_alias}, quarantined ? "quarantined" : "queued"});
        }
    }
    return out;
}

void list_undelivered(Api& api, ExchangePtr const& x, std::string project, std::size_t limit) {
    auto question = [project = std::move(project), limit](port::OutboxStore& store) {
        return find_undelivered(store, project, limit);
    };
    port::ask(api.services().journal, std::move(question),
              [x](Result<std::vector<SentMail>> const& found) {
                  found ? x->json(200, list_text(*found, {})) : x->fail(found.error());
              });
}

// ---- sent mail of one session

void list_sent(Api& api, ExchangePtr const& x, SessionId session, std::size_t limit, Seq before) {
    read_history(api, session, [x, limit, before](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        State const& state = snapshot->lane->state();
        auto const& sent = snapshot->history.sent();
        std::vector<SentMail> items;
        auto it = std::make_reverse_iterator(sent.lower_bound(before));
        for (; it != sent.rend() && items.size() < limit; ++it) {
            auto const& [seq, mail] = *it;
            SentMail& item = items.emplace_back(SentMail{mail_of(state, seq, mail)});
            item.receivers = mail.what.to.size();
            item.failed = mail.bounced.size();
        }
        bool const more = it != sent.rend();
        x->json(200,
                list_text(items, more ? std::optional(text(items.back().mail.id)) : std::nullopt));
    });
}

// ---- one mail and its receivers

struct Asking {
    Api& api;
    ExchangePtr x;
    Mail mail;
    std::vector<DeliveryStatus> deliveries;
    std::optional<std::uint64_t> next;
    std::size_t at = 0;
};

void answer_deliveries(Asking const& a) {
    a.x->json(200, object_text(MailState{a.mail, a.deliveries, a.next}));
}

// Finds the mail in the receiver's state: what no request has seen is in its inbox.
void read_delivery(DeliveryStatus& delivery, State const& state, MailId const& mail) {
    auto const item = std::ranges::find(state.inbox, mail, &InboxItem::id);
    if (item == state.inbox.end()) {
        delivery.status = "read";
        return;
    }
    delivery.status = item->hold == MailHold::quarantined ? "quarantined" : "delivered";
    if (item->hold == MailHold::quarantined)
        delivery.reason = "its conversation is too long: a person may release it";
}

void next_delivery(std::shared_ptr<Asking> const& a) {
    while (a->at < a->deliveries.size() && !a->deliveries[a->at].status.empty()) ++a->at;
    if (a->at == a->deliveries.size()) return answer_deliveries(*a);
    a->api.services().runner.read_lane(
        a->deliveries[a->at].to.session, [a](Result<std::shared_ptr<runner::Lane>> lane) {
            DeliveryStatus& delivery = a->deliveries[a->at];
            if (lane) {
                read_delivery(delivery, (*lane)->state(), a->mail.id);
            } else {
                delivery.status = "delivered";
                delivery.reason = "the session was deleted";
            }
            next_delivery(a);
        });
}

// Mail that the store still has to deliver is queued.
void ask_store(std::shared_ptr<Asking> const& a, std::size_t first) {
    auto question = [id = a->mail.id, first, count = a->deliveries.size()](
                        port::OutboxStore& store) -> Result<std::vector<bool>> {
        std::vector<bool> waits;
        for (std::size_t n = 0; n < count; ++n) {
            auto row =
                store.outbox_message({id.session, id.seq, static_cast<std::uint32_t>(first + n)});
            if (!row) return std::unexpected(std::move(row.error()));
            waits.push_back(row->has_value());
        }
        return waits;
    };
    port::ask(a->api.services().journal, std::move(question),
              [a](Result<std::vector<bool>> const& waits) {
                  if (!waits) return a->x->fail(waits.error());
                  for (std::size_t n = 0; n < waits->size(); ++n) {
                      if ((*waits)[n] && a->deliveries[n].status.empty())
                          a->deliveries[n].status = "queued";
                  }
                  next_delivery(a);
              });
}

void show_sent(std::shared_ptr<Asking> const& a, wire::SentView const& sent, std::size_t after,
               std::size_t limit) {
    auto const& to = sent.what.to;
    for (std::size_t i = after; i < to.size() && a->deliveries.size() < limit; ++i) {
        DeliveryStatus delivery{to[i]};
        auto const back = std::ranges::find(sent.bounced, to[i].session,
                                            [](MailBounced const& b) { return b.to.session; });
        if (back != sent.bounced.end()) {
            delivery.status = back->error.code == "expired" ? "expired" : "failed";
            delivery.reason = back->error.message;
        }
        a->deliveries.push_back(std::move(delivery));
    }
    std::size_t const end = after + a->deliveries.size();
    if (end < to.size()) a->next = end;
    ask_store(a, after);
}

// Mail from a person has one receiver.
void show_handed(std::shared_ptr<Asking> const& a, Snapshot const& snapshot,
                 wire::MailView const& mail) {
    a->mail = mail.what.mail;
    State const& state = snapshot.lane->state();
    DeliveryStatus delivery{{state.id, mail.what.mail->to_alias}};
    read_delivery(delivery, state, a->mail.id);
    if (mail.expired) delivery.status = "expired";
    a->deliveries.push_back(std::move(delivery));
    answer_deliveries(*a);
}

}  // namespace

void list_mail(Api& api, ExchangePtr const& x) {
    Query query{x->request};
    std::size_t const limit = query.number("limit", 50, 1, 200);
    if (query.error) return x->fail(*query.error);
    auto const named = x->request.query_value("sessionID");
    bool const external = x->principal && x->principal->session;
    if (external && named != x->principal->session->text())
        return x->fail({Code::forbidden, "A session's program lists the mail of its session."});
    auto const cursor = x->request.query_value("cursor");
    Error const foreign{Code::bad_cursor, "The cursor is invalid; begin without one.", {}, 0};
    if (!named) {  // one page
        if (cursor) return x->fail(foreign);
        std::string project(x->request.query_value("project").value_or("default"));
        return list_undelivered(api, x, std::move(project), limit);
    }
    auto const session = SessionId::parse(*named);
    if (!session) return x->fail(not_found());
    Seq before = limits::seq_max + 1;
    if (cursor) {
        auto const mail = parse_mail_id(*cursor);
        if (!mail || mail->session != *session) return x->fail(foreign);
        before = mail->seq;
    }
    list_sent(api, x, *session, limit, before);
}

void get_mail(Api& api, ExchangePtr const& x) {
    auto const id = parse_mail_id(x->params[0]);
    if (!id) return x->fail(not_found());
    Query query{x->request};
    std::size_t const limit = query.number("limit", 50, 1, 200);
    std::size_t const after = query.number("after", 0, 0, limits::mail_receivers_max);
    if (query.error) return x->fail(*query.error);
    // Its delivery is recorded after it.
    read_history_from(api, id->session, id->seq,
                      [&api, x, id = *id, limit, after](Result<Snapshot> const& snapshot) {
                          if (!snapshot) return x->fail(snapshot.error());
                          auto const a = std::make_shared<Asking>(Asking{api, x, {}, {}, {}});
                          wire::History const& history = snapshot->history;
                          auto const sent = history.sent().find(id.seq);
                          if (sent != history.sent().end()) {
                              a->mail = mail_of(snapshot->lane->state(), id.seq, sent->second);
                              return show_sent(a, sent->second, after, limit);
                          }
                          auto const handed = history.mails().find(id.seq);
                          bool const own =
                              handed != history.mails().end() && handed->second.what.mail->id == id;
                          if (!own) return x->fail(missing(snapshot->lane->state(), id.seq));
                          show_handed(a, *snapshot, handed->second);
                      });
}

}  // namespace dormouse::http
