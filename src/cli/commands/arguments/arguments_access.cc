// Options of the commands on tokens, servers and sources, and of bench.

#include "cli/commands/arguments/grammar.h"

#include <memory>
#include <string>
#include <vector>

namespace dormouse::cli {

namespace {

void add_access_options(CLI::App& command, AccessArgs& args) {
    command.add_option("--role", args.role, "Rights; each role contains the next")
        ->type_name("ROLE")
        ->check(CLI::IsMember(std::vector<std::string>{"admin", "operate", "answer", "read"}))
        ->capture_default_str();
    command.add_option("--projects", args.projects, "Only for these projects (default: all)")
        ->type_name("NAMES")
        ->delimiter(',');
    command
        .add_option("--agents", args.agents,
                    "Agents it may start; '*' is all (default: all but external agents)")
        ->type_name("NAMES")
        ->delimiter(',');
    command.add_option("--ttl", args.ttl, "Lifetime (10m, 90d)")->type_name("TIME");
}

}  // namespace

void Grammar::add_access() {
    auto const token = std::make_shared<TokenArgs>();
    token->access.role = "answer";
    auto* const t = add("token", "Create, list and revoke tokens",
                        "dormouse token create alice --role answer --ttl 90d\n  dormouse token "
                        "list\n  dormouse token revoke alice",
                        token);
    t->add_option("what", token->what, "create, list or revoke")
        ->type_name("WHAT")
        ->check(CLI::IsMember(std::vector<std::string>{"create", "list", "revoke"}))
        ->required();
    auto* const name = t->add_option("who", token->access.name,
                                     "create: the name that receipts show; revoke: name or id")
                           ->type_name("NAME");
    t->add_option("--name", token->access.name, "The same")->type_name("NAME")->excludes(name);
    add_access_options(*t, token->access);

    auto const link = std::make_shared<LinkArgs>();
    link->access.role = "answer";
    auto* const l = add("link", "Create a link that signs in a browser once",
                        "dormouse link alice --role answer", link);
    l->add_option("who", link->access.name, "Name of the person, as receipts show it")
        ->type_name("NAME")
        ->required();
    l->add_flag("--qr", link->qr, "Also show it as a QR code on standard error");
    add_access_options(*l, link->access);
}

void Grammar::add_trigger() {
    auto const trigger = std::make_shared<TriggerArgs>();
    auto* const t = add("trigger", "Send a signed sample of a source's webhook to the server",
                        "dormouse trigger ci pnd_… live\n"
                        "  dormouse trigger ci pnd_… --error 'no such branch' --print\n"
                        "  dormouse trigger github --body delivery.json\n"
                        "  dormouse trigger slack pnd_… --button approve --as ann\n"
                        "  dormouse trigger --own pnd_… live",
                        trigger);
    t->add_option("source", trigger->source,
                  "A [[source]] of the configuration, by its id; with --button: slack; with --own: "
                  "the call, before its output")
        ->type_name("SOURCE");
    auto* const call =
        t->add_option("call", trigger->call, "The pending call that it settles")->type_name("CALL");
    auto* const text =
        t->add_option("text", trigger->text, "Output of the call (sample); - reads standard input")
            ->type_name("TEXT");
    auto* const json = t->add_option("--json-value", trigger->json_value, "Output: a JSON value")
                           ->type_name("JSON")
                           ->excludes(text);
    auto* const error = t->add_option("--error", trigger->error, "The call failed, for this reason")
                            ->type_name("TEXT")
                            ->excludes(text)
                            ->excludes(json);
    t->add_option("--body", trigger->body,
                  "A file with the whole body instead; - reads standard input")
        ->type_name("FILE")
        ->excludes(call)
        ->excludes(json)
        ->excludes(error);
    auto* const button =
        t->add_option("--button", trigger->button,
                      "Press this button of the call's message in Slack (kind slack-bot)")
            ->check(CLI::IsMember({"approve", "deny"}))
            ->excludes(text)
            ->excludes(json)
            ->excludes(error)
            ->excludes(t->get_option("--body"));
    t->add_option("--as", trigger->as, "Who presses it: a [[user]] with slack (the only one)")
        ->type_name("NAME")
        ->needs(button);
    auto* const own =
        t->add_flag(
             "--own", trigger->own,
             "Sign by the call's own secret (webhook_secret_env of its tool), not a source's")
            ->excludes(button)
            ->excludes(t->get_option("--body"));
    t->add_option("--secret-env", trigger->secret_env,
                  "The variable with that secret, if the configuration does not name it")
        ->type_name("NAME")
        ->needs(own);
    t->add_option("--config", trigger->config, "Configuration with the source (the server's)")
        ->type_name("FILE");
    t->add_flag("--print", trigger->print, "Print the request, and send nothing");
}

void Grammar::add_listen() {
    auto const listen = std::make_shared<ListenArgs>();
    auto* const l =
        add("listen", "Sign webhooks that arrive at a local address, and forward them to a source",
            "dormouse listen ci\n  dormouse listen ci --port 4000", listen);
    l->add_option("source", listen->source, "A [[source]] of the configuration, by its id")
        ->type_name("SOURCE")
        ->required();
    l->add_option("--port", listen->port, "Port on 127.0.0.1 (any free one)")->type_name("N");
    l->add_option("--config", listen->config, "Configuration with the source (the server's)")
        ->type_name("FILE");
}

void Grammar::add_login() {
    auto const login = std::make_shared<LoginArgs>();
    auto* const l = add("login", "Sign in to a server with a token, and use it from then on",
                        "dormouse login https://dormouse.example.org\n"
                        "  dormouse login https://dormouse.example.org --name prod --token-file "
                        "prod.token",
                        login);
    l->add_option("url", login->url, "Address of the server")->type_name("URL")->required();
    l->add_option("--name", login->name, "Name of the context (the server's host)")
        ->type_name("NAME");
    l->add_option("--token-file", login->token_file,
                  "File whose first line is the token; without it a terminal asks for it, and "
                  "otherwise standard input is read")
        ->type_name("FILE");

    auto const context = std::make_shared<ContextArgs>();
    auto* const c = add("context", "List the servers of `dormouse login`, and choose one",
                        "dormouse context\n  dormouse context use prod\n"
                        "  dormouse context use local\n  dormouse context remove prod",
                        context);
    c->add_option("what", context->what,
                  "list (the default); use: from now on, `local` for the server of the data "
                  "directory; remove: forget it and its token")
        ->type_name("WHAT")
        ->check(CLI::IsMember(std::vector<std::string>{"list", "use", "remove"}));
    c->add_option("name", context->name, "use, remove: which one")->type_name("CONTEXT");
}

void Grammar::add_bench() {
    auto const bench = std::make_shared<BenchArgs>();
    auto* const b =
        add("bench", "Measure pauses and resumes over HTTP against the disk's own speed",
            "dormouse bench --jobs 8000 --connections 1,32,64\n  dormouse bench --dormant 1000000\n"
            "  dormouse bench --on http://127.0.0.1:4080 --jobs 500",
            bench);
    b->add_option("--jobs", bench->jobs, "Sessions per round (a sixth of them at one connection)")
        ->type_name("N")
        ->check(CLI::Range(10, 10'000'000))
        ->capture_default_str();
    b->add_option("--rounds", bench->rounds, "Rounds; the median is reported")
        ->type_name("N")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    b->add_option("--connections", bench->connections, "Connection counts")
        ->type_name("LIST")
        ->delimiter(',')
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    b->add_option("--history", bench->history,
                  "Text that each session has before it pauses; 0: it pauses in its first turn")
        ->type_name("BYTES")
        ->check(CLI::Range(0, 10'000'000))
        ->capture_default_str();
    auto* const dormant =
        b->add_option("--dormant", bench->dormant, "Also: what this many sleeping sessions cost")
            ->type_name("N")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000'000}));
    auto* const growth =
        b->add_flag("--growth", bench->growth, "Also: how the file grows with one long session");
    b->add_option("--on", bench->on,
                  "Servers that run and share their sessions, instead of an own one; the "
                  "connections are spread over them")
        ->type_name("URL,URL")
        ->delimiter(',')
        ->excludes(dormant)
        ->excludes(growth);
}

}  // namespace dormouse::cli
