// The HTTP interface inside a program: a build service that does not use this library answers hours
// later, at the callback URL that it was given. Linked with dormouse::serve.
//
// Prints:
//   the build got its callback URL
//   waiting: build
//   without a token: 401
//   the build's answer: 200
//   Built: app-1.2.tar.gz
#include <dormouse/dormouse.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdlib>
#include <iostream>

struct Build {
    std::string tag;
};
struct Package {
    std::string file;
};

// The external build service: an HTTP client without this library.
int request(std::string const& method, std::string const& url, std::string const& body) {
    std::string const rest = url.substr(url.find("://") + 3);
    std::string const host = rest.substr(0, rest.find('/'));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(host.c_str() + host.find(':') + 1)));
    int const fd = ::socket(AF_INET, SOCK_STREAM, 0);
    std::string const text = method + " " + rest.substr(host.size()) +
                             " HTTP/1.1\r\nHost: " + host +
                             "\r\nConnection: close\r\nContent-Type: application/json\r\n"
                             "Content-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body;
    std::string answer(64, '\0');
    bool const done = ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
                      ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) > 0 &&
                      ::recv(fd, answer.data(), answer.size(), MSG_WAITALL) > 0;
    ::close(fd);
    return done ? std::atoi(answer.c_str() + answer.find(' ')) : 0;
}

int main() {
    std::string answer_to;  // the callback URL given to the build service
    auto build = dormouse::tool(
        "build",
        [&](Build const&,
            dormouse::Call const& call) -> dormouse::Outcome<Package, dormouse::Pending> {
            answer_to = call.callback_url();
            std::cout << "the build got its callback URL\n";
            return dormouse::Pending{Package{"not yet"}, {.ref = "build-17"}};
        });
    dormouse::Script script;
    script.on("Build").calls("build", dormouse::to_json(Build{"1.2"}).value());
    script.when_waiting("build").says("The build runs.");
    script.when_answered("build").says("Built: app-1.2.tar.gz");

    auto runtime = dormouse::Runtime::open({
        .store = ":memory:",
        .agents = {{.name = "ci", .model = script.model(), .tools = {"build"}}},
        .tools = {build},
    });
    if (!runtime) return std::cerr << runtime.error().detail << '\n', 1;
    auto const url = runtime->serve({.listen = "127.0.0.1:0", .token = "keep-this-one-secret"});
    if (!url) return std::cerr << url.error().detail << '\n', 1;

    auto const session = runtime->create({.agent = "ci", .prompt = "Build 1.2."}).value();
    static_cast<void>(runtime->wait_idle(session));
    auto const waiting = runtime->waiting().value();
    for (auto const& call : waiting.calls) std::cout << "waiting: " << call.tool << '\n';
    std::cout << "without a token: " << request("GET", *url + "/api/agents", "") << '\n';
    int const status =
        request("POST", answer_to, R"({"result": {"output": {"file": "app-1.2.tar.gz"}}})");
    std::cout << "the build's answer: " << status << '\n';
    static_cast<void>(runtime->wait_idle(session));
    std::cout << runtime->last_reply(session).value() << '\n';
}
