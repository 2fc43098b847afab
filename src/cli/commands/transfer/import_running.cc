// import of an export into a server that works.
#include "base/text/counted.h"
#include "base/text/text.h"
#include "cli/client/saved/settings.h"
#include "cli/commands/commands.h"

#include <array>
#include <fstream>
#include <istream>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::cli {
namespace {

constexpr std::size_t request_bytes = std::size_t{2} << 20;     // then whole sessions are sent
constexpr std::size_t body_bytes_max = std::size_t{127} << 20;  // what the server takes
constexpr std::size_t line_bytes_max = std::size_t{64} << 20;
constexpr std::string_view last_line = R"({"type":"end"})";

// The next line, of which no more than one byte too many is kept; false: the end.
bool next_line(std::istream& in, std::string& line) {
    line.clear();
    bool any = false;
    for (int c = in.rdbuf()->sbumpc(); c != std::char_traits<char>::eof();
         c = in.rdbuf()->sbumpc()) {
        any = true;
        if (c == '\n') return true;
        if (line.size() <= line_bytes_max) line += static_cast<char>(c);
    }
    return any;
}

struct Counts {
    std::uint64_t imported = 0;
    std::uint64_t before = 0;
    std::uint64_t refused = 0;
};

class Sending {
public:
    Sending(Context const& context, Client& client, ImportArgs const& args)
        : context_(context), client_(client), args_(args) {}

    [[nodiscard]] Outcome<int> run(std::istream& in) {
        std::string line;
        if (!next_line(in, head_))
            return failure(status::usage, "the export is empty",
                           "Write it again, for example with dormouse export, and look whether "
                           "its command failed.");
        first_ = 2;
        for (number_ = 2; next_line(in, line); ++number_) {
            if (line.starts_with(R"({"type":"end")")) {
                ended_ = true;
                break;
            }
            if (auto taken = take(line); !taken) return std::unexpected(taken.error());
        }
        if (!ended_) leave_open_session();
        if (auto sent = send(); !sent) return std::unexpected(sent.error());
        if (!asked_) {  // also for the error of a first line that is wrong
            add(std::string(last_line));
            if (auto sent = send(); !sent) return std::unexpected(sent.error());
        }
        return conclude();
    }

private:
    [[nodiscard]] Outcome<void> take(std::string const& line) {
        if (line.starts_with(R"({"type":"session",)")) id_ = json::View(line)["id"].string_or("");
        if (line.size() > line_bytes_max) large_ = true;
        // A line that is not JSON is reported by the server, which must be able to read the
        // request.
        add(large_ ? "{}" : json::check(line) ? line : "not JSON");
        if (bytes_ > body_bytes_max) large_ = true;
        if (large_) drop_lines();
        if (!line.starts_with(R"({"type":"session_end")")) return {};
        if (std::exchange(large_, false)) {
            refuse(id_,
                   "it is too large for a server that works: stop it and import into its store");
            clear();
        }
        whole_ = lines_.size();
        return bytes_ < request_bytes ? Outcome<void>() : send();
    }

    void leave_open_session() {
        if (lines_.size() == whole_) return;
        lines_.resize(whole_);
        refuse(id_, "the file ends before the session does");
    }

    void add(std::string line) {
        bytes_ += json::quote(line).size() + 1;
        lines_.push_back(std::move(line));
    }
    // Nothing that comes before in the same request is large.
    void drop_lines() {
        lines_.clear();
        bytes_ = 0;
        whole_ = 0;
    }
    void clear() {
        drop_lines();
        first_ = number_ + 1;
    }

    [[nodiscard]] Outcome<void> send() {
        if (lines_.empty()) return {};
        json::Writer body;
        body.begin_object().key("lines").begin_array().value(head_);
        for (std::string const& line : lines_) body.value(line);
        if (lines_.back() != last_line) body.value(last_line);
        body.end_array().member("line", first_).member("dryRun", args_.dry_run);
        body.member("start", args_.start).member("restoreDeleted", args_.restore_deleted);
        auto const reply = client_.post("/api/import", body.end_object().json());
        if (!reply) return std::unexpected(reply.error());
        asked_ = true;
        clear();
        json::View(reply->body)["sessions"].elements([&](json::View one) { report(one); });
        return {};
    }

