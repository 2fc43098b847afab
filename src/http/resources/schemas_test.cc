// The objects and request bodies of the API as JSON Schema, from which tools/object_schemas.py
// writes openapi.json:
//
//     OBJECT_SCHEMAS=schemas.json http_resources_tests --gtest_filter=Schemas.*
#include "http/objects/object_fields.h"
#include "http/objects/requests.h"
#include "http/resources/calls/call_fields.h"
#include "http/resources/devices/device_fields.h"
#include "http/resources/mail/mail_fields.h"
#include "http/resources/operations/doctor/doctor_fields.h"
#include "http/resources/operations/doctor/facts_fields.h"
#include "http/resources/operations/explain_fields.h"
#include "http/resources/operations/import_fields.h"
#include "http/resources/operations/operation_fields.h"
#include "http/resources/operations/reload_fields.h"
#include "http/resources/operations/retention_fields.h"
#include "http/resources/rules/rule_fields.h"
#include "http/resources/sessions/project_fields.h"
#include "http/resources/sessions/redaction_fields.h"
#include "http/resources/sessions/session_fields.h"
#include "http/resources/tokens/token_fields.h"
#include "http/resources/webhooks/delivery_fields.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

namespace dormouse::http {
namespace {

// The members of a schema as JSON, in their order.
class Schema {
public:
    Schema() = default;
    Schema(std::string_view name, std::string value) { set(name, std::move(value)); }

    // REQUIRES: `value` is JSON.
    Schema& set(std::string_view name, std::string value) {
        for (auto& [known, old] : members_) {
            if (known != name) continue;
            old = std::move(value);
            return *this;
        }
        members_.emplace_back(name, std::move(value));
        return *this;
    }
    Schema& word(std::string_view name, std::string_view value) {
        return set(name, json::quote(value));
    }
    [[nodiscard]] bool has(std::string_view name) const { return !get(name).empty(); }
    [[nodiscard]] std::string get(std::string_view name) const {
        for (auto const& [known, value] : members_) {
            if (known == name) return value;
        }
        return "";
    }
    [[nodiscard]] std::string text() const {
        json::Writer out;
        out.begin_object();
        for (auto const& [name, value] : members_) out.member_raw(name, value);
        return out.end_object().take();
    }
    [[nodiscard]] Schema or_null() const {
        Schema out = *this;
        if (std::string const type = get("type"); !type.empty()) {
            out.set("type", "[" + type + R"(,"null"])");
            if (has("enum"))
                out.set("enum", get("enum").replace(get("enum").size() - 1, 1, ",null]"));
            return out;
        }
        if (members_.empty() || (members_.size() == 1 && has("description"))) return out;
        return {"anyOf", "[" + text() + R"(,{"type":"null"}])"};
    }
    // Adds what a row of facts states: the values, further members and the description.
    void add(Facts const& facts) {
        if (!facts.words.empty()) set("enum", list_of_words(facts.words));
        json::View(std::string_view(more_of(facts))).members([&](auto name, json::View value) {
            set(name, std::string(value.raw()));
        });
        if (!facts.about.empty()) word("description", facts.about);
    }

private:
    static std::string more_of(Facts const& facts) { return "{" + std::string(facts.more) + "}"; }
    static std::string list_of_words(std::string_view words) {
        json::Writer out;
        out.begin_array();
        for (auto const word : std::views::split(words, ' ')) out.value(std::string_view(word));
        return out.end_array().take();
    }
    std::vector<std::pair<std::string, std::string>> members_;
};

// Values that no answer has.
template <class E> constexpr std::string_view unseen = "";
template <> constexpr std::string_view unseen<Lifecycle> = "none deleted";

std::string pattern(std::string_view prefix) {
    return json::quote("^" + std::string(prefix) + "[A-Za-z0-9_-]{4,60}$");
}
template <class T> constexpr std::string_view prefix_of = "";
template <> constexpr std::string_view prefix_of<SessionId> = "ses_";
template <> constexpr std::string_view prefix_of<PendingId> = "pnd_";
template <char... Prefix>
constexpr std::string_view prefix_of<NumberText<Prefix...>> = NumberText<Prefix...>::prefix;
template <> constexpr std::string_view prefix_of<MailText> = "mail_";

using Names = std::vector<std::string>;

// The properties of an object that is being described.
struct Properties {
    std::vector<std::pair<std::string, std::string>> schemas = {};
    Names required = {};

