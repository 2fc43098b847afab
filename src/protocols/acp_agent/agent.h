#pragma once
// Dormouse as an agent of the Agent Client Protocol (version 1): an editor's requests become
// requests to the server, and events of the server's sessions become updates. Single-threaded. Has
// no state that the server does not have, so it may be killed at any time.

#include "acp_agent/ask.h"
#include "acp_agent/prompt.h"
#include "acp_agent/updates.h"
#include "cli/client/client.h"
#include "cli/client/stdio.h"

#include <chrono>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace dormouse::acp_agent {

using cli::Client;
using cli::EventStream;
using cli::Failure;
using cli::Outcome;
using cli::Reply;
using cli::Stdio;

struct AcpSettings {
    std::string project;
    std::string agent;  // empty: the server's only agent
    std::string version;
};

class AcpAgent {
public:
    AcpAgent(AcpSettings settings, Client& client, Stdio& stdio, std::ostream& log)
        : settings_(std::move(settings)), client_(client), stdio_(stdio), log_(log) {}

    // Runs until the editor closes its input.
    void run();

private:
    using Result = std::expected<Json, rpc::Fault>;
    using Instant = std::chrono::steady_clock::time_point;

    struct Prompt {
        Json id = {};           // of the request; answered when the turn ends
        std::string turn = {};  // empty: no turn is open
    };
    // A session that this editor has opened.
    struct Session {
        AcpUpdates updates = {};
        std::string after = {};  // the last event reported
        std::optional<EventStream> stream = {};
        int tries = 0;
        Instant again = {};  // when to open the stream next
        Prompt prompt = {};
        std::uint64_t used = 0;  // order of use: the least recently used session is dropped first
        std::map<std::string, std::uint64_t> asks = {};  // pendingID → our request
        std::map<std::string, AcpAsk> words = {};        // pendingID → question asked as text
        bool gone = false;                               // removed in the next round
    };
    void wait();
    void take_line(rpc::Line const& line);
    void take(rpc::Message const& message);
    void take_request(rpc::Message const& message);
    void take_notification(rpc::Message const& message);
    void take_answer(rpc::Message const& message);

    [[nodiscard]] Result initialize(json::View params);
    [[nodiscard]] Result make(json::View params);
    [[nodiscard]] Result list(json::View params);
    // Sends the answer itself, after the history.
    void load(Json const& id, json::View params, bool with_updates);
    void prompt(Json const& id, json::View params);
    void cancel(json::View params);

    [[nodiscard]] std::expected<std::string, rpc::Fault> agent_name();
    [[nodiscard]] std::expected<bool, rpc::Fault> works_in_folders(std::string const& agent);
    [[nodiscard]] std::expected<void, rpc::Fault> read_history(std::string const& id,
                                                               Session& session, bool with_updates);
    [[nodiscard]] Outcome<Reply> send_prompt(std::string const& id, Session& session,
                                             AcpInput const& input);
    Session& follow(std::string const& id, Session session);

    void connect(std::string const& id, Session& session);
    void read_stream(std::string const& id, Session& session);
    void lost(std::string const& id, Session& session, Failure const& why);
    void forward(std::string const& id, Session& session, AcpReport const& report);
    void update(std::string const& session, Json const& update);
    void end_prompt(Session& session, AcpEnd const& end);
    void ask(std::string const& id, Session& session, std::string const& pending);
    void drop_ask(Session& session, std::string const& pending);
    void send_text(std::string const& session, std::string const& text);
    // Returns false if the next prompt does not answer a question that was asked as text.
    [[nodiscard]] bool answer_in_words(Json const& id, Session& session, AcpInput const& input);

    void answer(Json const& id, Result const& result);

    AcpSettings settings_;
    Client& client_;
    Stdio& stdio_;
    std::ostream& log_;
    std::map<std::string, Session> sessions_;
    std::map<std::uint64_t, AcpAsk> asks_;  // open requests to the editor
    bool forms_ = false;                    // the editor can show forms
    std::uint64_t requests_ = 0;
    std::uint64_t uses_ = 0;
};

}  // namespace dormouse::acp_agent
