#pragma once
// The protocol of one provider: how a request is written and how its streamed reply is read.
// Everything else (HTTP, framing, failures) is common and belongs to HttpModel.

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
    Json extra = {};  // an object whose members are sent too and replace ours, or null
    // Content that is not accepted is sent as its name and type.
    bool images = true;
    bool files = true;  // other than text, of the types that the protocol supports
};

// Builds one reply from the events of its stream.
class ReplyReader {
public:
    // All arguments outlive this.
    ReplyReader(Provider const& provider, ToolNames const& names, ReplyDraft::OnDelta& on_delta)
        : provider_(provider), draft_(provider, names, on_delta) {}
    virtual ~ReplyReader() = default;

    // Reads the data of one event. If it returns a trouble, the reply has failed and accepts no
    // more.
    [[nodiscard]] virtual std::optional<agent::ModelTrouble> take(json::View chunk) = 0;
    // Ends the stream. A reply without an end mark has failed: its calls may be incomplete.
    [[nodiscard]] virtual agent::ModelOutcome finish() = 0;
    // The model has finished; only the usage may still follow.
    [[nodiscard]] virtual bool complete() const = 0;
    // Nothing more follows, although the connection may stay open.
    [[nodiscard]] virtual bool ended() const = 0;

protected:
    Provider const& provider_;
    ReplyDraft draft_;
};

class Protocol {
public:
    enum class Framing : std::uint8_t { events, lines };  // server-sent events, or JSON lines

    virtual ~Protocol() = default;
    // Protocol and model. Provider data is returned only to the protocol and model it came from.
    [[nodiscard]] std::string const& from() const { return from_; }
    [[nodiscard]] virtual Framing framing() const = 0;
    // Appended to base_url.
    [[nodiscard]] virtual std::string path() const = 0;
    // `api_key` may be empty: then no key is sent.
    [[nodiscard]] virtual std::vector<port::HttpHeader> headers(
        std::string const& api_key) const = 0;
    // Answers each call of an assistant message right after it, in order. If a view only grows, so
    // do its messages.
    [[nodiscard]] virtual std::string body(agent::Question const& question,
                                           ToolNames const& names) const = 0;
    [[nodiscard]] virtual std::unique_ptr<ReplyReader> reader(
        Provider const& provider, ToolNames const& names, ReplyDraft::OnDelta& on_delta) const = 0;

protected:
    Protocol(std::string_view name, RequestSettings settings)
        : settings_(std::move(settings)), from_(std::string(name) + "/" + settings_.model) {}

    RequestSettings const settings_;

private:
    std::string const from_;
};

// Returns the header "Authorization: Bearer", which most providers use.
[[nodiscard]] std::vector<port::HttpHeader> bearer(std::string const& api_key);

// The body of a request: our members and those of `extra`, which replace ours.
class RequestBody {
public:
    explicit RequestBody(Json const& extra) : extra_(extra) { out_.begin_object(); }

    // Adds the member unless `extra` has one of that name.
    template <class T> RequestBody& add_default(std::string_view name, T const& value) {
        if (!extra_[name].exists()) out_.member(name, value);
        return *this;
    }
    // REQUIRES: `extra` cannot have a member of that name.
    template <class T> RequestBody& fixed(std::string_view name, T const& value) {
        out_.member(name, value);
        return *this;
    }
    // Adds the object `section` with our member `name`, if there is a value, and the members of
    // that section of `extra`, which replace ours. An empty section is left out.
    RequestBody& section(std::string_view section, std::string_view name,
                         std::optional<std::uint32_t> value);
    [[nodiscard]] std::string take();

private:
    json::View extra_;
    std::string merged_;  // the section being written
    json::Writer out_;
};

// Returns [{<members of the kind>}, …] for the tools: `write` fills in one object.
template <class Write> Json tools_json(agent::Question const& question, Write const& write) {
    json::Writer out;
    out.begin_array();
    for (agent::ToolDeclaration const& tool : question.tools()) {
        out.begin_object();
        write(out, tool);
        out.end_object();
    }
    return out.end_array().json();
}

}  // namespace dormouse::model
