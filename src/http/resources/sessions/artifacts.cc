#include "http/objects/etag.h"
#include "http/resources/sessions/handlers.h"

#include "base/crypto/sha256_stream.h"
#include "base/text/chars.h"
#include "base/text/text.h"
#include "base/url.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

// Artifacts: the bytes that an event names. They never change, so the digest is the entity tag.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::size_t piece_bytes = std::size_t{256} << 10;
constexpr std::size_t compared_bytes = std::size_t{1} << 20;  // in one read

// Types that a browser may show inline: they cannot run anything, even when opened directly.
bool shown_in_place(std::string_view mime) {
    std::string essence = lower_case(mime.substr(0, mime.find(';')));
    while (essence.ends_with(' ')) essence.pop_back();
    constexpr std::array<std::string_view, 5> harmless{"text/plain", "image/png", "image/jpeg",
                                                       "image/gif", "image/webp"};
    return std::ranges::find(harmless, essence) != harmless.end();
}

// RFC 6266 and RFC 8187: plain ASCII names as they are, others as percent-encoded UTF-8.
std::string disposition(ArtifactEmitted const& artifact) {
    std::string out = shown_in_place(artifact.mime) ? "inline" : "attachment";
    if (artifact.name.empty()) return out;
    bool const plain =
        std::ranges::all_of(artifact.name, [](char c) { return c == ' ' || is_unreserved(c); });
    if (plain) return out + "; filename=\"" + artifact.name + "\"";
    return out + "; filename*=UTF-8''" + percent_encode(artifact.name);
}

std::vector<std::pair<std::string, std::string>> headers_of(ArtifactEmitted const& artifact) {
    return {{"ETag", "\"" + hex(artifact.digest) + "\""},
            // Revalidated each time: the right to see it ends with the session.
            {"Cache-Control", "private, no-cache"},
            {"Content-Disposition", disposition(artifact)},
            {"Content-Security-Policy", "default-src 'none'; sandbox"},
            {"X-Content-Type-Options", "nosniff"}};
}

// The event exists and its bytes do not: deleted meanwhile, or damaged.
void answer_missing(Api& api, ExchangePtr const& x, NumberedId const& id) {
    api.services().runner.read_lane(id.session, [x](Result<std::shared_ptr<runner::Lane>> lane) {
        if (!lane) return x->fail(lane.error());
        x->fail({Code::internal, "The bytes of " + x->params[0] +
                                     " are missing. Stop the server and run: dormouse verify"});
    });
}

// Reads the bytes of an artifact while they are sent.
class ArtifactSource final : public BodySource {
public:
    ArtifactSource(port::StoreView<port::JournalStore> journal, NumberedId id, std::uint64_t size)
        : journal_(journal), id_(id), size_(size) {}

    [[nodiscard]] std::uint64_t size() const override { return size_; }
    void read(port::Fn<void(Result<std::string>)> done) override {
        auto question = [id = id_, at = at_](port::JournalStore& store) {
            return store.artifact_piece(id.session, id.number, at, piece_bytes);
        };
        at_ += piece_bytes;
        port::ask(journal_, std::move(question),
                  [done = std::move(done)](Result<std::optional<std::string>> piece) mutable {
                      if (!piece) return done(std::unexpected(std::move(piece.error())));
                      // Bytes deleted meanwhile are an empty piece: the connection ends.
                      done(std::move(*piece).value_or(std::string()));
                  });
    }

private:
    port::StoreView<port::JournalStore> journal_;
    NumberedId const id_;
    std::uint64_t const size_;
    std::uint64_t at_ = 0;
};

// Compares all bytes with the digest before the first is sent.
struct Comparison {
    Api& api;
    ExchangePtr x;
    NumberedId id;
    ArtifactEmitted artifact;
    HttpReply reply;
    Sha256Stream digest = {};
    std::uint64_t at = 0;

    // Blocks on reads. Returns false at the end. Errors: not_found, those of the store.
    Result<bool> add_piece(port::JournalStore& store) {
        auto piece = store.artifact_piece(id.session, id.number, at, compared_bytes);
        if (!piece) return std::unexpected(std::move(piece.error()));
        if (!*piece) return dormouse::fail(Code::not_found, "the artifact was deleted");
        digest.add(**piece);
        at += (*piece)->size();
        return !(*piece)->empty() && at < artifact.bytes;
    }

    void finish() {
        if (at == artifact.bytes && same_digest(digest.finish(), artifact.digest))
            return x->responder->reply(std::move(reply));
        x->fail({Code::internal, "The bytes of " + x->params[0] +
                                     " are damaged. Stop the server and run: dormouse verify"});
    }
};

// Compares a piece at a time, so that other reads run in between, and only while the client waits.
void compare_on(std::shared_ptr<Comparison> const& of) {
    if (of->x->responder->gone()) return;
    auto question = [of](port::JournalStore& store) { return of->add_piece(store); };
    port::ask(of->api.services().journal, std::move(question), [of](Result<bool> more) {
        if (more && *more) return compare_on(of);
        if (more) return of->finish();
        if (more.error().code == Code::not_found) return answer_missing(of->api, of->x, of->id);
        of->x->fail(more.error());
    });
}

void answer_bytes(Api& api, ExchangePtr const& x, NumberedId const& id,
                  ArtifactEmitted const& artifact) {
    HttpReply reply{200, artifact.mime, headers_of(artifact), ""};
    reply.source = std::make_shared<ArtifactSource>(api.services().journal, id, artifact.bytes);
    if (x->request.head_only) return x->responder->reply(std::move(reply));
    compare_on(std::make_shared<Comparison>(api, x, id, artifact, std::move(reply)));
}

void answer_artifact(Api& api, ExchangePtr const& x, NumberedId const& id,
                     runner::Runner::Read const& read) {
    bool const there = !read.records.empty() && read.records.front()->event.seq == id.number;
    auto const* const event =
        there ? std::get_if<ArtifactEmitted>(&read.records.front()->event.body) : nullptr;
    if (!event) return x->fail(missing(read.lane->state(), id.number));
    auto headers = headers_of(*event);
    if (none_match_names(x->request, headers.front().second))
        return x->responder->reply({304, "", std::move(headers), ""});
    answer_bytes(api, x, id, *event);
}

}  // namespace

void get_artifact(Api& api, ExchangePtr const& x) {
    auto const id = parse_numbered("art_", x->params[0]);
    if (!id) return x->fail(not_found());
    api.services().runner.read_event(id->session, id->number,
                                     [&api, x, id = *id](Result<runner::Runner::Read> read) {
                                         if (!read) return x->fail(read.error());
                                         answer_artifact(api, x, id, *read);
                                     });
}

}  // namespace dormouse::http
