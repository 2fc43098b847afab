// Deliveries: a list; one delivery retried or forgotten.

#include "cli/commands/commands.h"

#include "base/url.h"

#include <ostream>

namespace dormouse::cli {

namespace {

Outcome<int> retry(Context const& context, Client& client, std::string const& id) {
    auto const reply =
        client.post("/api/deliveries/" + percent_encode(id) + "/retry", Json::trusted("{}"));
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, "it is sent again: " + id + "\n");
    return status::done;
}

Outcome<int> forget(Context const& context, Client& client, std::string const& id) {
    auto const reply = client.remove("/api/deliveries/" + percent_encode(id));
    if (!reply) return std::unexpected(reply.error());
    if (!context.global.json) context.out << "forgotten " << id << '\n';
    return status::done;
}

}  // namespace

Outcome<int> execute(Context const& context, DeliveriesArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    if (!args.retry.empty()) return retry(context, *client, args.retry);
    if (!args.forget.empty()) return forget(context, *client, args.forget);
    std::string target = "/api/deliveries?project=" + percent_encode(context.global.project) +
                         "&limit=" + std::to_string(args.limit);
    if (!args.state.empty()) target += "&state=" + args.state;
    auto const page = client->get(target);
    if (!page) return std::unexpected(page.error());
    json::View const body(page->body);
    context.show(page->body,
                 deliveries_table(body["items"], context.now(), context.style, context.columns));
    if (!body["next"].is_null() && !context.global.json)
        context.out << "there are more: --limit N\n";
    return status::done;
}

}  // namespace dormouse::cli
