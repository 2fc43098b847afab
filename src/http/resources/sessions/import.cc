#include "base/text/chars.h"
#include "base/text/names.h"
#include "http/objects/etag.h"
#include "http/objects/objects.h"
#include "http/resources/rights.h"
#include "http/resources/sessions/handlers.h"
#include "http/resources/sessions/session_fields.h"

#include "json/json.h"

#include <algorithm>

// Imports sessions of other programs: a new session begins with their messages, as a fork does.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::size_t files_max = 1'000;  // of one request

// Messages in the form of GET …/messages. Their ids are numbers: the ids of the original mean
// nothing here.
class Transcript {
public:
    void add(Body& body, json::View message) {
        std::string const pointer = "/messages/" + std::to_string(count_);
        Body fields(message, pointer, {"role", "at", "parts"});
        std::string const role = fields.required_string("role");
        if (role != "user" && role != "assistant")
            fields.refuse("role", "must be user or assistant");
        at_ = fields.integer("at").value_or(0);
        if (at_ < 0) fields.refuse("at", "must be 0 or more (ms since the epoch)");
        auto const parts = fields.array("parts");
        if (!parts || parts->size() == 0) fields.refuse("parts", "must be an array, and not empty");
        if (fields.error()) return body.refuse(*fields.error());
        id_ = "import_" + std::to_string(first_ + ++count_);
        out_.begin_object().member("id", "msg_" + id_).member("sessionID", "ses_import");
        out_.member("turnID", "trn_import").member("role", role).key("source").begin_object();
        out_.member("type", "import").member_null("ref").end_object().key("parts").begin_array();
        number_ = 0;
        parts->elements([&](json::View part) { add_part(body, part, pointer); });
        out_.end_array().member_null("error").member_null("usage").key("time").begin_object();
        out_.member("created", at_).member("completed", at_).end_object().end_object();
    }

    // `known`: how many messages precede these.
    void begin(std::uint64_t known = 0) {
        first_ = known;
        out_.begin_array();
    }
    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] Json take() { return out_.end_array().json(); }
    // The files that the messages name.
    [[nodiscard]] std::vector<std::pair<Seq, Artifact>> take_files() { return std::move(files_); }

private:
    void add_part(Body& body, json::View part, std::string const& message) {
        std::string const pointer = message + "/parts/" + std::to_string(number_);
        std::string const type = part["type"].string_or("");
        out_.begin_object().member("id", "prt_" + id_ + "_" + std::to_string(++number_));
        out_.member("messageID", "msg_" + id_).member("sessionID", "ses_import");
        out_.member("type", type);
        if (type == "tool") {
            add_call(body, part, pointer);
        } else if (type == "image" || type == "file") {
            add_file(body, part, pointer, type);
        } else {
            Body fields(part, pointer, {"type", "text"});
            if (type != "text" && type != "reasoning")
                fields.refuse("type", "must be text, reasoning, image, file or tool");
            out_.member("text", fields.required_string("text"));
            if (type == "text") out_.member("synthetic", false);
            if (fields.error()) body.refuse(*fields.error());
        }
        out_.end_object();
    }

    // Accepts bytes only: the content of a URL may have changed, or be a secret.
    void add_file(Body& body, json::View part, std::string const& pointer,
                  std::string const& type) {
        Body fields(part, pointer, {"type", "mime", "name", "alt", "data"});
        auto const alt = fields.string("alt");
        auto file = read_file(fields, type);
        if (file && files_.size() >= files_max)
            fields.refuse("type", "must have at most 1000 images and files");
        if (fields.error()) return body.refuse(*fields.error());
        Seq const number = files_.size() + 1;
        out_.member("mime", file->mime);
        file->name.empty() ? out_.member_null("name") : out_.member("name", file->name);
        out_.member("bytes", std::uint64_t{file->bytes->size()}).member_null("url");
        out_.member("artifactID", numbered_id("art_", SessionId(), number));
        alt ? out_.member("alt", *alt) : out_.member_null("alt");
        files_.emplace_back(number, *std::move(file));
    }

    void add_call(Body& body, json::View part, std::string const& pointer) {
        Body fields(part, pointer, {"type", "tool", "callID", "input", "output", "error"});
        out_.member("callID", fields.string("callID").value_or("call"));
        out_.member("tool", fields.required_string("tool")).key("state").begin_object();
        auto const error = fields.string("error");
        auto const output = fields.any("output");
        if (error.has_value() == output.has_value())
            fields.refuse("output", "give either output or error");
        out_.member("status", error ? "error" : "completed");
        out_.member("input", fields.any("input").value_or(Json::trusted("{}")));
        if (error) {
            out_.member("error", *error).member("reason", "unknown").member_null("metadata");
        } else {
            out_.member("output", output.value_or(Json())).member_null("title");
            out_.member_null("metadata").member_null("artifactID");
        }
        out_.key("time").begin_object().member("start", at_).member("end", at_).end_object();
        out_.end_object();
        if (fields.error()) body.refuse(*fields.error());
    }

    json::Writer out_;
    std::uint64_t first_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t number_ = 0;
    std::int64_t at_ = 0;
    std::string id_;
    std::vector<std::pair<Seq, Artifact>> files_;
};

