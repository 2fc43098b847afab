#pragma once
// An agent process and a loop that tests play: lines one by one, and time that the test moves.

#include "acp/external_agents.h"
#include "json/json.h"

#include <deque>

namespace dormouse::acp::testing {

class FakeLoop final : public port::Loop {
public:
    void post(port::Fn<void()> work) override { now_.push_back(std::move(work)); }
    void after(Duration delay, port::Fn<void()> work) override {
        later_.emplace(time_ + delay, std::move(work));
    }
    void run() {
        while (!now_.empty()) {
            auto work = std::move(now_.front());
            now_.pop_front();
            work();
        }
    }
    void pass(Duration time) {
        time_ += time;
        while (!later_.empty() && later_.begin()->first <= time_) {
            auto work = std::move(later_.extract(later_.begin()).mapped());
            work();
            run();
        }
        run();
    }

private:
    Duration time_{};
    std::deque<port::Fn<void()>> now_;
    std::multimap<Duration, port::Fn<void()>> later_;
};

class FakeProcesses final : public port::Processes {
public:
    struct Process {
        port::ProcessSpec spec;
        port::Fn<void(port::ProcessEnd)> done;
        std::vector<std::string> lines;  // written to it
        bool end_requested = false;
        bool ended = false;
        bool killed = false;
        port::Fn<void()> give_way = {};  // set: the process rests
    };

    Number start(port::ProcessSpec spec, port::Fn<void(port::ProcessEnd)> done) override {
        all.push_back({std::move(spec), std::move(done), {}, false, false, false, {}});
        return all.size();
    }
    void stop(Number process) override { at(process).end_requested = true; }
    void end(Number process) override { at(process).end_requested = true; }
    void kill(Number process) override { at(process).killed = true; }
    void rest(Number process, port::Fn<void()> give_way) override {
        at(process).give_way = std::move(give_way);
    }
    void work(Number process) override { at(process).give_way = {}; }
    void write(Number process, std::string_view bytes) override {
        at(process).lines.emplace_back(bytes.substr(0, bytes.size() - 1));
    }

    Process& at(Number process) { return all.at(process - 1); }
    Process& newest() { return all.back(); }
    void say(std::string const& line) { newest().spec.on_output(line + "\n"); }
    void die(std::string const& complaint = "") {
        newest().ended = true;
        port::ProcessEnd end{port::ProcessEnd::How::signalled, 9, {}, complaint, {}};
        newest().done(std::move(end));
    }
    // Returns the id of the newest request with that method, as text.
    std::string id_of(std::string const& method) {
        auto const& lines = newest().lines;
        for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
            json::View const message{std::string_view(*line)};
            if (message["method"].string_or("") == method) return std::string(message["id"].raw());
        }
        return "";
    }
    void answer(std::string const& method, std::string const& result) {
        say(R"({"jsonrpc":"2.0","id":)" + id_of(method) + R"(,"result":)" + result + "}");
    }
    void refuse(std::string const& method, int code, std::string const& message) {
        say(R"({"jsonrpc":"2.0","id":)" + id_of(method) + R"(,"error":{"code":)" +
            std::to_string(code) + R"(,"message":")" + message + "\"}}");
    }
    // Returns the methods that it was called with, in order.
    [[nodiscard]] std::string methods() {
        std::string out;
        for (std::string const& line : newest().lines) {
            auto const method = json::View(std::string_view(line))["method"].string();
            if (method) out += (out.empty() ? "" : " ") + *method;
        }
        return out;
    }

    std::deque<Process> all;
};

// The HTTP server of the agent: each request waits until a test answers it.
class FakePort final : public port::HttpClient {
public:
    port::HttpId start(port::HttpRequest request, port::HttpCallbacks callbacks) override {
        all.push_back({std::move(request), std::move(callbacks)});
        return all.size();
    }
    void cancel(port::HttpId /*id*/) override {}
    // Answers the oldest waiting request.
    void answer(std::string const& body, std::uint16_t status = 200) {
        auto& exchange = all.at(answered++);
        exchange.callbacks.head({status, {}});
        exchange.callbacks.data(body);
        exchange.callbacks.done(std::nullopt);
    }
    void break_off() { all.at(answered++).callbacks.done(port::HttpFailure{}); }
    [[nodiscard]] std::size_t waiting() const { return all.size() - answered; }

    struct Exchange {
        port::HttpRequest request;
        port::HttpCallbacks callbacks;
    };
    std::deque<Exchange> all;
    std::size_t answered = 0;
};

}  // namespace dormouse::acp::testing
