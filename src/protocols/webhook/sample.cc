#include "webhook/sample.h"

#include "json/json.h"

#include <algorithm>
#include <map>
#include <memory>
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

    // Members that were put go before those of the same name in a value that is an object.
    void write(json::Writer& out) const {
        if (members_.empty()) {
            out.value(value_);
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
    // RFC 6901: ~1 is a slash, ~0 a tilde.
    static std::string token_of(std::string_view escaped) {
        std::string out;
        for (std::size_t at = 0; at < escaped.size(); ++at) {
            bool const pair = escaped[at] == '~' && at + 1 < escaped.size();
            out += pair ? (escaped[++at] == '1' ? '/' : '~') : escaped[at];
        }
        return out;
    }

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

}  // namespace

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
