#pragma once
// MCP on standard input and output: requests of the client go to mcp::Face, and its requests to the
// server's API over HTTP. Requests that wait come last, take a second each, and end when the client
// sends something, so that other requests are answered meanwhile.

#include "cli/client/client.h"
#include "cli/client/stdio.h"
#include "mcp/face.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace dormouse::cli {

class McpStdio {
public:
    // `patient`: a client of its own for requests that wait; they are interrupted when the input is
    // readable.
    McpStdio(mcp::FaceSettings settings, Client& client, Client& patient, Stdio& stdio);

    // Runs until the client closes its input. Then it withdraws what the client waited for.
    void run();

private:
    // The answers to a line: one message, or a batch.
    struct Reply {
        std::vector<std::string> lines;
        std::size_t open = 0;  // requests without an answer
        bool batch = false;
    };
    struct Queued {
        mcp::ApiRequest request;
        mcp::ApiDone done;
    };

    void take(rpc::Line const& line);
    void answer(rpc::Message const& message, std::shared_ptr<Reply> const& reply);
    void finish(std::shared_ptr<Reply> const& reply);
    void take_response(rpc::Message const& message);
    void send_next();
    void wait_next();
    [[nodiscard]] mcp::ApiAnswer send(mcp::ApiRequest const& request);
    void withdraw_all();

    Client& client_;
    Client& patient_;
    Stdio& stdio_;
    std::deque<Queued> prompt_, waiting_;
    std::map<std::string, mcp::TicketPtr> tickets_;  // by the text of the request's id
    mcp::ApiPtr access_;
    std::shared_ptr<mcp::Face> face_;
};

}  // namespace dormouse::cli
