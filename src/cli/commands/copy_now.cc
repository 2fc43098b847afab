// dormouse backup --now: the server brings its continuous copy up to date.
#include "cli/commands/commands.h"

#include "base/text/text.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace dormouse::cli {

namespace {

constexpr std::chrono::milliseconds poll_every{200};

}  // namespace

Outcome<int> copy_now(Context const& context) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const asked = client->post("/api/copy", Json::trusted("{}"));
    if (!asked) return std::unexpected(asked.error());
    std::int64_t const number = json::View(asked->body)["number"].integer_or(0);
    for (;;) {
        auto const reply = client->get("/api/doctor?calls=1");
        if (!reply) return std::unexpected(reply.error());
        json::View const copy = json::View(reply->body)["copy"];
        if (copy["asked"].integer_or(0) < number)
            return failure(status::failed, "the server was restarted before the copy was made",
                           "Run it again: dormouse backup --now");
        if (copy["answered"].integer_or(0) < number) {
            std::this_thread::sleep_for(poll_every);
            continue;
        }
        auto const target = escape_for_terminal(copy["target"].string_or(""));
        if (!copy["ok"].boolean_or(false))
            return failure(status::failed,
                           "the copy to " + target +
                               " failed: " + escape_for_terminal(copy["why"].string_or("")),
                           "the server tries again; dormouse doctor shows how it goes");
        context.show(copy.copy(), "copied to " + target +
                                      ": it has everything that was acknowledged before this "
                                      "command\n");
        return status::done;
    }
}

}  // namespace dormouse::cli
