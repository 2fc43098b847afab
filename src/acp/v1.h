#pragma once
// Version 1 of ACP: its methods, members and capabilities stand here and in workplace.h, and
// nowhere else.

#include "acp/dialect.h"
#include "acp/settings.h"
#include "acp/workplace.h"
#include "json/json.h"
#include "port/process.h"
#include "rpc/peer.h"

#include <map>

namespace dormouse::acp {

// One `update` of session/update.
[[nodiscard]] Said said_in(json::View update);

class VersionOne final : public Dialect {
public:
    // All outlive this.
    VersionOne(Settings const& settings, port::Processes& processes, Ears ears);

    [[nodiscard]] bool receive(std::string_view bytes) override { return rpc_.receive(bytes); }
    void close() override;
    [[nodiscard]] std::string nonsense() const override { return rpc_.skipped_line(); }
    [[nodiscard]] std::string version() const override { return "1"; }

    void greet(Then<Hello> then) override;
    void sign_in(std::string const& login, Then<void> then) override;
    void open(Place const& place, Then<Opened> then) override;
    void take_up(std::string const& session, Place const& place, bool with_past,
                 Then<Opened> then) override;
    void list(std::string const& folder, std::string const& cursor, Then<Listed> then) override;
    void set_mode(std::string const& session, std::string const& mode, Then<void> then) override;
    void set_option(std::string const& session, std::string const& option, Json const& value,
                    Then<void> then) override;
    void prompt(std::string const& session, std::vector<Block> const& blocks,
                Then<TurnEnd> then) override;
    void cancel(std::string const& session) override;
    void answer(std::uint64_t question, Decision decision) override;
    void close_session(std::string const& session, Then<void> then) override;
    void remove_session(std::string const& session, Then<void> then) override;

private:
    struct Open {
        Json id;       // of the request
        Json options;  // an array
    };

    void on_request(std::string const& method, Json const& id, json::View params);
    void on_question(Json const& id, json::View params);
    void settle_in(Place const& place);
    void respond(Open const& open, Decision decision);
    // Of a request whose result says nothing.
    void ask(std::string_view method, Json const& params, Then<void> then);

    Ears const ears_;
    rpc::Peer rpc_;
    Workplace workplace_;
    std::string session_;               // that was opened or taken up last
    std::string folder_;                // of it
    std::vector<std::string> servers_;  // that it was given
    std::uint64_t questions_ = 0;
    std::map<std::uint64_t, Open> open_;
};

// What programs are spoken to with: Settings::dialect, else this version. All outlive it.
[[nodiscard]] std::unique_ptr<Dialect> dialect_of(Settings const& settings,
                                                  port::Processes& processes, Dialect::Ears ears);

}  // namespace dormouse::acp