void read_messages(Body& body, Transcript& into) {
    if (body.error()) return;
    body.array("messages")->elements([&](json::View each) {
        if (!body.error()) into.add(body, each);
    });
}

// A transcript and where it was stored.
struct Imported {
    Create create;
    std::optional<std::string> source = {};
    std::optional<std::string> cwd = {};
};

Result<Imported> read_import(ExchangePtr const& x) {
    Body body(json::View(x->body), import_request);
    Imported out;
    Create& create = out.create;
    create.project = x->params[0];
    create.agent = body.string_or_empty("agentID");
    create.title = body.string_or_empty("title");
    out.source = body.string("source");
    out.cwd = body.string("cwd");
    if (!is_short_name(create.project))
        body.refuse(bad_value("{project}", "must match [A-Za-z0-9_.-]{1,64}"));
    Transcript transcript;
    transcript.begin();
    read_messages(body, transcript);
    if (body.error()) return std::unexpected(*body.error());
    std::uint32_t const count = transcript.count();
    create.fork = Create::ForkOf{.from = {},
                                 .seq = 0,
                                 .messages = transcript.take(),
                                 .message_count = count,
                                 .artifacts = transcript.take_files()};
    return out;
}

// The session of an external agent works in its former folder. A model's session has no folder and
// gets a label with the former one.
std::optional<Error> settle_place(Api& api, Imported& what) {
    bool const works = works_in_folders(api, what.create.agent);
    json::Writer labels;
    labels.begin_object();
    if (what.source) labels.member("source", *what.source);
    if (what.cwd && !works) labels.member("cwd", *what.cwd);
    if (what.cwd && works) what.create.cwd = *what.cwd;
    what.create.labels = labels.end_object().json();
    return settle_agent(api, what.create);
}

void make_imported(Api& api, ExchangePtr const& x, Imported what) {
    if (auto const error = settle_place(api, what)) return x->fail(*error);
    if (auto const error = refuse_agent(api, *x, what.create.agent)) return x->fail(*error);
    api.services().runner.create(
        std::move(what.create), x->asker(), [&api, x](Result<runner::Created> created) {
            if (!created) return x->fail(created.error());
            bool const again = created->answer.outcome == Answer::Outcome::duplicate;
            answer_with_session(api, x, created->session, again ? 200 : 201);
        });
}

// `known`: how many messages precede these.
Result<ImportMore> read_more(ExchangePtr const& x, std::uint64_t known) {
    Body body(json::View(x->body), import_part_request);
    auto const part = body.integer("part").value_or(0);
    Transcript transcript;
    transcript.begin(known);
    read_messages(body, transcript);
    if (body.error()) return std::unexpected(*body.error());
    return ImportMore{static_cast<std::uint32_t>(std::min<std::int64_t>(part, UINT32_MAX)),
                      transcript.take(), transcript.count(), transcript.take_files()};
}

void give_more(Api& api, ExchangePtr const& x, SessionId id, ImportMore more) {
    std::uint32_t const part = more.part;
    api.services().runner.command(
        id, std::move(more), x->asker(), [x, part](Result<Answer> const& answer) {
            if (!answer) return x->fail(answer.error());
            bool const again = answer->outcome == Answer::Outcome::duplicate;
            x->json(again ? 200 : 201, object_text(ImportedPart{part, again}));
        });
}

// Numbers the messages after those the session had at the read; if more have been added meanwhile,
// reads again.
void add_more(Api& api, ExchangePtr const& x, SessionId id, std::uint64_t known) {
    read_aside<ImportMore>(
        api, x, [x, known] { return read_more(x, known); },
        [&api, x, id, known](ImportMore more) {
            api.services().runner.read_lane(
                id, [&api, x, id, known,
                     more = std::move(more)](Result<std::shared_ptr<runner::Lane>> lane) mutable {
                    if (!lane) return x->fail(lane.error());
                    std::uint64_t const now = (*lane)->state().messages;
                    if (now != known) return add_more(api, x, id, now);
                    give_more(api, x, id, std::move(more));
                });
        });
}

}  // namespace

void import_more(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    api.services().runner.read_lane(
        *id, [&api, x, id = *id](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane) return x->fail(lane.error());
            add_more(api, x, id, (*lane)->state().messages);
        });
}

void import_session(Api& api, ExchangePtr const& x) {
    read_aside<Imported>(
        api, x, [x] { return read_import(x); },
        [&api, x](Imported what) { make_imported(api, x, std::move(what)); });
}

}  // namespace dormouse::http
