// import: sessions of an export, of opencode, or of an index.

#include "base/crypto/sha256.h"
#include "base/text/text.h"
#include "base/url.h"
#include "cli/commands/commands.h"
#include "opencode/source.h"
#include "transcript/transcript.h"

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string_view>
#include <vector>

namespace dormouse::cli {
namespace {

constexpr std::size_t part_bytes_max = std::size_t{7} << 20;  // bytes of messages in one request
constexpr std::size_t part_messages_max = 20'000;

// Splits the messages into JSON arrays, none of them empty.
std::vector<std::string> parts_of(json::View messages) {
    std::vector<std::string> out;
    std::size_t count = 0;
    messages.elements([&](json::View message) {
        bool const fits = !out.empty() && count < part_messages_max &&
                          out.back().size() + message.raw().size() < part_bytes_max;
        if (!fits) {
            if (!out.empty()) out.back() += "]";
            out.emplace_back("[");
            count = 0;
        }
        if (count++ > 0) out.back() += ",";
        out.back() += message.raw();
    });
    if (!out.empty()) out.back() += "]";
    return out;
}

// Includes the digest of the whole body, so that a change in a later part makes another request.
Json first_of(Json const& body, std::vector<std::string> const& parts) {
    json::Writer out;
    out.begin_object();
    json::View(body).members([&](std::string_view name, json::View value) {
        if (name != "messages") out.member_raw(name, value.raw());
    });
    out.member("parts", static_cast<std::int64_t>(parts.size()));
    out.member("digest", digest_text(sha256(body.text())));
    return out.member_raw("messages", parts.front()).end_object().json();
}

// Reads sessions one after the other and sends each under a key made from its id there, so
// that an import can be repeated.
class Import {
public:
    Import(Context const& context, Client* client, std::string agent)
        : context_(context), client_(client), agent_(std::move(agent)) {}

    void take(opencode::Session const& session);
    void unreadable(std::string const& what) { name("cannot be read", what); }
    [[nodiscard]] std::optional<Failure> const& stopped() const { return stopped_; }
    [[nodiscard]] int end() const;

private:
    void name(std::string_view what, std::string const& which);
    [[nodiscard]] Outcome<Reply> send(opencode::Session const& session, Json const& body);
    void count(Reply const& reply, opencode::Session const& session);
    void report_files(opencode::ImportBody const& body);

    Context const& context_;
    Client* client_;  // null in a dry run
    std::string agent_;
    int imported_ = 0, known_ = 0, changed_ = 0, empty_ = 0, named_ = 0;
    std::size_t files_ = 0, left_out_ = 0;  // files that were imported, files that were not
    std::optional<Failure> stopped_;
};

void Import::name(std::string_view what, std::string const& which) {
    ++named_;
    context_.err << what << ": " << escape_for_terminal(which) << '\n';
}

void Import::count(Reply const& reply, opencode::Session const& session) {
    bool const again = reply.status == 200;
    ++(again ? known_ : imported_);
    if (context_.global.json) {
        context_.show(reply.body, "");
    } else if (!again) {
        context_.out << json::View(reply.body)["id"].string_or("") << "  "
                     << escape_for_terminal(session.title) << '\n';
    }
}

void Import::report_files(opencode::ImportBody const& body) {
    files_ += body.files;
    left_out_ += body.left_out.size();
    for (std::string const& file : body.left_out)
        context_.err << "file left out: " << escape_for_terminal(file) << '\n';
}

void Import::take(opencode::Session const& session) {
    if (stopped_) return;
    auto const made = opencode::import_body(session, agent_);
    Json const& body = made.json;
    auto const messages = json::View(body)["messages"].size();
    if (messages == 0) {
        ++empty_;
        return;
    }
    if (!client_) {
        ++imported_;
        context_.out << escape_for_terminal(session.id) << "  " << messages << " messages  "
                     << escape_for_terminal(session.title) << '\n';
        return report_files(made);
    }
    auto const reply = send(session, body);
    if (reply) {
        count(*reply, session);
        return report_files(made);
    }
    auto const code = code_of(reply.error());
    if (code == "idempotency_mismatch") {
        ++changed_;
        name("changed since it was imported, and left alone", session.id);
    } else if (code == "session_gone" || code == "too_large" || code == "bad_value") {
        name("not imported (" + reply.error().what + ")", session.id);
    } else {
        stopped_ = reply.error();
    }
}

// Sends the first request and the further parts. The server applies each part once, so that all can
// be sent again.
Outcome<Reply> Import::send(opencode::Session const& session, Json const& body) {
    auto const key = "import-" + session.program + "-" + percent_encode(session.id);
    auto const target = "/api/projects/" + percent_encode(context_.global.project) + "/import";
    auto const parts = parts_of(json::View(body)["messages"]);
    if (parts.size() == 1) return client_->post_as(key, target, body);
    auto first = client_->post_as(key, target, first_of(body, parts));
    if (!first) return first;
    auto const more = "/api/sessions/" + json::View(first->body)["id"].string_or("") + "/import";
    for (std::size_t part = 2; part <= parts.size(); ++part) {
        json::Writer out;
        out.begin_object().member("part", static_cast<std::int64_t>(part));
        out.member_raw("messages", parts[part - 1]).end_object();
        auto const reply = client_->post(more, out.json());
        if (!reply) return std::unexpected(reply.error());
    }
    return first;
}

int Import::end() const {
    auto& out = context_.global.json ? context_.err : context_.out;
    out << (client_ ? "imported " : "would import ") << imported_ << ", there already " << known_
        << ", changed since " << changed_ << ", empty " << empty_ << ", not readable or refused "
        << named_ - changed_ << "; files " << files_ << ", left out " << left_out_ << '\n';
    return named_ > 0 || left_out_ > 0 ? status::failed : status::done;
}

}  // namespace

namespace {

// Checks that the server has the agent. A dry run needs no server.
Outcome<void> check_agent(Context const& context, std::string const& agent) {
    auto client = context.connect();
    auto const reply =
        client ? client->get("/api/agents") : Outcome<Reply>(std::unexpected(client.error()));
    if (!reply) {
        context.err << "could not check that agent " << escape_for_terminal(agent)
                    << " exists: " << escape_for_terminal(reply.error().what) << '\n';
        return {};
    }
    bool there = false;
    json::View(reply->body)["items"].elements(
        [&](json::View one) { there = there || one["id"].string_or("") == agent; });
    if (there) return {};
    return failure(status::usage, "--agent: unknown agent '" + agent + "'",
                   "See them: dormouse agents.");
}

}  // namespace

namespace {

// An export says so at its beginning.
bool is_export(std::string const& path) {
    constexpr std::string_view begins = R"({"type":"export")";
    if (path == "-") return true;
    std::ifstream file(path, std::ios::binary);
    std::string text(begins.size(), '\0');
    return file.read(text.data(), static_cast<std::streamsize>(text.size())) && text == begins;
}

bool is_empty_file(std::string const& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) &&
           std::filesystem::file_size(path, error) == 0 && !error;
}

Outcome<int> import_export(Context const& context, ImportArgs const& args) {
    if (!args.agent.empty())
        return failure(status::usage, "--agent: the sessions of an export keep their agents");
    if (!args.store)
        if (auto const url = working_server(context, data_directory(context.global, context.env)))
            return import_running(context, *url, args);
    auto directory = data_directory_unless(args.store.has_value(), context.global, context.env);
    if (!directory) return std::unexpected(directory.error());
    return context.programs.import_sessions({.data = *std::move(directory),
                                             .store = args.store,
                                             .file = args.from.front(),
                                             .new_ids = args.new_ids,
                                             .restore_deleted = args.restore_deleted,
                                             .dry_run = args.dry_run,
                                             .start = args.start,
                                             .json = context.as_json(),
                                             .key_env = args.key_env});
}

}  // namespace

