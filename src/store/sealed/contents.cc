#include "store/sealed/contents.h"

#include "base/text/text.h"
#include "store/sealed/places.h"

#include <memory>
#include <utility>

namespace dormouse::store {

namespace {

// A frame stays an array of events in JSON, so that SQL which reads journals finds no broken text.
// No event has this type.
constexpr std::string_view frame_begin = R"([["sealed",0,{"sealed":")";
constexpr std::string_view frame_end = R"("}]])";

// Before each piece of an artifact, and part of what it is bound to.
constexpr char more = '+', last = '.';

std::string piece_place(SessionId session, Seq seq, std::uint64_t number, char kind) {
    return places::artifact(session, seq) + '\n' + std::to_string(number) + kind;
}

std::optional<std::string> bytes_of_frame(std::string_view stored) {
    if (!stored.starts_with(frame_begin) || !stored.ends_with(frame_end)) return std::nullopt;
    stored.remove_prefix(frame_begin.size());
    stored.remove_suffix(frame_end.size());
    return parse_base64(stored);
}

}  // namespace

std::unexpected<Error> Contents::damaged(std::string const& what) {
    return fail(Code::internal,
                what + " cannot be decrypted: it was damaged, or is not from there");
}

port::Append Contents::sealed(port::Append const& append) {
    port::Append out = append;
    if (out.frame.count > 0) out.frame.bytes = sealed_frame(out.session, out.frame);
    if (out.base) out.base->frame.bytes = sealed_frame(out.session, out.base->frame);
    if (out.rewrite) {
        for (port::Frame& frame : out.rewrite->frames)
            frame.bytes = sealed_frame(out.session, frame);
    }
    if (out.row) seal_title(*out.row);
    if (out.snapshot)
        out.snapshot->state =
            sealer_.seal(out.snapshot->state, places::snapshot(out.session, *out.snapshot));
    for (port::ArtifactRow& row : out.artifacts)
        row.bytes =
            std::make_shared<std::string const>(sealed_artifact(out.session, row.seq, *row.bytes));
    for (port::OutboxRow& row : out.outbox) seal(row);
    for (port::SecretRow& row : out.secrets)
        row.secret =
            sealer_.seal_text(row.secret, places::secret(out.session, row.call, row.generation));
    for (port::RuleRow& row : out.rules)
        row.body = sealer_.seal_text(row.body, places::rule(row.id));
    return out;
}

