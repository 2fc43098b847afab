// Reads the lines of an export. Each is input from outside.
#include "base/enum_words.h"
#include "base/text/text.h"
#include "json/json.h"
#include "port/stored_row.h"
#include "runner/transfer/portable.h"

#include <limits>
#include <utility>

namespace dormouse::runner {

namespace {

constexpr std::size_t key_bytes_max = 64;  // port::KeyRow

// The members of one line; remembers the first that is missing or wrong.
class Members {
public:
    explicit Members(json::View line) : line_(line) {}

    std::string text(std::string_view name) {
        auto value = line_[name].string();
        if (!value) note(name, "a text");
        return std::move(value).value_or("");
    }
    std::string bytes(std::string_view name) {
        auto value = parse_base64(text(name));
        if (!value) note(name, "base64");
        return std::move(value).value_or("");
    }
    template <class Number = std::uint64_t> Number number(std::string_view name) {
        auto const value = line_[name].integer();
        if (!value || !std::in_range<Number>(*value)) {
            note(name, "a number");
            return 0;
        }
        return static_cast<Number>(*value);
    }
    Seq seq(std::string_view name) {
        auto const value = number(name);
        if (value >= port::seq_end) note(name, "an event's number");
        return value;
    }
    Time time(std::string_view name) { return from_ms(number<std::int64_t>(name)); }
    std::optional<Time> maybe_time(std::string_view name) {
        return line_[name].is_null() ? std::nullopt : std::optional(time(name));
    }
    template <class Word> Word word(std::string_view name) {
        auto const value = from_word<Word>(text(name));
        if (!value) note(name, one_of(words_of<Word>));
        return value.value_or(Word{});
    }
    std::optional<SessionId> maybe_session(std::string_view name) {
        if (line_[name].is_null()) return std::nullopt;
        auto const id = SessionId::parse(text(name));
        if (!id) note(name, "a session's id");
        return id;
    }
    [[nodiscard]] Result<void> done() const {
        if (wrong_.empty()) return {};
        return fail(Code::bad_value, wrong_);
    }

private:
    void note(std::string_view name, std::string_view what) {
        if (wrong_.empty())
            wrong_ = "member \"" + std::string(name) + "\" is not " + std::string(what);
    }

    json::View line_;
    std::string wrong_;
};

void read_frame(Members& line, Portable& out) {
    port::Frame frame;
    frame.first = line.seq("first");
    frame.count = line.number<std::uint32_t>("count");
    frame.bytes = line.text("events");
    out.frames.push_back(std::move(frame));
}

void read_artifact(Members& line, Portable& out) {
    auto const seq = line.seq("seq");
    out.artifacts.emplace(seq, std::make_shared<std::string const>(line.bytes("data")));
}

void read_pending(Members& line, Portable& out) {
    port::PendingRow row;
    row.call = line.number<CallNo>("call");
    row.generation = line.number<Generation>("generation");
    row.status = line.word<port::PendingStatus>("status");
    row.tool = line.text("tool");
    row.created = line.time("created");
    row.timeout = line.maybe_time("timeout");
    row.paused = line.seq("paused");
    row.settled = line.seq("settled");
    row.external_ref = line.text("ref");
    out.pending.push_back(std::move(row));
}

void read_outbox_body(Members& line, Portable& out) {
    port::OutboxRow row;
    row.key = {out.id, line.seq("seq"), line.number<std::uint32_t>("n")};
    row.kind = line.text("kind");
    row.target = line.text("target");
    row.body = line.text("body");
    row.makes = line.maybe_session("makes");
    row.state = line.word<port::OutboxState>("state");
    row.created = line.time("created");
    row.next_at = line.time("nextAt");
    row.attempts = line.number<std::uint32_t>("attempts");
    row.last_status = line.number<std::int32_t>("lastStatus");
    row.last_error = line.text("lastError");
    row.delivered = line.maybe_time("delivered");
    out.outbox.push_back(std::move(row));
}

Result<std::vector<SessionId>> read_ids(json::View list) {
    std::vector<SessionId> out;
    bool good = list.kind() == json::Kind::array;
    list.elements([&](json::View item) {
        auto const id = SessionId::parse(item.string_or(""));
        if (id) out.push_back(*id);
        good = good && id && id->number() > 0;
    });
    if (!good) return fail(Code::bad_value, "its first line does not list sessions");
    return out;
}

}  // namespace

Result<TransferHead> read_head(std::string_view line) {
    auto const checked = json::check(line);
    json::View const head = checked ? json::View(*checked) : json::View();
    if (head["type"].string_or("") != "export")
        return fail(Code::bad_value, "not an export: its first line is no export header");
    auto const format = head["format"].integer_or(0);
    if (format > transfer_format)
        return fail(Code::newer_format,
                    "format " + std::to_string(format) + " is newer than this release reads (" +
                        std::to_string(transfer_format) + "): use the release that wrote it");
    if (format < transfer_format)
        return fail(Code::bad_value,
                    "it holds events for reading, not whole sessions: make it without --events");
    TransferHead out{head["release"].string_or(""), from_ms(head["at"].integer_or(0)), {}, {}};
    for (auto [name, ids] : {std::pair("sessions", &out.sessions), {"reserved", &out.reserved}}) {
        auto read = read_ids(head[name]);
        if (!read) return std::unexpected(std::move(read.error()));
        *ids = *std::move(read);
    }
    return out;
}

Result<void> read_row(std::string_view line, NewIds const& ids, Portable& session) {
    auto const checked = json::check(renamed(std::string(line), ids));
    if (!checked) return fail(Code::bad_value, "it is not JSON: " + checked.error().detail);
    json::View const view(*checked);
    Members members(view);
    std::string const type = members.text("type");
    if (type == "frame") {
        read_frame(members, session);
    } else if (type == "artifact") {
        read_artifact(members, session);
    } else if (type == "pending") {
        read_pending(members, session);
    } else if (type == "key") {
        auto key = renamed_key(members.bytes("key"), ids);
        if (key.size() > key_bytes_max) return fail(Code::bad_value, "the key is too long");
        session.keys.push_back({std::move(key), members.seq("seq")});
    } else if (type == "post") {
        read_outbox_body(members, session);
    } else if (type == "secret") {
        session.secrets.push_back({members.number<CallNo>("call"),
                                   members.number<Generation>("generation"),
                                   members.text("secret")});
    } else if (type == "rule") {
        session.rules.push_back({members.text("id"), members.text("body"), session.id});
    } else {
        return fail(Code::bad_value, "unknown type \"" + type + "\"");
    }
    return members.done();
}

}  // namespace dormouse::runner
