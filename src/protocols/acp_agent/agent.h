#pragma once
// Dormouse as an agent of the Agent Client Protocol (version 1): an editor's requests become
// requests to the server, the events of its sessions become updates. One thread; it holds nothing
// that the server does not, so it may be killed at any time.

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
    std::string agent;  // empty: the only one
    std::string version;
};

class AcpAgent {
public:
    AcpAgent(AcpSettings settings, Client& client, Stdio& stdio, std::ostream& log)
        : settings_(std::move(settings)), client_(client), stdio_(stdio), log_(log) {}

    // Until the editor closes its end.
    void run();

private:
    using Result = std::expected<Json, rpc::Fault>;
    using Instant = std::chrono::steady_clock::time_point;

    struct Prompt {
        Json id = {};           // of the request; it is answered when the turn ends
        std::string turn = {};  // empty: none is open
    };
    // A session that this editor has opened.
    struct Session {
        AcpUpdates updates = {};
        std::string after = {};  // the last event told
        std::optional<EventStream> stream = {};
        int tries = 0;
        Instant again = {};  // when the stream is to be opened
        Prompt prompt = {};
        std::uint64_t used = 0;                          // when, for who is dropped first
        std::map<std::string, std::uint64_t> asks = {};  // pendingID → our request
        std::map<std::string, AcpAsk> words = {};        // pendingID → asked in words
        bool gone = false;                               // it is forgotten at the next round
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
    // Answers itself, because the history comes before the answer.
    void load(Json const& id, json::View params, bool tell);
    void prompt(Json const& id, json::View params);
    void cancel(json::View params);

    [[nodiscard]] std::expected<std::string, rpc::Fault> agent_name();
    [[nodiscard]] std::expected<bool, rpc::Fault> works_in_folders(std::string const& agent);
    [[nodiscard]] std::expected<void, rpc::Fault> read_history(std::string const& id,
                                                               Session& session, bool tell);
    [[nodiscard]] Outcome<Reply> send_prompt(std::string const& id, Session& session,
                                             AcpInput const& input);
    Session& follow(std::string const& id, Session session);

    void connect(std::string const& id, Session& session);
    void read_stream(std::string const& id, Session& session);
    void lost(std::string const& id, Session& session, Failure const& why);
    void tell(std::string const& id, Session& session, AcpTold const& told);
    void update(std::string const& session, Json const& update);
    void end_prompt(Session& session, AcpEnd const& end);
    void ask(std::string const& id, Session& session, std::string const& pending);
    void drop_ask(Session& session, std::string const& pending);
    void say(std::string const& session, std::string const& text);
    // False: the next prompt answers no question that was asked in words.
    [[nodiscard]] bool answer_in_words(Json const& id, Session& session, AcpInput const& input);

    void answer(Json const& id, Result const& result);

    AcpSettings settings_;
    Client& client_;
    Stdio& stdio_;
    std::ostream& log_;
    std::map<std::string, Session> sessions_;
    std::map<std::uint64_t, AcpAsk> asks_;  // our open requests
    bool forms_ = false;                    // the editor can show some
    std::uint64_t requests_ = 0;
    std::uint64_t uses_ = 0;
};

}  // namespace dormouse::acp_agent