    void add(std::string_view name, Schema const& schema, bool is_required) {
        for (auto const& [known, text] : schemas) EXPECT_NE(known, name);
        schemas.emplace_back(name, schema.text());
        if (is_required) required.emplace_back(name);
    }
    [[nodiscard]] Schema schema(std::string_view about) const {
        Schema out;
        out.word("type", "object");
        if (!about.empty()) out.word("description", about);
        json::Writer properties, names;
        properties.begin_object();
        for (auto const& [name, text] : schemas) properties.member_raw(name, text);
        out.set("properties", properties.end_object().take());
        names.begin_array();
        for (std::string const& name : required) names.value(name);
        if (!required.empty()) out.set("required", names.end_array().take());
        return out.set("additionalProperties", "false");
    }
};

class Schemas : public ::testing::Test {
protected:
    template <class... S> void describe() { ((void)of_type<S>(), ...); }

    // Members of a described object that are not always there.
    template <class S> void describe_more() {
        std::string& text = named_[std::string(rows<S>.name)];
        json::View const known(text);
        Properties all;
        known["properties"].members([&](std::string_view name, json::View schema) {
            all.schemas.emplace_back(name, schema.raw());
        });
        known["required"].elements([&](json::View one) { all.required.push_back(*one.string()); });
        std::size_t const always = all.required.size();
        list<S>(all, rows<S>.list);
        all.required.resize(always);
        text = all.schema(known["description"].string_or("")).text();
    }
    void describe(Request const& request) {
        Properties all;
        for (Member const& member : request.members)
            all.add(member.name, of_member(member), member.required);
        order_.emplace_back(request.name);
        named_[order_.back()] = all.schema(request.about).text();
    }

    std::map<std::string, std::string> named_;
    Names order_;

private:
    static Schema of_member(Member const& member) {
        constexpr std::array<std::string_view, 6> types{"string", "integer", "boolean",
                                                        "object", "array",   ""};
        constexpr std::array<std::pair<std::string_view, std::string_view>, 6> bounds{
            {{"minLength", "maxLength"},
             {"minimum", "maximum"},
             {},
             {"minProperties", "maxProperties"},
             {"minItems", "maxItems"},
             {}}};
        auto const type = static_cast<std::size_t>(member.type);
        bool const refers = member.facts.more.starts_with(R"("$ref")");
        bool const is_any = member.type == Member::Type::any;
        Schema out;
        if (!is_any && !refers) out.word("type", types.at(type));
        if (is_any && member.facts.about.empty()) out.word("description", "Any JSON value.");
        auto const& [least, most] = bounds.at(type);
        if (member.least > std::numeric_limits<std::int64_t>::min())
            out.set(least, std::to_string(member.least));
        if (member.most < std::numeric_limits<std::int64_t>::max())
            out.set(most, std::to_string(member.most));
        out.add(member.facts);
        return member.required || is_any ? out : out.or_null();
    }

    template <class T> Schema of_type() {
        if constexpr (is_optional<T>) {
            return of_type<typename T::value_type>().or_null();
        } else if constexpr (is_ref<T>) {
            return of_type<std::remove_cv_t<typename T::type>>();
        } else if constexpr (Described<T>) {
            return of_object<T>();
        } else if constexpr (std::is_enum_v<T>) {
            return Schema().word("type", "string").set("enum", words<T>());
        } else if constexpr (std::same_as<T, bool>) {
            return Schema().word("type", "boolean");
        } else if constexpr (std::integral<T>) {
            return Schema().word("type", "integer");
        } else if constexpr (std::same_as<T, Time> || std::same_as<T, Duration>) {
            return Schema().word("type", "integer").word("description", unit<T>);
        } else if constexpr (std::same_as<T, Sha256>) {
            return Schema().word("type", "string").word("pattern", "^sha256:[0-9a-f]{64}$");
        } else if constexpr (std::same_as<T, Json>) {
            return Schema().word("description", "Any JSON value.");
        } else if constexpr (HasText<T>) {
            return Schema().word("type", "string").set("pattern", pattern(prefix_of<T>));
        } else if constexpr (std::convertible_to<T const&, std::string_view>) {
            return Schema().word("type", "string");
        } else {
            return Schema()
                .word("type", "array")
                .set("items", of_type<std::ranges::range_value_t<T>>().text());
        }
    }
    template <class T>
    static constexpr std::string_view unit =
        std::same_as<T, Time> ? "Milliseconds since the Unix epoch." : "Milliseconds.";

    template <class E> static std::string words() {
        json::Writer out;
        out.begin_array();
        for (std::string_view const word : words_of<E>) {
            bool const seen =
                !(" " + std::string(unseen<E>) + " ").contains(" " + std::string(word) + " ");
            if (seen) out.value(word);
        }
        return out.end_array().take();
    }

