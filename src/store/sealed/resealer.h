#pragma once
// Encrypts contents that were stored before the store was encrypted. Encrypted contents stay as
// they are.

#include "port/rewriter.h"
#include "store/sealed/contents.h"
#include "store/sealed/sealer.h"

#include <string>

namespace dormouse::store {

class Resealer final : public port::Rewriter {
public:
    // REQUIRES: Sealer::prepare() succeeded. `sealer` outlives it.
    explicit Resealer(Sealer& sealer) : sealer_(sealer), contents_(sealer) {}

    [[nodiscard]] Changed frame(SessionId session, port::Frame const& frame) override;
    [[nodiscard]] Changed snapshot(SessionId session, port::SnapshotRow const& row) override;
    [[nodiscard]] Changed artifact(SessionId session, Seq seq, std::string const& bytes) override;
    [[nodiscard]] Changed title(SessionId session, std::string const& title) override;
    [[nodiscard]] Changed message(port::OutboxKey const& key, std::string const& body) override;
    [[nodiscard]] Changed message_error(port::OutboxKey const& key,
                                        std::string const& text) override;
    [[nodiscard]] Changed secret(SessionId session, port::SecretRow const& row) override;
    [[nodiscard]] Changed sent(SessionId session, port::SentRow const& row) override;
    [[nodiscard]] Changed kept(Bits128 const& key, std::string const& body) override;
    [[nodiscard]] Changed rule(std::string const& id, std::string const& body) override;
    [[nodiscard]] std::optional<port::DeviceRow> device(port::DeviceRow const& device) override;

private:
    [[nodiscard]] Changed bytes(std::string const& content, std::string const& place);
    [[nodiscard]] Changed text(std::string const& content, std::string const& place);

    Sealer& sealer_;
    Contents contents_;
};

}  // namespace dormouse::store