namespace {

Outcome<void> read_all(std::vector<std::string> const& from, Import& import) {
    auto const program = transcript::program_named(from.front());
    for (std::size_t i = 1; program && i < from.size() && !import.stopped(); ++i) {
        auto const read = transcript::read_file(*program, from[i]);
        if (!read) {
            import.unreadable(read.error().detail);
            continue;
        }
        for (std::string const& line : read->left_out) import.unreadable(from[i] + ", " + line);
        import.take(read->session);
    }
    if (program) return {};
    auto const done = opencode::read(
        from.front(), {.session = [&](opencode::Session const& session) { import.take(session); },
                       .unreadable = [&](std::string const& what) { import.unreadable(what); }});
    if (done || import.stopped()) return {};
    bool const none = done.error().code == Code::not_found;
    return failure(none ? status::not_found : status::usage, done.error().detail,
                   "PATH is opencode's data folder (`opencode db path` shows it), its "
                   "opencode.db, or a file of `opencode export`.");
}

}  // namespace

Outcome<int> execute(Context const& context, ImportArgs const& args) {
    bool const transcripts =
        args.from.size() > 1 && transcript::program_named(args.from.front()).has_value();
    bool const files = args.from.size() > 1 && !transcripts;
    std::error_code ignored;
    bool const one = args.from.size() == 1 && args.from.front() != "-";
    if (one && !std::filesystem::exists(args.from.front(), ignored))
        return failure(status::not_found, "cannot read " + escape_for_terminal(args.from.front()) +
                                              ": there is no such file or folder");
    if (args.from.size() == 1 && is_empty_file(args.from.front()))
        return failure(
            status::usage, escape_for_terminal(args.from.front()) + " is empty",
            "Write it again, for example with dormouse export, and look whether its disk "
            "was full.");
    if (!files && is_export(args.from.front())) return import_export(context, args);
    if (args.store || args.new_ids || args.restore_deleted || args.start)
        return failure(status::usage,
                       "--store, --new-ids, --restore-deleted and --start are for a file of "
                       "`dormouse export`");
    if (args.from.size() == 2 && args.from.front() == "files")
        return import_files(context, args.from.back(), args.agent, args.dry_run);
    if (files)
        return failure(status::usage,
                       "give one PATH, files DIR, or claude-code, codex or gemini and FILEs");
    if (args.agent.empty())
        return failure(status::usage, "--agent is required",
                       "Name the agent that continues the sessions (dormouse agents lists them). "
                       "See: dormouse import --help");
    std::optional<Client> client;
    if (args.dry_run) {
        if (auto const known = check_agent(context, args.agent); !known)
            return std::unexpected(known.error());
    }
    if (!args.dry_run) {
        auto connected = context.connect();
        if (!connected) return std::unexpected(connected.error());
        client.emplace(*std::move(connected));
    }
    Import import(context, client ? &*client : nullptr, args.agent);
    auto const done = read_all(args.from, import);
    if (import.stopped()) return std::unexpected(*import.stopped());
    if (!done) return std::unexpected(done.error());
    return import.end();
}

}  // namespace dormouse::cli