    template <class S, class... Row> void list(Properties& out, std::tuple<Row...> const& rows_) {
        std::apply([&](auto const&... row) { (row_of<S>(out, row), ...); }, rows_);
    }
    template <class S, class Get> void row_of(Properties& out, Field<Get> const& row) {
        using T = std::remove_cvref_t<std::invoke_result_t<Get const&, S const&>>;
        auto const described = [&]<class V>(std::type_identity<V>) {
            // Nothing is said of any value when the row says something.
            bool const any = std::same_as<V, Json> && !row.facts.more.empty();
            Schema schema = any ? Schema() : of_type<V>();
            schema.add(row.facts);
            return schema;
        };
        if constexpr (is_optional<T>) {
            if (row.left_out)
                return out.add(row.name, described(std::type_identity<typename T::value_type>()),
                               false);
            Schema inner = of_type<typename T::value_type>();
            inner.add({.words = row.facts.words, .more = row.facts.more});
            Schema whole = inner.or_null();
            whole.add({.about = row.facts.about});
            out.add(row.name, whole, true);
        } else {
            out.add(row.name, described(std::type_identity<T>()), true);
        }
    }
    template <class S> void row_of(Properties& out, Constant const& row) {
        Schema schema;
        schema.word("type", "string").word("const", row.value);
        out.add(row.name, schema, true);
    }
    template <class S> void row_of(Properties& out, AddedLater const& row) {
        Schema schema;
        schema.add(row.facts);
        out.add(row.name, schema, false);
    }
    template <class S, class Get, class... Row>
    void row_of(Properties& out, Of<Get, Row...> const& row) {
        list<std::remove_cvref_t<std::invoke_result_t<Get const&, S const&>>>(out, row.list);
    }
    template <class S, class... Row> void row_of(Properties& out, Nested<Row...> const& row) {
        Properties inner;
        list<S>(inner, row.list);
        out.add(row.name, inner.schema(row.about), true);
    }

    template <class S, class... Row> Schema build(Object<Row...> const& all) {
        Properties inner;
        list<S>(inner, all.list);
        return inner.schema(all.about);
    }
    template <class S, class Get> Schema build(OneOf<Get> const& all) {
        Schema out;
        if (!all.about.empty()) out.word("description", all.about);
        using Choice = std::remove_cvref_t<std::invoke_result_t<Get const&, S const&>>;
        return out.set("oneOf", alternatives(static_cast<Choice*>(nullptr)));
    }
    template <class... T> std::string alternatives(std::variant<T...> const*) {
        json::Writer out;
        out.begin_array();
        (out.raw(of_type<T>().text()), ...);
        return out.end_array().take();
    }
    template <class S> Schema of_object() {
        std::string const name(rows<S>.name);
        if (name.empty()) return build<S>(rows<S>);
        if (!named_.contains(name)) {
            named_[name];  // it may hold itself
            order_.push_back(name);
            named_[name] = build<S>(rows<S>).text();
        }
        return {"$ref", json::quote("#/components/schemas/" + name)};
    }
};

TEST_F(Schemas, EachObject_Described_NamesEachMemberOnce) {
    describe<State, TurnSource, PendingSource, TaskSource>();
    describe<OutcomeSource<ReceiptSource>, OutcomeSource<BriefReceipt>, CallbackSource, CallbackUrl,
             ProgressAnswer, AskedSource>();
    describe<AcceptedPrompt, CallAnswer, ImportedPart, port::AttachInfo>();
    describe<Principal, Me, NewToken, NewLink, LinkAbout, SignedIn, port::OutboxRow, RuleSource>();
    describe<DeviceSource, DeviceList, DeviceTest>();
    describe<MailAnswer, InboxMail, Inbox, ReleaseAnswer, SentMail, MailState>();
    describe<port::AgentEntry, ToolEntry, RepairAnswer, ProjectEntry>();
    describe<RedactionAnswer>();
    describe<DoctorAnswer, Explanation, RetentionAnswer, CutAnswer, ReloadReport, WholeSessions,
             CopyAsked>();
    describe<Start, NodeEntry, AuditEntry, AuditPage>();
    for (Request const* request : all_requests()) describe(*request);
    describe_more<InboxSource>();
    json::Writer out;
    out.begin_object();
    for (std::string const& name : order_) out.member_raw(name, named_.at(name));
    std::string const text = out.end_object().take();
    EXPECT_TRUE(json::check(text));
    if (char const* const path = std::getenv("OBJECT_SCHEMAS")) std::ofstream(path) << text << '\n';
}

}  // namespace
}  // namespace dormouse::http
