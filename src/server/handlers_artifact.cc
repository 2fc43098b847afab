#include "server/etag.h"
#include "server/handlers.h"

#include "base/text.h"

#include <algorithm>
#include <array>

// Artifacts: the bytes that an event names. They never change, so their digest is their tag.
namespace dormouse::server {

using namespace dormouse::session;

namespace {

// What a browser may show in place: it can not run anything, not even when it is opened by itself.
bool shown_in_place(std::string_view mime) {
    std::string essence(mime.substr(0, mime.find(';')));
    std::ranges::transform(essence, essence.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    while (essence.ends_with(' ')) essence.pop_back();
    constexpr std::array<std::string_view, 5> harmless{"text/plain", "image/png", "image/jpeg",
                                                       "image/gif", "image/webp"};
    return std::ranges::find(harmless, essence) != harmless.end();
}

// RFC 6266 and RFC 8187: the name as it is, where it is plain ASCII; else percent-encoded UTF-8.
std::string disposition(ArtifactEmitted const& artifact) {
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out = shown_in_place(artifact.mime) ? "inline" : "attachment";
    std::string encoded;
    bool plain = true;
    for (char const c : artifact.name) {
        auto const byte = static_cast<unsigned char>(c);
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_') {
            encoded += c;
        } else {
            plain = plain && c == ' ';
            encoded += '%';
            encoded += digits[byte >> 4];
            encoded += digits[byte & 15];
        }
    }
    if (artifact.name.empty()) return out;
    if (plain) return out + "; filename=\"" + artifact.name + "\"";
    return out + "; filename*=UTF-8''" + encoded;
}

std::vector<std::pair<std::string, std::string>> headers_of(ArtifactEmitted const& artifact) {
    return {{"ETag", "\"" + hex(artifact.digest) + "\""},
            // Asked again each time: the right to see it ends with the session.
            {"Cache-Control", "private, no-cache"},
            {"Content-Disposition", disposition(artifact)},
            {"Content-Security-Policy", "default-src 'none'; sandbox"},
            {"X-Content-Type-Options", "nosniff"}};
}

// The event is there and its bytes are not: deleted in between, or damaged.
void answer_missing(Api& api, ExchangePtr const& x, NumberedId const& id) {
    api.services().runner.look(id.session, [x](Result<std::shared_ptr<runner::Lane>> lane) {
        if (!lane) return x->fail(lane.error());
        x->fail({Code::internal, "The bytes of " + x->params[0] +
                                     " are missing. Stop the server and run: dormouse verify"});
    });
}

void answer_bytes(Api& api, ExchangePtr const& x, NumberedId const& id,
                  ArtifactEmitted const& artifact) {
    port::ask(
        api.services().journal,
        [id](port::Store& store) { return store.artifact(id.session, id.number); },
        [&api, x, id, artifact](Result<std::optional<std::string>> bytes) {
            if (!bytes) return x->fail(bytes.error());
            if (!*bytes) return answer_missing(api, x, id);
            x->responder->reply({200, artifact.mime, headers_of(artifact), **std::move(bytes)});
        });
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
    api.services().runner.read_page(id->session, id->number,
                                    [&api, x, id = *id](Result<runner::Runner::Read> read) {
                                        if (!read) return x->fail(read.error());
                                        answer_artifact(api, x, id, *read);
                                    });
}

}  // namespace dormouse::server
