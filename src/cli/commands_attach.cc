// attach: the own screen of a session's agent program, in place of this process.

#include "cli/commands.h"

#include "cli/resolve.h"

#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace dormouse::cli {

namespace {

// What a server names is not run blindly: a screen that we know, and its password.
bool is_known(std::vector<std::string> const& words) {
    if (words.size() < 3 || words[1] != "attach") return false;
    return words[0] == "opencode" || words[0].ends_with("/opencode");
}

}  // namespace

Outcome<int> execute(Context const& context, AttachArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const id = resolve_session(*client, context.global.project, args.session);
    if (!id) return std::unexpected(id.error());
    auto const reply = client->post("/api/sessions/" + *id + "/attach", Json::trusted("{}"));
    if (!reply) return std::unexpected(reply.error());
    json::View const door(reply->body);
    std::vector<std::string> words;
    door["command"].elements([&](json::View word) { words.push_back(word.string_or("")); });
    if (!is_known(words)) return failure(status::failed, "the server named a screen unknown here");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    static constexpr char const* password = "OPENCODE_SERVER_PASSWORD";
    ::setenv(password, door["environment"][password].string_or("").c_str(), 1);
    ::execvp(argv.front(), argv.data());
    return failure(status::failed, "can not start " + words.front() + ": " + std::strerror(errno));
}

}  // namespace dormouse::cli
