#include "store/sealed/resealer.h"

#include "store/sealed/places.h"

#include <optional>

namespace dormouse::store {

using Changed = port::Rewriter::Changed;

Changed Resealer::bytes(std::string const& content, std::string const& place) {
    if (sealer_.is_sealed(content)) return std::nullopt;
    return sealer_.seal(content, place);
}

Changed Resealer::text(std::string const& content, std::string const& place) {
    if (sealer_.is_sealed_text(content)) return std::nullopt;
    return sealer_.seal_text(content, place);
}

Changed Resealer::frame(SessionId session, port::Frame const& frame) {
    if (contents_.is_sealed_frame(frame.bytes)) return std::nullopt;
    return contents_.sealed_frame(session, frame);
}

Changed Resealer::snapshot(SessionId session, port::SnapshotRow const& row) {
    return bytes(row.state, places::snapshot(session, row));
}

Changed Resealer::artifact(SessionId session, Seq seq, std::string const& bytes) {
    if (contents_.is_sealed_artifact(bytes)) return std::nullopt;
    return contents_.sealed_artifact(session, seq, bytes);
}

Changed Resealer::title(SessionId session, std::string const& title) {
    return text(title, places::title(session));
}

Changed Resealer::message(port::OutboxKey const& key, std::string const& body) {
    return bytes(body, places::message(key));
}

Changed Resealer::message_error(port::OutboxKey const& key, std::string const& text) {
    return this->text(text, places::message_error(key));
}

Changed Resealer::secret(SessionId session, port::SecretRow const& row) {
    return text(row.secret, places::secret(session, row.call, row.generation));
}

Changed Resealer::sent(SessionId session, port::SentRow const& row) {
    return text(row.body, places::sent(session, row));
}

Changed Resealer::kept(Bits128 const& key, std::string const& body) {
    return text(body, places::kept(key));
}

Changed Resealer::rule(std::string const& id, std::string const& body) {
    return text(body, places::rule(id));
}

std::optional<port::DeviceRow> Resealer::device(port::DeviceRow const& device) {
    if (sealer_.is_sealed_text(device.auth)) return std::nullopt;
    return contents_.sealed(device);
}

}  // namespace dormouse::store
