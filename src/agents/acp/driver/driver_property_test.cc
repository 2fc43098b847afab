#include "acp/testing/driver_fixture.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

// An agent that answers, refuses, asks, reports and dies at any time, with prompts, cancels,
// decisions and attached screens in any order. Each prompt has one outcome, or none if it was
// cancelled, and each permission that the agent asks for has one answer.
namespace dormouse::acp::testing {
namespace {

class AnyAgent {
public:
    explicit AnyAgent(bool attaches) : attaches_(attaches) {
        if (attaches) {
            own_.attach_command = {"/bin/agent", "attach"};
            own_.free_port = [] { return std::uint16_t{4'711}; };
            own_.http = &http_;
        }
        programs_ = std::make_unique<ExternalAgents>(own_, processes_, loop_);
    }

    void step(std::uint32_t number) {
        std::uint32_t const choice = number >> 5U;
        switch (number % 20) {
            case 0:
            case 1: prompt(1 + choice % 2); break;
            case 2: stop(); break;
            case 3:
                programs_->notify(session_, {1 + choice % 2, 1 + choice % 3, choice % 5 != 0});
                break;
            case 4:
                update(R"({"sessionUpdate":"agent_message_chunk","content":{"text":"hi"}})");
                break;
            case 5: update(R"({"sessionUpdate":"tool_call","toolCallId":"t1","title":"x"})"); break;
            case 6:
            case 7: ask(); break;
            case 8: die(processes_.all.size()); break;
            case 9: loop_.pass(Duration(1'000LL << (choice % 11))); break;
            case 10: attach(); break;
            case 11: read_screen(); break;
            case 12:
                if (choice % 4 == 0) programs_->ended(session_);
                break;
            default: answer(choice);
        }
        loop_.run();
        check();
    }

    void finish() {
        for (int i = 0; i < 10; ++i) {
            for (std::size_t at = 1; at <= processes_.all.size(); ++at) die(at);
            loop_.run();
        }
        check();
        RC_ASSERT(current_ == 0U);
        for (std::uint64_t id = 1; id <= last_; ++id)
            RC_ASSERT(outcomes_[id] == (stopped_.contains(id) ? 0U : 1U));
        RC_ASSERT(attached_ == attach_requests_);
    }

private:
    struct Request {
        std::size_t process;
        std::uint64_t id;
    };

    void prompt(std::uint32_t attempt) {
        if (current_ != 0) return;
        port::ModelRequest request;
        request.session = session_;
        request.ask = {1, 1, attempt, 9, 0, true};
        request.id = {++last_, 0};
        context_.again = attempt > 1;
        request.external = context_;
        current_ = last_;
        programs_->prompt(
            std::move(request), {}, [](port::Delta const&) {},
            [this, id = last_](Command::Body body) { take(id, body); });
    }
    void take(std::uint64_t id, Command::Body const& body) {
        if (auto const* const attached = std::get_if<AgentAttach>(&body))
            context_.acp_session = attached->acp_session;
        bool const over = std::get_if<AgentReply>(&body) != nullptr ||
                          std::get_if<AgentFailure>(&body) != nullptr;
        if (!over) return;
        ++outcomes_[id];
        if (current_ == id) current_ = 0;
    }
    void stop() {
        if (current_ == 0) return;
        stopped_.insert(current_);
        programs_->stop(session_, {current_, 0});
        current_ = 0;
    }
    void attach() {
        if (!attaches_) return;
        ++attach_requests_;
        programs_->open_terminal({session_, "fake", context_.acp_session, "", "", false,
                                  [this](Command::Body const& body) { take(0, body); }},
                                 [this](Result<port::AttachInfo> const&) { ++attached_; });
    }
    void read_screen() {
        if (http_.waiting() > 0) http_.answer("[]");
    }

    [[nodiscard]] bool lives() const {
        return !processes_.all.empty() && !processes_.all.back().ended;
    }
    void update(std::string const& body) {
        if (!lives()) return;
        processes_.say(R"({"method":"session/update","params":{"sessionId":"s1","update":)" + body +
                       "}}");
    }
    void ask() {
        if (!lives()) return;
        requests_.push_back({processes_.all.size(), 1'000 + requests_.size()});
        processes_.say(R"({"id":)" + std::to_string(requests_.back().id) +
                       R"(,"method":"session/request_permission","params":{"sessionId":"s1",)"
                       R"("toolCall":{"toolCallId":"t1"},"options":)" +
                       default_options + "}}");
    }
    void die(std::size_t number) {
        if (number == 0 || processes_.at(number).ended) return;
        processes_.at(number).ended = true;
        processes_.at(number).done({port::ProcessEnd::How::signalled, 9, {}, {}, {}});
    }
    // Returns the oldest unanswered request.
    void answer(std::uint32_t choice) {
        if (!lives()) return;
        auto& done = answered_[processes_.all.size()];
        for (std::string const& line : processes_.newest().lines) {
            json::View const message{std::string_view(line)};
            std::string const id(message["id"].raw());
            std::string const method = message["method"].string_or("");
            if (method.empty() || id.empty() || !done.insert(id).second) continue;
            return processes_.say(R"({"id":)" + id + "," + result_of(method, choice) + "}");
        }
    }
    static std::string result_of(std::string const& method, std::uint32_t choice) {
        if (choice % 11 == 0) return R"("error":{"code":-32002,"message":"session not found"})";
        if (choice % 13 == 0) return R"("error":{"code":-32603,"message":"no"})";
        if (method == "initialize")
            return R"("result":{"protocolVersion":1,"agentCapabilities":{"loadSession":)" +
                   std::string(choice % 2 == 0 ? "true" : "false") +
                   R"(,"sessionCapabilities":{"list":{},"close":{},"resume":)" +
                   (choice % 3 == 0 ? "{}" : "null") + "}}}";
        if (method == "session/list") return R"("result":{"sessions":[{"sessionId":"s1"}]})";
        return R"("result":{"sessionId":"s1"})";
    }
    [[nodiscard]] std::size_t answers_to(Request const& sent) {
        std::string const begin = R"({"jsonrpc":"2.0","id":)" + std::to_string(sent.id) + ",";
        return static_cast<std::size_t>(std::ranges::count_if(
            processes_.at(sent.process).lines,
            [&](std::string const& line) { return line.starts_with(begin); }));
    }
    void check() {
        for (Request const& sent : requests_) {
            std::size_t const answers = answers_to(sent);
            RC_ASSERT(answers <= 1U);
            bool const over = current_ == 0 && !attaches_ && !processes_.at(sent.process).ended;
            if (over) RC_ASSERT(answers == 1U);
        }
        for (auto const& [id, count] : outcomes_) RC_ASSERT(count <= 1U);
    }

    bool const attaches_;
    SessionId const session_ = SessionId::make(7, {1});
    FakeLoop loop_;
    FakeProcesses processes_;
    FakePort http_;
    Settings own_ = settings();
    AgentContext context_;
    std::uint64_t current_ = 0, last_ = 0;  // prompts, from 1
    std::map<std::uint64_t, std::size_t> outcomes_;
    std::set<std::uint64_t> stopped_;
    std::vector<Request> requests_;
    std::map<std::size_t, std::set<std::string>> answered_;
    std::size_t attach_requests_ = 0, attached_ = 0;
    std::unique_ptr<ExternalAgents> programs_;
};

RC_GTEST_PROP(DriverProperty, AnyAgent_OneOutcomeAPromptAndOneAnswerAPermission, (bool attaches)) {
    AnyAgent agent(attaches);
    auto const numbers = *rc::gen::container<std::vector<std::uint32_t>>(
        rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint32_t>(0, 1U << 24U)));
    for (std::uint32_t const number : numbers) agent.step(number);
    agent.finish();
}

}  // namespace
}  // namespace dormouse::acp::testing
