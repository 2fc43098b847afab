#pragma once
// One provider's way of speaking: what a request says, and how its streamed reply is read. The
// rest (HTTP, framing, failures) is HttpModel's and the same for all.

#include "json/json.h"
#include "model/provider_failure.h"
#include "model/reply_draft.h"
#include "model/tool_names.h"
#include "port/http.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::model {

struct RequestSettings {
    std::string model;
    std::optional<std::uint32_t> max_output_tokens = {};
    Json extra = {};  // an object whose members are sent along and replace ours, or null
    // What is not taken is told by its name and type.
    bool images = true;
    bool files = true;  // that are no text, of the types that the protocol has a place for
};

// Puts one reply together from what its stream brings.
class ReplyReader {
public:
    // All outlive this.
    ReplyReader(Provider const& provider, ToolNames const& names, ReplyDraft::Say& say)
        : provider_(provider), draft_(provider, names, say) {}
    virtual ~ReplyReader() = default;

    // The data of one event of the stream. Set: the reply has failed, and takes no more.
    [[nodiscard]] virtual std::optional<agent::ModelTrouble> take(json::View chunk) = 0;
    // Nothing more comes. A reply whose end was not told has failed: what it had said of its calls
    // may be half of it.
    [[nodiscard]] virtual agent::ModelOutcome finish() = 0;
    // The model has said all: what may still come is only the usage.
    [[nodiscard]] virtual bool complete() const = 0;
    // Nothing at all comes any more, although the connection may stay open.
    [[nodiscard]] virtual bool ended() const { return false; }

protected:
    Provider const& provider_;
    ReplyDraft draft_;
};

class Protocol {
public:
    enum class Framing : std::uint8_t { events, lines };  // server-sent events, or JSON lines

    virtual ~Protocol() = default;
    // Protocol and model: what is kept for a provider is given back only to where it came from.
    [[nodiscard]] std::string const& from() const { return from_; }
    [[nodiscard]] virtual Framing framing() const { return Framing::events; }
    // What is put behind base_url.
    [[nodiscard]] virtual std::string path() const = 0;
    // `api_key` may be empty: then none is sent.
    [[nodiscard]] virtual std::vector<port::HttpHeader> headers(
        std::string const& api_key) const = 0;
    // Each call of an assistant message is answered right after it, in its order. A view that has
    // only grown gives messages that have only grown.
    [[nodiscard]] virtual std::string body(agent::Question const& question,
                                           ToolNames const& names) const = 0;
    [[nodiscard]] virtual std::unique_ptr<ReplyReader> reader(Provider const& provider,
                                                              ToolNames const& names,
                                                              ReplyDraft::Say& say) const = 0;

protected:
    Protocol(std::string_view name, RequestSettings settings)
        : settings_(std::move(settings)), from_(std::string(name) + "/" + settings_.model) {}

    RequestSettings const settings_;

private:
    std::string const from_;
};

// "Authorization: Bearer", as most providers want it.
[[nodiscard]] std::vector<port::HttpHeader> bearer(std::string const& api_key);

// The body of a request: members of ours, and those of `extra`, which replace them.
class RequestBody {
public:
    explicit RequestBody(Json const& extra) : extra_(extra) { out_.begin_object(); }

    // Unless `extra` has one of that name.
    template <class T> RequestBody& usual(std::string_view name, T const& value) {
        if (!extra_[name].exists()) out_.member(name, value);
        return *this;
    }
    // REQUIRES: `extra` can not have it.
    template <class T> RequestBody& fixed(std::string_view name, T const& value) {
        out_.member(name, value);
        return *this;
    }
    // The object `section` with our member `name`, if there is a value, and those of the section
    // of `extra`, which replace it. Left out when it is empty.
    RequestBody& section(std::string_view section, std::string_view name,
                         std::optional<std::uint32_t> value);
    [[nodiscard]] std::string take();

private:
    json::View extra_;
    std::string merged_;  // the section that is written
    json::Writer out_;
};

// [{<members of the kind>}, …] for each tool: `write` fills in one object.
template <class Write> Json tools_json(agent::Question const& question, Write const& write) {
    json::Writer out;
    out.begin_array();
    for (agent::ToolDeclaration const& tool : question.tools) {
        out.begin_object();
        write(out, tool);
        out.end_object();
    }
    return out.end_array().json();
}

}  // namespace dormouse::model
