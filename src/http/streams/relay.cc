#include "http/streams/relay.h"

#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::http {

namespace {

constexpr std::size_t named_max = 200;  // sessions in one text
constexpr std::size_t piece_bytes = 6'000;

// The text of at most Relay::text_max for the next piece; control characters take six bytes each.
std::string next_text(Drafts const& drafts, SessionId session, DraftPlace& place, std::uint64_t n) {
    for (std::size_t bytes = piece_bytes;; bytes /= 2) {
        DraftPlace after = place;
        auto piece = drafts.next(session, after, bytes);
        if (!piece) return {};
        piece->n = n;
        std::string out = write_piece(session, *piece);
        if (out.size() > Relay::text_max) continue;
        place = after;
        return out;
    }
}

}  // namespace

void Relay::opened(SessionId session) {
    ask(session, remote_drafts_[session]);
    renew_later();
}

void Relay::caught_up(SessionId session) {
    auto const found = remote_drafts_.find(session);
    if (found != remote_drafts_.end() && found->second.state == RemoteDraft::State::early)
        ask(session, found->second);
}

void Relay::ask(SessionId session, RemoteDraft& draft) {
    draft.state = RemoteDraft::State::requested;
    announce("again", {session});
}

void Relay::announce(std::string_view name, std::vector<SessionId> const& sessions) {
    for (std::size_t first = 0; first < sessions.size(); first += named_max) {
        std::size_t const end = std::min(sessions.size(), first + named_max);
        json::Writer out;
        out.begin_object().key(name).begin_array();
        for (std::size_t i = first; i < end; ++i) out.value(sessions[i].text());
        services_.publish(out.end_array().end_object().take());
    }
}

void Relay::renew_later() {
    if (std::exchange(renewing_, true)) return;
    services_.loop.after(renew_every, scope_.guard([this] {
        renewing_ = false;
        renew();
    }));
}

// Requests that may have been lost are repeated.
void Relay::renew() {
    std::vector<SessionId> read;
    std::vector<SessionId> again;
    for (auto const& [session, draft] : remote_drafts_)
        (draft.state == RemoteDraft::State::following ? read : again).push_back(session);
    announce("read", read);
    announce("again", again);
    for (auto& [session, wanted] : wanted_) --wanted.renewals;
    std::erase_if(wanted_, [](auto const& one) { return one.second.renewals <= 0; });
    if (!remote_drafts_.empty() || !wanted_.empty()) renew_later();
}

void Relay::on_message(Epoch from, std::string_view text, Take const& take) {
    if (auto const piece = read_piece(text)) return this->take(from, *piece, take);
    auto const json = json::check(text);
    if (!json) return;
    json::View const object(*json);
    want(object["read"].raw(), false);
    want(object["again"].raw(), true);
}

void Relay::want(std::string_view list, bool again) {
    if (list.empty()) return;
    json::View(list).elements([&](json::View one) {
        auto const session = SessionId::parse(one.string_or(""));
        if (!session || (wanted_.size() >= sessions_max && !wanted_.contains(*session))) return;
        auto const [found, is_new] = wanted_.try_emplace(*session);
        if (is_new || again) found->second = {};
        found->second.renewals = renewals_kept;
        if (is_new || again) added(*session);
    });
    if (!wanted_.empty()) renew_later();
}

void Relay::added(SessionId session) {
    if (!wanted_.contains(session) || std::exchange(sending_, true)) return;
    services_.loop.post(scope_.guard([this] { send(); }));
}

// Begins behind the session that was served last, so that each has its turn.
void Relay::send() {
    std::size_t left = pieces_max;
    bool more = false;
    auto next = wanted_.upper_bound(last_);
    for (std::size_t i = 0; i < wanted_.size() && left > 0; ++i, ++next) {
        if (next == wanted_.end()) next = wanted_.begin();
        more = send_some(next->first, next->second, left) || more;
        last_ = next->first;
    }
    sending_ = left < pieces_max || more;
    if (!sending_) return;
    services_.loop.after(apart, scope_.guard([this] { send(); }));
}

// Returns whether there may be more.
bool Relay::send_some(SessionId session, Wanted& wanted, std::size_t& left) {
    for (std::size_t i = 0; i < each_max; ++i) {
        if (left == 0) return true;
        std::string const text = next_text(services_.drafts, session, wanted.place, wanted.n);
        if (text.empty()) return false;
        services_.publish(text);
        ++wanted.n;
        --left;
    }
    return true;
}

// The first piece counts from whomever it comes: a session has one process that writes.
void Relay::take(Epoch from, SessionPiece const& received, Take const& take) {
    auto const found = remote_drafts_.find(received.session);
    if (found == remote_drafts_.end()) return;
    RemoteDraft& draft = found->second;
    if (received.piece.n == 0) draft = {RemoteDraft::State::following, from, 0};
    if (draft.state != RemoteDraft::State::following) return;
    if (draft.from != from || draft.next != received.piece.n) return ask(received.session, draft);
    ++draft.next;
    switch (take(received.session, received.piece)) {
        case Taken::done: return;
        case Taken::early: draft.state = RemoteDraft::State::early; return;
        case Taken::stale: return ask(received.session, draft);
    }
}

}  // namespace dormouse::http