std::string Contents::sealed_frame(SessionId session, port::Frame const& frame) {
    auto const bytes = sealer_.seal(frame.bytes, places::frame(session, frame));
    std::string out(frame_begin);
    out += base64({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
    return out += frame_end;
}

std::string Contents::sealed_artifact(SessionId session, Seq seq, std::string_view bytes) {
    std::string out;
    for (std::uint64_t number = 0; out.empty() || !bytes.empty(); ++number) {
        auto const piece = bytes.substr(0, piece_bytes);
        bytes.remove_prefix(piece.size());
        char const kind = bytes.empty() ? last : more;
        out += kind;
        out += sealer_.seal(piece, piece_place(session, seq, number, kind));
    }
    return out;
}

// Whether there is a title stays visible.
void Contents::seal_title(port::SessionRow& row) {
    if (!row.title.empty()) row.title = sealer_.seal_text(row.title, places::title(row.id));
}

void Contents::seal(port::OutboxRow& row) {
    row.body = sealer_.seal(row.body, places::message(row.key));
    if (!row.last_error.empty())
        row.last_error = sealer_.seal_text(row.last_error, places::message_error(row.key));
}

void Contents::seal(SessionId session, port::SentRow& row) {
    row.body = sealer_.seal_text(row.body, places::sent(session, row));
}

port::OutboxUpdate Contents::sealed(port::OutboxUpdate update) {
    if (!update.last_error.empty())
        update.last_error = sealer_.seal_text(update.last_error, places::message_error(update.key));
    if (update.sent) seal(update.key.from, *update.sent);
    return update;
}

port::KeptRow Contents::sealed(port::KeptRow row) {
    row.body = sealer_.seal_text(row.body, places::kept(row.delivery.key));
    return row;
}

port::DeviceRow Contents::sealed(port::DeviceRow row) {
    row.p256dh = sealer_.seal_text(row.p256dh, places::device("key", row.id));
    row.auth = sealer_.seal_text(row.auth, places::device("secret", row.id));
    return row;
}

namespace {

Result<void> put(std::optional<std::string> opened, std::string& to, std::string const& what) {
    if (!opened) return Contents::damaged(what);
    to = *std::move(opened);
    return {};
}

std::string named(SessionId session, char const* what, Seq seq) {
    return std::string(what) + session.text() + ", event " + std::to_string(seq);
}

}  // namespace

bool Contents::is_sealed_frame(std::string_view stored) {
    auto const bytes = bytes_of_frame(stored);
    return bytes && sealer_.is_sealed(*bytes);
}

Result<void> Contents::open(SessionId session, port::Frame& frame) {
    auto const bytes = bytes_of_frame(frame.bytes);
    if (!bytes && sealer_.mixed()) return {};
    auto opened = bytes && sealer_.is_sealed(*bytes)
                      ? sealer_.open(*bytes, places::frame(session, frame))
                      : std::nullopt;
    return put(std::move(opened), frame.bytes, named(session, "", frame.first));
}

Result<void> Contents::open(SessionId session, std::vector<port::Frame>& frames) {
    for (port::Frame& frame : frames)
        if (auto done = open(session, frame); !done) return done;
    return {};
}

Result<void> Contents::open(port::Loaded& loaded) {
    if (!loaded.row) return {};
    open(*loaded.row);
    auto const session = loaded.row->id;
    if (loaded.snapshot) {
        auto& row = *loaded.snapshot;
        auto done = put(sealer_.open(row.state, places::snapshot(session, row)), row.state,
                        named(session, "the snapshot of ", row.seq));
        if (!done) return done;
    }
    return open(session, loaded.tail);
}

void Contents::open(port::SessionRow& row) {
    if (row.title.empty()) return;
    auto opened = sealer_.open_text(row.title, places::title(row.id));
    row.title = opened ? *std::move(opened) : std::string("(the title is damaged)");
}

void Contents::open(port::FeedRow& row) {
    if (row.deleted || row.frame.count == 0) return;
    if (!open(row.session, row.frame)) row.frame = {row.frame.first, 0, {}};
}

Result<void> Contents::open(port::OutboxRow& row) {
    auto const what = named(row.key.from, "the message of ", row.key.seq);
    auto done = put(sealer_.open(row.body, places::message(row.key)), row.body, what);
    if (!done || row.last_error.empty()) return done;
    return put(sealer_.open_text(row.last_error, places::message_error(row.key)), row.last_error,
               what);
}

Result<void> Contents::open(SessionId session, port::SentRow& row) {
    return put(sealer_.open_text(row.body, places::sent(session, row)), row.body,
               "a notification about call " + std::to_string(row.call) + " of " + session.text());
}

Result<void> Contents::open(port::KeptRow& row) {
    return put(sealer_.open_text(row.body, places::kept(row.delivery.key)), row.body,
               "the kept delivery " + row.delivery_id);
}

Result<void> Contents::open(port::DeviceRow& row) {
    auto done = put(sealer_.open_text(row.p256dh, places::device("key", row.id)), row.p256dh,
                    "the device " + row.id);
    if (!done) return done;
    return put(sealer_.open_text(row.auth, places::device("secret", row.id)), row.auth,
               "the device " + row.id);
}

Result<void> Contents::open(port::RuleRow& row) {
    return put(sealer_.open_text(row.body, places::rule(row.id)), row.body, "the rule " + row.id);
}

Result<void> Contents::open_secret(SessionId session, CallNo call, Generation generation,
                                   std::string& secret) {
    return put(sealer_.open_text(secret, places::secret(session, call, generation)), secret,
               "the webhook secret of call " + std::to_string(call) + " of " + session.text());
}

bool Contents::is_sealed_artifact(std::string_view stored) {
    return !stored.empty() && (stored.front() == more || stored.front() == last) &&
           sealer_.is_sealed(stored.substr(1));
}

std::optional<std::string> Contents::opened_pieces(SessionId session, Seq seq,
                                                   std::string_view stored, std::uint64_t first) {
    std::string out;
    for (std::uint64_t number = first; !stored.empty(); ++number) {
        auto const piece = stored.substr(0, sealed_piece_bytes);
        stored.remove_prefix(piece.size());
        if (!is_sealed_artifact(piece) || (piece.front() == last && !stored.empty()))
            return std::nullopt;
        auto const opened =
            sealer_.open(piece.substr(1), piece_place(session, seq, number, piece.front()));
        if (!opened) return std::nullopt;
        out += *opened;
    }
    return out;
}

std::optional<std::string> Contents::opened_artifact(SessionId session, Seq seq,
                                                     std::string_view stored) {
    if (!is_sealed_artifact(stored))
        return sealer_.mixed() ? std::optional(std::string(stored)) : std::nullopt;
    // Without its end it is not whole.
    auto const end = (stored.size() - 1) / sealed_piece_bytes * sealed_piece_bytes;
    if (stored[end] != last) return std::nullopt;
    return opened_pieces(session, seq, stored, 0);
}

}  // namespace dormouse::store
