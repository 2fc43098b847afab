#include "mcp/tasks.h"

#include "mcp/face.h"
#include "mcp/results.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

namespace dormouse::mcp {
namespace {

constexpr std::string_view with_tasks =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":)"
    R"({"extensions":{"io.modelcontextprotocol/tasks":{}}}})";
constexpr std::string_view without_tasks =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

// A pending call that is a task of `owner`, as the inbox shows it.
std::string call_of(std::string const& owner, std::string const& status,
                    std::string const& more = R"("reason":"user_input")") {
    return R"({"id":"pnd_1","projectID":"p","status":")" + status +
           R"(","externalRef":"mcp-task:)" + owner + R"(","requestedBy":{"type":"token","name":")" +
           owner + R"("},"timeout":61000,"time":{"created":1000,"completed":null},"progress":[],)" +
           more + "}";
}

// Keeps the requests to the API; each is answered by answer().
class TasksOfMcp : public ::testing::Test {
protected:
    TasksOfMcp() {
        auto access = std::make_shared<ApiAccess>();
        access->ask = [this](ApiRequest request, ApiDone done) {
            requests.push_back(std::move(request));
            open.push_back(std::move(done));
        };
        access->now = [this] { return now; };
        access->wait_seconds = 50;
        face = std::make_shared<Face>(FaceSettings{.project = "p", .version = "1"}, access);
    }
    void ask(std::string const& method, std::string const& params, bool stateless = false) {
        auto const message = rpc::read({.text = R"({"jsonrpc":"2.0","id":1,"method":")" + method +
                                                R"(","params":{)" + params + "}}"})
                                 .messages.front();
        got.reset();
        face->answer(message, stateless ? Era::stateless : Era::with_initialize, ticket,
                     [this](Face::Answer answer) { got = std::move(answer); });
    }
    void call(std::string const& task) {
        ask("tools/call", R"("name":"ask_human","arguments":{"question":"Which?"},"task":)" + task);
    }
    void answer(std::string text) {
        auto done = std::move(open.front());
        open.pop_front();
        done(Json::trusted(std::move(text)));
    }
    void refuse(std::string code, bool away = false) {
        auto done = std::move(open.front());
        open.pop_front();
        done(std::unexpected(Refusal{.what = code, .code = code, .away = away}));
    }
    // A request that first asks who the caller is, and then for the call.
    void ask_of(std::string const& method, std::string const& call, bool stateless = false) {
        ask(method, R"("taskId":"pnd_1",)" + std::string(with_tasks), stateless);
        answer(R"({"name":"ann"})");
        answer(call);
    }
    [[nodiscard]] std::string at(std::string_view pointer) const {
        if (!got || !*got) return "none";
        auto const found = json::View(**got).at_pointer(pointer);
        return found.string().value_or(std::string(found.raw()));
    }
    [[nodiscard]] int fault() const { return got && !*got ? got->error().code : 0; }
    [[nodiscard]] std::string why() const { return got && !*got ? got->error().message : ""; }

    Time now = from_ms(2'000);
    TicketPtr ticket = std::make_shared<Ticket>();
    std::vector<ApiRequest> requests;
    std::deque<ApiDone> open;
    std::optional<Face::Answer> got;
    std::shared_ptr<Face> face;
};

