#pragma once
// Version 1 of ACP. Only this class, client_files.h, client_terminals.h and quirks.h know its
// methods, members and capabilities.
// Example: cancel("s1") writes a notification session/cancel with {"sessionId":"s1"}.

#include "acp/client/client_files.h"
#include "acp/client/client_terminals.h"
#include "acp/dialect.h"
#include "acp/settings.h"
#include "json/json.h"
#include "port/process.h"
#include "rpc/peer.h"

#include <map>

namespace dormouse::acp {

// Reads one `update` of session/update.
[[nodiscard]] Update update_in(json::View update);

class VersionOne final : public Dialect {
public:
    // All arguments outlive this.
    VersionOne(Settings const& settings, port::Processes& processes, Listener listener);

    [[nodiscard]] bool receive(std::string_view bytes) override { return rpc_.receive(bytes); }
    void close() override;
    [[nodiscard]] std::string last_invalid_line() const override { return rpc_.skipped_line(); }
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
                session::TraceHeaders const& trace, Then<TurnEnd> then) override;
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
    // Sends a request whose result is not read.
    void ask(std::string_view method, Json const& params, Then<void> then);

    Listener const listener_;
    rpc::Peer rpc_;
    ClientFiles files_;
    ClientTerminals terminals_;
    std::string session_;               // opened or continued last
    std::string folder_;                // of session_
    std::vector<std::string> servers_;  // of session_
    std::uint64_t questions_ = 0;
    std::map<std::uint64_t, Open> open_;
};

// Makes the dialect of an agent: Settings::dialect, else version 1. All arguments outlive it.
[[nodiscard]] std::unique_ptr<Dialect> dialect_of(Settings const& settings,
                                                  port::Processes& processes,
                                                  Dialect::Listener listener);

}  // namespace dormouse::acp
