#include "webhook/sample.h"

#include "base/url.h"
#include "json/json.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace dormouse::webhook {

namespace {

// A JSON object that is written member by member, by pointers.
class Tree {
public:
    void put(std::string_view pointer, Json value) {
        if (pointer.empty()) {
            value_ = std::move(value);
            return;
        }
        std::string_view const rest = pointer.substr(1);
        std::size_t const end = std::min(rest.find('/'), rest.size());
        auto& child = members_[token_of(rest.substr(0, end))];
        if (!child) child = std::make_unique<Tree>();
        child->put(rest.substr(end), std::move(value));
    }

    // Members set by put() replace members of the same name in a value that is an object. Members
    // 0, 1, … without others are an array.
    void write(json::Writer& out) const {
        if (members_.empty()) {
            out.value(value_);
            return;
        }
        if (is_array()) {
            out.begin_array();
            for (auto const& [name, child] : members_) child->write(out);
            out.end_array();
            return;
        }
        out.begin_object();
        for (auto const& [name, child] : members_) child->write(out.key(name));
        json::View(value_).members([&](std::string_view name, json::View value) {
            if (!members_.contains(name)) out.key(name).raw(value.raw());
        });
        out.end_object();
    }

private:
    [[nodiscard]] bool is_array() const {
        if (members_.size() > array_max || json::View(value_).size() > 0) return false;
        std::size_t at = 0;
        for (auto const& [name, child] : members_)
            if (name != std::to_string(at++)) return false;
        return true;
    }

    // RFC 6901: ~1 is a slash, ~0 a tilde.
    static std::string token_of(std::string_view escaped) {
        std::string out;
        for (std::size_t at = 0; at < escaped.size(); ++at) {
            bool const pair = escaped[at] == '~' && at + 1 < escaped.size();
            out += pair ? (escaped[++at] == '1' ? '/' : '~') : escaped[at];
        }
        return out;
    }

    static constexpr std::size_t array_max = 10;  // their names sort as numbers do

    Json value_;
    std::map<std::string, std::unique_ptr<Tree>, std::less<>> members_;
};

Json text(std::string_view value) { return Json::trusted(json::quote(value)); }

Result<void> put_name(Source const& source, Sample const& sample, Tree& tree) {
    bool const by_reference = source.pending.empty() && !source.external_ref.empty();
    if (!by_reference) {
        tree.put(source.pending.empty() ? "/pendingID" : source.pending, text(sample.pending));
        return {};
    }
    if (sample.reference.empty())
        return fail(Code::bad_value, "this source finds a call by its externalRef, and " +
                                         sample.pending + " has none");
    tree.put(source.external_ref, text(sample.reference));
    return {};
}

Result<void> put_outcome(Source const& source, Sample const& sample, Tree& tree) {
    bool const by_default = source.output.empty() && source.error.empty();
    if (sample.error) {
        std::string const pointer = by_default ? "/error" : source.error;
        if (pointer.empty())
            return fail(Code::bad_value,
                        "this source carries no errors: it has no pointer \"error\"");
        tree.put(pointer, text(*sample.error));
        return {};
    }
    tree.put(by_default ? "/result/output" : source.output, sample.output);
    return {};
}

// Slack's commands and buttons are forms, whose field `payload` is JSON; its events are not.
bool is_form(json::View payload) {
    bool fits = payload.size() > 0;
    payload.members([&](std::string_view name, json::View value) {
        fits = fits && (name == "payload" || value.string());
    });
    return fits;
}

std::string form_field(std::string_view name, std::string_view value) {
    return percent_encode(name) + "=" + percent_encode(value);
}

}  // namespace

std::string sample_body(Kind kind, Json const& payload) {
    json::View const fields(payload);
    if (kind != Kind::slack || !is_form(fields)) return std::string(payload.text());
    std::string out;
    fields.members([&](std::string_view name, json::View value) {
        bool const is_text = name != "payload";
        out += (out.empty() ? "" : "&") +
               form_field(name, is_text ? value.string_or("") : std::string(value.raw()));
    });
    return out;
}

std::string sample_press(Press const& press) {
    json::Writer out;
    out.begin_object().member("type", "block_actions");
    out.key("user").begin_object().member("id", press.user).end_object();
    out.key("actions").begin_array().begin_object().member("type", "button");
    out.member("action_id", press.approves ? "approve" : "deny");
    out.member("value", press.pending + " " + press.digest).end_object().end_array();
    return form_field("payload", out.end_object().take());
}

Result<Json> sample_payload(Source const& source, Sample const& sample) {
    Tree tree;
    if (auto put = put_outcome(source, sample, tree); !put) return std::unexpected(put.error());
    if (auto put = put_name(source, sample, tree); !put) return std::unexpected(put.error());
    for (auto const& [pointer, value] : source.when) tree.put(pointer, text(value));
    json::Writer out;
    tree.write(out);
    return out.json();
}

}  // namespace dormouse::webhook