TEST_F(TasksOfMcp, Create_TtlOfAnySize_IsBounded) {
    for (auto const& [task, ttl] : std::initializer_list<std::pair<char const*, std::int64_t>>{
             {R"({"ttl":60000})", 60'000},
             {R"({"ttl":0})", task_ttl_min_ms},
             {R"({"ttl":-1e300})", task_ttl_min_ms},
             {R"({"ttl":1e300})", task_ttl_max_ms},
             {R"({"ttl":null})", task_ttl_default_ms},
             {"{}", task_ttl_default_ms}}) {
        call(task);
        answer(R"({"name":"ann"})");
        json::View const body(requests.back().body);
        EXPECT_EQ(body["withinMs"].integer_or(0), ttl) << task;
        EXPECT_EQ(body["externalRef"].string_or(""), "mcp-task:ann");
        answer(R"({"pendingID":"pnd_1","call":)" + call_of("ann", "waiting") + "}");
        EXPECT_EQ(at("/task/taskId"), "pnd_1");
        EXPECT_EQ(at("/task/status"), "working");
        EXPECT_EQ(at("/task/ttl"), "60000");
        EXPECT_EQ(at("/task/createdAt"), "1970-01-01T00:00:01.000Z");
    }
    for (auto const* const task : {"3", "[]", R"({"ttl":"1"})"}) {
        call(task);
        EXPECT_EQ(fault(), rpc::code::invalid_params) << task;
    }
}

TEST_F(TasksOfMcp, Create_BadArgumentsOrOtherTool_IsAFault) {
    ask("tools/call", R"("name":"ask_human","arguments":{},"task":{})");
    EXPECT_EQ(why(), "question is missing");
    ask("tools/call", R"("name":"collect_answer","arguments":{"id":"x"},"task":{})");
    EXPECT_EQ(fault(), rpc::code::method_not_found);
    EXPECT_TRUE(requests.empty());
    call("{}");
    answer(R"({"name":"ann"})");
    refuse("too_many_pending");
    EXPECT_EQ(why(), "too_many_pending");
}

TEST_F(TasksOfMcp, Task_OfAnotherTokenOrProject_IsNotFound) {
    for (auto const* const method : {"tasks/get", "tasks/result", "tasks/cancel"}) {
        ask_of(method, call_of("bob", "waiting"));
        EXPECT_EQ(why(), "Task not found");
        // The reference alone proves nothing: anybody may give a call any.
        std::string forged = call_of("bob", "waiting");
        forged.replace(forged.find("mcp-task:bob"), 12, "mcp-task:ann");
        ask_of(method, forged);
        EXPECT_EQ(why(), "Task not found");
        std::string other = call_of("ann", "waiting");
        other.replace(other.find(R"("p")"), 3, R"("q")");
        ask_of(method, other);
        EXPECT_EQ(why(), "Task not found");
        ask(method, R"("taskId":"pnd_1")");
        answer(R"({"name":"ann"})");
        refuse("not_found");
        EXPECT_EQ(fault(), rpc::code::invalid_params);
        ask(method, R"("taskId":1)");
        EXPECT_EQ(why(), "taskId must be a string");
    }
}

TEST_F(TasksOfMcp, Task_AfterItsTtl_HasExpired) {
    now = from_ms(60'999);
    ask_of("tasks/get", call_of("ann", "completed"));
    EXPECT_EQ(at("/status"), "completed");
    now = from_ms(61'000);
    ask_of("tasks/get", call_of("ann", "completed"));
    EXPECT_EQ(why(), "Task has expired");
    ask_of("tasks/result", call_of("ann", "expired"));
    EXPECT_EQ(why(), "Task has expired");
}

TEST_F(TasksOfMcp, Status_OfEachCall_IsThatOfTheEra) {
    for (auto const& [call, old_era, extension] :
         std::initializer_list<std::tuple<char const*, std::string_view, std::string_view>>{
             {"waiting", "working", "working"},
             {"processing", "working", "working"},
             {"completed", "completed", "completed"},
             {"failed", "failed", "completed"},
             {"cancelled", "cancelled", "cancelled"}}) {
        std::string const more = R"("reason":"user_input","error":"no","result":{"output":"eu"})";
        ask_of("tasks/get", call_of("ann", call, more));
        EXPECT_EQ(at("/status"), old_era);
        EXPECT_EQ(at("/result"), "") << "tasks/result has it";
        ask_of("tasks/get", call_of("ann", call, more), true);
        EXPECT_EQ(at("/status"), extension);
        EXPECT_EQ(at("/resultType"), "complete");
        EXPECT_EQ(at("/ttlMs"), "60000");
        bool const has_result = extension == "completed";
        EXPECT_EQ(at("/result").empty(), !has_result);
        if (!has_result) continue;
        EXPECT_EQ(at("/result/isError"), old_era == "failed" ? "true" : "false");
    }
}

TEST_F(TasksOfMcp, Result_OfOpenTask_WaitsForTheOutcome) {
    std::vector<std::string> sent;
    ticket->send = [&](std::string const& line) { sent.push_back(line); };
    ask_of("tasks/result", call_of("ann", "waiting"));
    EXPECT_FALSE(got);
    answer(call_of("ann", "waiting"));
    EXPECT_EQ(requests.back().target, "/api/pending/pnd_1?wait=50");
    answer(call_of("ann", "completed", R"("reason":"user_input","result":{"output":"eu"})"));
    EXPECT_EQ(at("/content/0/text"), "eu");
    EXPECT_EQ(at("/_meta/io.modelcontextprotocol~1related-task/taskId"), "pnd_1");
    ASSERT_EQ(sent.size(), 1);
    EXPECT_TRUE(sent[0].contains("notifications/tasks/status"));
    EXPECT_TRUE(sent[0].contains(R"("status":"completed")"));
}

TEST_F(TasksOfMcp, Result_ServerAway_WaitsForIt) {
    ask("tasks/result", R"("taskId":"pnd_1")");
    refuse("away", true);
    EXPECT_EQ(requests.back().target, "/api/me");
    EXPECT_TRUE(requests.back().waits);
    answer(R"({"name":"ann"})");
    refuse("away", true);
    EXPECT_EQ(requests.back().target, "/api/pending/pnd_1?view=inbox");
    answer(call_of("ann", "completed", R"("reason":"user_input","result":{"output":"eu"})"));
    EXPECT_EQ(at("/content/0/text"), "eu");
    ask("tasks/result", R"("taskId":"pnd_1")");
    ticket->cancelled = true;
    refuse("away", true);
    EXPECT_EQ(why(), "away");
    ask("tasks/get", R"("taskId":"pnd_1")");
    refuse("away", true);
    EXPECT_EQ(why(), "away") << "its client asks again";
}

TEST_F(TasksOfMcp, Cancel_SettledMeanwhile_IsRefusedInTheOldEra) {
    ask_of("tasks/cancel", call_of("ann", "completed"));
    EXPECT_TRUE(why().contains("already in terminal status 'completed'"));
    ask_of("tasks/cancel", call_of("ann", "completed"), true);
    EXPECT_EQ(at("/resultType"), "complete");
    ask_of("tasks/cancel", call_of("ann", "waiting"));
    EXPECT_EQ(requests.back().method, "DELETE");
    refuse("conflict");
    answer(R"({"name":"ann"})");
    answer(call_of("ann", "completed"));
    EXPECT_TRUE(why().contains("already in terminal status 'completed'"));
    ask_of("tasks/cancel", call_of("ann", "waiting"));
    answer("{}");
    answer(R"({"name":"ann"})");
    answer(call_of("ann", "cancelled"));
    EXPECT_EQ(at("/status"), "cancelled");
}

TEST_F(TasksOfMcp, List_OfTheOwner_LeavesOutWhatIsOver) {
    ask("tasks/list", "");
    answer(R"({"name":"ann"})");
    EXPECT_TRUE(requests.back().target.contains("externalRef=mcp-task%3Aann"));
    now = from_ms(2'000);
    answer(R"({"items":[)" + call_of("ann", "waiting") + "," + call_of("bob", "waiting") + "," +
           call_of("ann", "expired") + R"(],"next":"pnd_0"})");
    EXPECT_EQ(at("/tasks/0/taskId"), "pnd_1");
    EXPECT_EQ(at("/tasks/1"), "");
    EXPECT_EQ(at("/nextCursor"), "pnd_0");
    ask("tasks/list", R"("cursor":"x")");
    answer(R"({"name":"ann"})");
    refuse("bad_cursor");
    EXPECT_EQ(fault(), rpc::code::invalid_params);
}

TEST_F(TasksOfMcp, Extension_NotDeclared_GetsNoTask) {
    ask("tasks/get", R"("taskId":"pnd_1",)" + std::string(without_tasks), true);
    EXPECT_EQ(fault(), code::missing_capability);
    ask("tools/call",
        R"("name":"ask_human","arguments":{"question":"Which?"},"task":{},)" +
            std::string(without_tasks),
        true);
    answer(R"({"pendingID":"pnd_1"})");
    EXPECT_TRUE(at("/content/0/text").starts_with("Asked: pnd_1"));
    ask("tasks/list", std::string(with_tasks), true);
    EXPECT_EQ(fault(), rpc::code::method_not_found);
}

TEST_F(TasksOfMcp, Extension_Declared_GetsATaskUnlessItWaits) {
    std::string const meta(with_tasks);
    ask("tools/call", R"("name":"ask_human","arguments":{"question":"Which?"},)" + meta, true);
    answer(R"({"name":"ann"})");
    answer(R"({"call":)" + call_of("ann", "waiting") + "}");
    EXPECT_EQ(at("/resultType"), "task");
    EXPECT_EQ(at("/taskId"), "pnd_1");
    ask("tools/call", R"("name":"ask_human","arguments":{"question":"Which?","wait":1000},)" + meta,
        true);
    EXPECT_EQ(requests.back().target, "/api/pending?project=p");
}

}  // namespace
}  // namespace dormouse::mcp
