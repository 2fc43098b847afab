// login and context: servers that a person has signed in to.

#include "cli/client/interrupts.h"
#include "cli/client/saved/contexts.h"
#include "cli/commands/commands.h"

#include "base/text/cut.h"
#include "base/text/text.h"
#include "base/url.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <istream>
#include <ostream>
#include <utility>

namespace dormouse::cli {
namespace {

// While it exists, the terminal shows nothing that is typed.
class NoEcho {
public:
    NoEcho() {
        if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
        set_ = true;
        termios hidden = before_;
        hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        hidden.c_cc[VSUSP] = _POSIX_VDISABLE;  // the shell would stay without echo
        (void)::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    }
    ~NoEcho() {
        if (set_) (void)::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    }
    NoEcho(NoEcho const&) = delete;
    NoEcho& operator=(NoEcho const&) = delete;

private:
    termios before_{};
    bool set_ = false;
};

Outcome<std::string> typed_secret(Context const& context) {
    Interrupts const interrupts(true);
    std::string line;
    {
        // Before the question: what is typed at once is neither shown nor lost.
        NoEcho const hidden;
        context.err << "Token (not shown): " << std::flush;
        std::array<pollfd, 2> waiting{pollfd{STDIN_FILENO, POLLIN, 0},
                                      pollfd{interrupts.fd(), POLLIN, 0}};
        while (!line.ends_with('\n') && line.size() <= token_bytes_max) {
            if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
            if (waiting[1].revents != 0) break;
            char c = 0;
            if (::read(STDIN_FILENO, &c, 1) <= 0) break;
            line += c;
        }
    }
    context.err << '\n' << std::flush;
    if (!line.ends_with('\n') && line.size() <= token_bytes_max)
        return failure(status::interrupted, "no token was given");
    return line;
}

Outcome<std::string> token_text(Context const& context, LoginArgs const& args) {
    if (!args.token_file.empty()) return file_text(args.token_file);
    if (context.may_ask) return typed_secret(context);
    std::string line;
    std::getline(context.in, line);
    return line;
}

// Reads the token; it is never an argument, which other users could see.
Outcome<std::string> read_token(Context const& context, LoginArgs const& args) {
    auto const text = token_text(context, args);
    if (!text) return std::unexpected(text.error());
    std::string token(trimmed(std::string_view(*text).substr(0, text->find('\n'))));
    auto const visible = [](char c) { return c > ' ' && c < '\x7f'; };
    if (token.empty())
        return failure(status::usage, "the token is empty",
                       "Make one on the server: dormouse token create NAME.");
    if (token.size() > token_bytes_max || !std::ranges::all_of(token, visible))
        return failure(status::usage, "the token must be at most 4096 visible characters");
    return token;
}

Outcome<Json> who_am_i(Address const& address, std::string const& token) {
    Client::Options options;
    options.address = address;
    options.token = token;
    auto me = Client(std::move(options)).get("/api/me");
    if (me) return me->body;
    if (code_of(me.error()) == "unauthenticated")
        return failure(status::not_allowed, "this server does not accept the token",
                       "Nothing was stored. Make one on the server: dormouse token create NAME.");
    return std::unexpected(me.error());
}

// The token would be readable on the way.
void warn_of_plain_http(Context const& context, Address const& address) {
    auto const url = dormouse::parse_url(address.url());
    if (address.tls || !url || url->is_loopback()) return;
    context.err << "Warning: " << address.url()
                << " is not https: others on the network can read the token.\n"
                << std::flush;
}

Outcome<int> list_contexts(Context const& context, Contexts const& contexts) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    Table table({"", "CONTEXT", {"SERVER", Narrow::words}});
    auto const add = [&](std::string const& name, std::string const& url, bool current) {
        out.begin_object().member("name", name).member("url", url);
        out.member("current", current).end_object();
        table.add({current ? "*" : "", name, url});
    };
    Global local = context.global;
    local.login = {};
    add(std::string(local_context),
        server_url(local, {.home = context.env.home, .xdg_data_home = context.env.xdg_data_home}),
        contexts.current.empty());
    for (Login const& login : contexts.logins)
        add(login.name, login.url, login.name == contexts.current);
    out.end_array().end_object();
    context.show(out.json(), table.text(context.style, context.columns));
    return status::done;
}

Outcome<int> use(Context const& context, Contexts contexts, std::string const& name) {
    bool const local = name == local_context;
    if (!local && contexts.find(name) == nullptr)
        return failure(status::not_found, "no context is called " + name,
                       "See them: dormouse context.");
    contexts.current = local ? "" : name;
    if (auto const done = write_contexts(context.env, contexts); !done)
        return std::unexpected(done.error());
    if (!context.global.json)
        context.out << "commands use "
                    << (local ? "the server of the data directory" : contexts.find(name)->url)
                    << '\n';
    return status::done;
}

Outcome<int> remove(Context const& context, Contexts contexts, std::string const& name) {
    if (contexts.find(name) == nullptr)
        return failure(status::not_found, "no context is called " + name,
                       "See them: dormouse context.");
    std::erase_if(contexts.logins, [&](Login const& login) { return login.name == name; });
    bool const current = contexts.current == name;
    if (current) contexts.current.clear();
    if (auto const done = write_contexts(context.env, contexts); !done)
        return std::unexpected(done.error());
    if (!context.global.json)
        context.out << "forgot " << name << " and its token, which stays valid on the server"
                    << (current ? "; commands use the server of the data directory\n" : "\n");
    return status::done;
}

}  // namespace

Outcome<int> execute(Context const& context, LoginArgs const& args) {
    auto const address = parse_url(args.url);
    if (!address) return std::unexpected(address.error());
    auto const name = args.name.empty() ? context_name_of(args.url) : args.name;
    if (!is_context_name(name))
        return failure(status::usage, "not a name for a context: " + name,
                       "Use letters, digits and . - _, at most 64: --name prod.");
    auto contexts = read_contexts(context.env);
    if (!contexts) return std::unexpected(contexts.error());
    if (contexts->find(name) == nullptr && contexts->logins.size() >= contexts_max)
        return failure(status::usage, "there are 64 contexts already",
                       "Remove one: dormouse context remove NAME.");
    warn_of_plain_http(context, *address);
    auto const token = read_token(context, args);
    if (!token) return std::unexpected(token.error());
    auto const me = who_am_i(*address, *token);
    if (!me) return std::unexpected(me.error());
    contexts->put({.name = name, .url = address->url(), .token = *token});
    contexts->current = name;
    if (auto const done = write_contexts(context.env, *contexts); !done)
        return std::unexpected(done.error());
    json::View const who(*me);
    context.show(*me, "signed in to " + address->url() + " as " +
                          escape_for_terminal(plain(who["name"])) + ", role " +
                          escape_for_terminal(plain(who["role"])) + "; it is context " + name +
                          ", which commands use now\n");
    return status::done;
}

Outcome<int> execute(Context const& context, ContextArgs const& args) {
    auto const contexts = read_contexts(context.env);
    if (!contexts) return std::unexpected(contexts.error());
    if (args.what == "list") return list_contexts(context, *contexts);
    if (args.name.empty())
        return failure(status::usage, "context " + args.what + " needs a name",
                       "See them: dormouse context.");
    if (args.what == "use") return use(context, *contexts, args.name);
    return remove(context, *contexts, args.name);
}

}  // namespace dormouse::cli