    void report(json::View one) {
        if (auto const error = one["error"].string())
            return refuse(one["was"].string_or(""), *error);
        bool const before = one["before"].boolean_or(false);
        ++(before ? counts_.before : counts_.imported);
        if (context_.global.json)
            context_.out << json_for_terminal(std::string(one.raw())) << '\n';
        else
            context_.out << one["id"].string_or("") << (before ? "  there already" : "")
                         << (one["holds"].boolean_or(false) ? "  has something to do" : "") << '\n';
        context_.out.flush();
    }

    void refuse(std::string const& id, std::string const& why) {
        ++counts_.refused;
        context_.err << "not imported: " << (id.empty() ? "" : id + ": ")
                     << escape_for_terminal(why) << '\n';
    }

    [[nodiscard]] int conclude() const {
        context_.err << (args_.dry_run ? "would import " : "imported ")
                     << counted(counts_.imported, "session") << ", there already " << counts_.before
                     << ", refused " << counts_.refused << '\n';
        if (!ended_) context_.err << "the file was cut off: its last line is missing\n";
        return counts_.refused > 0 || !ended_ ? status::failed : status::done;
    }

    Context const& context_;
    Client& client_;
    ImportArgs const& args_;
    std::string head_;                // the first line, which is in each request
    std::vector<std::string> lines_;  // of whole sessions, and of the one that is being read
    std::size_t whole_ = 0;           // how many of them are of whole sessions
    std::size_t bytes_ = 0;           // of them, in a request
    std::uint64_t first_ = 2;         // the number of the first of them
    std::uint64_t number_ = 2;
    std::string id_;      // of the session that is being read
    bool large_ = false;  // it is too large
    bool asked_ = false;
    bool ended_ = false;
    Counts counts_;
};

// The context of a command for this server.
class At {
public:
    At(Context const& context, std::string url) : global_(context.global), at_(remade(context)) {
        if (!global_.server.empty() || !global_.context.empty()) return;
        // A token goes to the server of its context only.
        if (global_.login.url != url) global_.login = {};
        global_.server = std::move(url);
    }
    At(At const&) = delete;
    At& operator=(At const&) = delete;
    [[nodiscard]] Context const& context() const { return at_; }

private:
    [[nodiscard]] Context remade(Context const& from) const {
        return {.global = global_,
                .env = from.env,
                .programs = from.programs,
                .in = from.in,
                .out = from.out,
                .err = from.err,
                .style = from.style,
                .clock = from.clock};
    }

    Global global_;
    Context at_;
};

}  // namespace

std::optional<std::string> working_server(Context const& context, std::string const& directory) {
    if (!context.global.server.empty() || !context.global.context.empty())
        return server_url(context.global, context.env);
    if (directory.empty()) return std::nullopt;
    std::ifstream file(directory + "/url");
    std::string url;
    if (!std::getline(file, url) || url.empty()) return std::nullopt;
    auto client = connect_to(context, url);
    return client && client->get("/healthz") ? std::optional(url) : std::nullopt;
}

Outcome<Client> connect_to(Context const& context, std::string const& url) {
    At const at(context, url);
    return at.context().connect();
}

Outcome<int> import_running(Context const& context, std::string const& url,
                            ImportArgs const& args) {
    if (args.new_ids)
        return failure(status::usage, "--new-ids: not into a server that works (" + url + ")",
                       "Stop the server, and import into its store.");
    if (args.from.front() == "-") return import_running(context, url, args, context.in);
    std::ifstream file(args.from.front(), std::ios::binary);
    return import_running(context, url, args, file);
}

Outcome<int> import_running(Context const& context, std::string const& url, ImportArgs const& args,
                            std::istream& in) {
    auto client = connect_to(context, url);
    if (!client) return std::unexpected(client.error());
    return Sending(context, *client, args).run(in);
}

}  // namespace dormouse::cli
