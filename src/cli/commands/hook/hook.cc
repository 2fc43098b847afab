// hook: asks people for a coding agent. Standard output holds the decision in the agent's own form.
// Whatever goes wrong ends without a decision: then the agent asks on its own screen.

#include "base/text/text.h"
#include "base/url.h"
#include "cli/client/interrupts.h"
#include "cli/commands/asked.h"
#include "cli/commands/commands.h"
#include "cli/commands/hook/exchange.h"
#include "cli/commands/hook/install.h"
#include "io/fd.h"

#include <poll.h>
#include <sys/epoll.h>
#include <array>
#include <chrono>
#include <csignal>
#include <istream>
#include <ostream>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr Duration away_max{120'000};  // a server that does not come back
constexpr Duration last_limit{5'000};  // of a request after the agent has stopped waiting

// Readable when the agent no longer waits: it sent a signal, or closed standard output.
class AgentWatch {
public:
    explicit AgentWatch(int output_fd) : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
        std::signal(SIGHUP, SIG_IGN);   // when its terminal closes, the agent closes the pipe
        std::signal(SIGPIPE, SIG_IGN);  // the agent may end while the decision is written
        add(interrupts_.fd(), EPOLLIN);
        add(output_fd, 0);  // an epoll reports a closed pipe without being asked; a file never
    }
    [[nodiscard]] int fd() const { return epoll_.get(); }
    // Returns true if the agent stops waiting before the time is over.
    [[nodiscard]] bool sleep(Duration time) const {
        pollfd waiting{fd(), POLLIN, 0};
        return ::poll(&waiting, 1, static_cast<int>(time.count())) > 0;
    }

private:
    void add(int fd, std::uint32_t events) {
        epoll_event event{.events = events, .data = {}};
        if (fd >= 0) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
    }

    Interrupts interrupts_{true};
    io::Fd epoll_;
};

// Reads all, so that the agent can write all; keeps what is needed to see that it is too long.
std::string read_input(std::istream& in) {
    constexpr std::size_t read_max = std::size_t{64} << 20;
    std::array<char, 64 * 1024> piece{};
    std::string out;
    for (std::size_t total = 0; in && total < read_max;) {
        in.read(piece.data(), piece.size());
        auto const count = static_cast<std::size_t>(in.gcount());
        total += count;
        if (out.size() <= hook_input_max) out.append(piece.data(), count);
    }
    return out;
}

class HookAsking {
public:
    HookAsking(Context const& context, HookProgram const& program, HookArgs const& args)
        : context_(context), program_(program), args_(args), watch_(context.output_fd) {}

    Outcome<std::optional<HookDecision>> ask(HookQuestion const& question) {
        auto const body = body_of(question);
        if (!body) return std::unexpected(body.error());
        auto client = context_.connect(watch_.fd());
        if (!client) return std::unexpected(client.error());
        std::string const target =
            "/api/pending?project=" + percent_encode(context_.global.project);
        std::string const key = random_key();
        auto const reply = client->post_as(key, target, *body);
        if (!reply && reply.error().exit == status::interrupted) return unmade(key, target, *body);
        if (!reply) return std::unexpected(reply.error());
        json::View const asked(reply->body);
        id_ = asked["pendingID"].string_or("");
        return wait(*client, asked["call"].copy());
    }

private:
    Outcome<Json> body_of(HookQuestion const& question) {
        auto const within = milliseconds("--timeout", args_.timeout);
        if (!within) return std::unexpected(within.error());
        json::Writer out;
        out.begin_object().member("question", heading(program_, question));
        out.member("kind", "approval").member("tool", question.tool);
        out.member("arguments", question.input).member("withinMs", *within);
        write_answerers(out, args_.by, 1);
        constexpr std::size_t session_max = 256;
        if (!question.session.empty() && question.session.size() <= session_max)
            out.member("externalRef", std::string(program_.word) + ":" + question.session);
        return out.end_object().json();
    }

    Outcome<std::optional<HookDecision>> wait(Client& client, Json call) {
        auto lost = std::chrono::steady_clock::now();
        for (int tries = 0; !is_settled(call);) {
            auto reply = client.get("/api/pending/" + id_ + "?wait=50");
            if (reply) {
                call = std::move(reply->body);
                tries = 0;
                continue;
            }
            if (reply.error().exit == status::interrupted) return given_up();
            if (!is_away(reply.error())) return std::unexpected(reply.error());
            auto const now = std::chrono::steady_clock::now();
            if (tries == 0) lost = now;
            if (now - lost > away_max) return std::unexpected(reply.error());
            if (watch_.sleep(away_delay(tries++))) return given_up();
        }
        return decision_of(json::View(call));
    }

    // Finds out by its key whether the interrupted request made the call, and cancels it.
    Outcome<std::optional<HookDecision>> unmade(std::string const& key, std::string const& target,
                                                Json const& body) {
        auto client = context_.connect(-1, last_limit);
        if (!client) return std::unexpected(client.error());
        auto const reply = client->post_as(key, target, body);
        if (!reply) return std::unexpected(reply.error());
        id_ = json::View(reply->body)["pendingID"].string_or("");
        return given_up();
    }

    // The agent was answered on its screen, or ended: nobody reads a decision any more.
    Outcome<std::optional<HookDecision>> given_up() {
        auto client = context_.connect(-1, last_limit);
        if (!client) return std::unexpected(client.error());
        std::string const reason =
            "answered in the terminal, or " + std::string(program_.title) + " no longer waits";
        auto const cancelled = client->remove(cancel_target(id_, reason));
        bool const settled = !cancelled && (cancelled.error().exit == status::conflict ||
                                            cancelled.error().exit == status::gone);
        if (!cancelled && !settled) return std::unexpected(cancelled.error());
        return failure(status::interrupted, reason);
    }

    // Only an approval of exactly what was asked allows anything.
    static Outcome<std::optional<HookDecision>> decision_of(json::View call) {
        json::View const decision = call["decision"];
        auto const approved = decision["approved"].boolean();
        std::string const state = call["status"].string_or("");
        if (state == "expired") return failure(status::expired, "nobody answered in time");
        if (state == "cancelled" || !approved)
            return failure(status::cancelled, "the question was cancelled");
        if (*approved && !decision["arguments"].is_null())
            return failure(status::failed, "other arguments were approved than were asked for");
        return HookDecision{.allowed = *approved,
                            .by = call["receipt"]["by"]["name"].string_or(""),
                            .reason = decision["reason"].string_or("")};
    }

    Context const& context_;
    HookProgram const& program_;
    HookArgs const& args_;
    AgentWatch watch_;
    std::string id_;
};

}  // namespace

Outcome<int> execute(Context const& context, HookArgs const& args) {
    if (args.what == "install" || args.what == "uninstall") return edit_settings(context, args);
    HookProgram const& program = hook_program(args.what);
    auto const question = read_question(program, read_input(context.in));
    auto decision = question ? HookAsking(context, program, args).ask(*question)
                             : failure(status::usage, question.error());
    if (!decision && decision.error().exit == status::interrupted) return status::done;
    if (!decision)
        context.err << "dormouse: " << escape_for_terminal(decision.error().what) << "; "
                    << program.title << " asks itself\n"
                    << std::flush;
    context.out << decision_text(program, question ? question->event : "",
                                 decision.value_or(std::nullopt))
                << std::flush;
    return status::done;
}

}  // namespace dormouse::cli
