// A program that speaks MCP on its standard input and output.

#include "base/scope.h"
#include "base/text/cut.h"
#include "mcp_client/link.h"

namespace dormouse::mcp_client {
namespace {

using port::ProcessEnd;

constexpr std::size_t error_shown = 300;

std::string last_words(ProcessEnd const& end) {
    std::string text = end.error;
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    if (auto const line = text.rfind('\n'); line != std::string::npos) text.erase(0, line + 1);
    return text.empty() ? "" : ": " + cut_with_mark(text, error_shown, "…");
}

std::string why_ended(ServerSettings const& server, ProcessEnd const& end) {
    switch (end.how) {
        case ProcessEnd::How::not_started:
            return "its program '" + server.argv.front() + "' cannot be started: " + end.error;
        case ProcessEnd::How::signalled:
            return "its program was ended by signal " + std::to_string(end.status) +
                   last_words(end);
        case ProcessEnd::How::flooded: return "its program wrote too much and was ended";
        case ProcessEnd::How::timed_out:
        case ProcessEnd::How::exited: break;
    }
    return "its program ended with status " + std::to_string(end.status) + last_words(end);
}

class StdioLink final : public Link {
public:
    StdioLink(ServerSettings const& server, port::Processes& processes, LinkEvents events)
        : processes_(processes), events_(std::move(events)) {
        port::ProcessSpec spec;
        spec.argv = server.argv;
        spec.cwd = server.cwd;
        spec.environment = server.environment;
        spec.time_limit = Duration::max();
        spec.on_output = [this](std::string_view bytes) { events_.received(bytes, ""); };
        number_ =
            processes_.start(std::move(spec), scope_.guard([this, server](ProcessEnd const& end) {
                number_ = 0;
                events_.closed(why_ended(server, end));
            }));
    }
    ~StdioLink() override {
        if (number_ != 0) processes_.stop(number_);
    }
    StdioLink(StdioLink const&) = delete;
    StdioLink& operator=(StdioLink const&) = delete;

    void send(std::string const& line, std::string_view) override {
        if (number_ != 0) processes_.write(number_, line);
    }
    void forget(std::string_view) override {}
    void initialized(std::string_view) override {}
    void stateless() override {}

private:
    port::Processes& processes_;
    LinkEvents events_;
    port::Processes::Number number_ = 0;
    Scope scope_;
};

}  // namespace

std::unique_ptr<Link> make_stdio_link(ServerSettings const& server, port::Processes& processes,
                                      LinkEvents events) {
    return std::make_unique<StdioLink>(server, processes, std::move(events));
}

}  // namespace dormouse::mcp_client
