// The fields of each event as JSON Schema, from which tools/events_page.py writes
// docs/reference/events.md and openapi.json:
//
//     EVENT_FIELDS=fields.json wire_tests --gtest_filter=EventFields.*
#include "wire/event_fields.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>

namespace dormouse::wire {
namespace {

constexpr std::string_view text_type = R"({"type":"string"})";

template <class S> constexpr std::string_view schema_name;
template <> constexpr std::string_view schema_name<Trouble> = "EventTrouble";
template <> constexpr std::string_view schema_name<Usage> = "EventUsage";
template <> constexpr std::string_view schema_name<PauseTerms> = "EventPause";
template <> constexpr std::string_view schema_name<CallSpec> = "EventCall";
template <> constexpr std::string_view schema_name<BudgetUse> = "EventBudget";
template <> constexpr std::string_view schema_name<Receipt> = "EventReceipt";
template <> constexpr std::string_view schema_name<MailTarget> = "EventMailTarget";

std::string reference(std::string_view name) {
    return R"({"$ref":"#/components/schemas/)" + std::string(name) + "\"}";
}
std::string list_of(std::string const& items) {
    return R"({"type":"array","items":)" + items + "}";
}

// The schema of what a form writes.
template <class F> struct Schema {
    static std::string text() { return std::string(text_type); }  // ids, enums, digests
};
template <> struct Schema<Form<Json>> {
    static std::string text() { return "{}"; }
};
template <> struct Schema<PartsForm> : Schema<Form<Json>> {};
template <> struct Schema<Form<bool>> {
    static std::string text() { return R"({"type":"boolean"})"; }
};
template <std::integral T> struct Schema<Form<T>> {
    static std::string text() { return R"({"type":"integer"})"; }
};
template <> struct Schema<Form<Time>> : Schema<Form<int>> {};
template <> struct Schema<Form<Duration>> {
    static std::string text() { return R"({"type":["integer","string"]})"; }
};
template <> struct Schema<Form<Cost>> {
    static std::string text() {
        return R"({"type":"object","additionalProperties":{"type":"integer"}})";
    }
};
template <Described S> struct Schema<Form<S>> {
    static std::string text() { return reference(schema_name<S>); }
};
template <class T> struct Schema<Form<std::vector<T>>> {
    static std::string text() { return list_of(Schema<Form<T>>::text()); }
};
template <class Id, class Number> struct Schema<IdsForm<Id, Number>> {
    static std::string text() { return list_of(std::string(text_type)); }
};
template <class T> struct Schema<OneOfForm<T>> : Schema<Form<std::vector<T>>> {};

// The properties of one object. A row that is not a field lists its members here.
class Fields {
public:
    template <class... Row> explicit Fields(std::tuple<Row...> const& list) { add(list); }

    [[nodiscard]] std::string schema() const {
        json::Writer out;
        out.begin_object().member("type", "object").key("properties").begin_object();
        for (auto const& [name, schema] : properties_) out.member_raw(name, schema);
        out.end_object();
        if (!required_.empty()) out.key("required").begin_array();
        for (std::string const& name : required_) out.value(name);
        if (!required_.empty()) out.end_array();
        return out.end_object().take();
    }
    [[nodiscard]] bool unique() const {
        std::set<std::string> names;
        for (auto const& [name, schema] : properties_) names.insert(name);
        return names.size() == properties_.size();
    }

private:
    template <class... Row> void add(std::tuple<Row...> const& list) {
        std::apply([&](auto const&... row) { (of(row), ...); }, list);
    }
    void property(std::string_view name, std::string schema, bool required) {
        properties_.emplace_back(name, std::move(schema));
        if (required && always_) required_.emplace_back(name);
    }
    void text(std::string_view name, bool required = false) {
        property(name, std::string(text_type), required);
    }

    template <class S, class T, class F, class D> void of(Row<S, T, F, D> const& row) {
        property(row.name, Schema<F>::text(), row.required);
    }
    template <class S, class T> void of(Inline<S, T> const&) {
        add(rows<typename Inline<S, T>::Value>);
    }
    template <class When, class... Row> void of(Only<When, Row...> const& some) {
        always_ = false;
        add(some.list);
        always_ = true;
    }
    template <class... Row> void of(Nested<Row...> const& nested) {
        property(nested.name, Fields(nested.list).schema(), true);
    }
    template <class Finish> void of(Derived<Finish> const&) {}
    void of(OwnId const& id) { text(id.name, true); }
    template <class E> void of(PauseId<E> const&) { pause(true); }
    void of(ReceiptRow const&) {
        pause(true);
        property("receipt", reference("EventReceipt"), true);
    }
    void of(CancelledRow const&) {
        pause(false);
        property("receipt", reference("EventReceipt"), false);
    }
    void of(ParentRow const&) {
        text("parentID");
        text("taskID");
        add(rows<Parent>);
    }
    void of(CallsRow const&) { property("calls", list_of(reference("EventCall")), false); }
    void of(ContinuationRow const&) { text("continuation"); }
    void of(ConversationRow const&) { text("conversation"); }
    void of(SentConversationRow const&) { text("conversation"); }
    void of(SubmissionRow const&) {
        property("result", R"({"type":"object"})", false);
        text("error");
        property("decision", R"({"type":"object"})", false);
    }
    void pause(bool required) {
        text("callID", true);
        text("pendingID", required);
        property("generation", R"({"type":"integer"})", false);
    }

    std::vector<std::pair<std::string, std::string>> properties_;
    std::vector<std::string> required_;
    bool always_ = true;
};

using AddFields = std::function<void(std::string_view, Fields const&)>;

template <class... E> void each_event(std::variant<E...> const*, AddFields const& add) {
    std::size_t at = 0;
    (add(event_types()[at++], Fields(rows<E>)), ...);
}
template <class... S> void each_shared(AddFields const& add) {
    (add(schema_name<S>, Fields(rows<S>)), ...);
}

TEST(EventFields, EachType_Described_NamesEachFieldOnce) {
    json::Writer out;
    std::size_t described = 0;
    AddFields const add = [&](std::string_view name, Fields const& fields) {
        EXPECT_TRUE(fields.unique()) << name;
        out.member_raw(name, fields.schema());
        ++described;
    };
    out.begin_object().key("events").begin_object();
    each_event(static_cast<EventChoice*>(nullptr), add);
    EXPECT_EQ(described, event_types().size());
    out.end_object().key("shared").begin_object();
    each_shared<BudgetUse, Trouble, Usage, PauseTerms, CallSpec, Receipt, MailTarget>(add);
    std::string const text = out.end_object().end_object().take();
    EXPECT_TRUE(json::check(text));
    if (char const* const path = std::getenv("EVENT_FIELDS")) std::ofstream(path) << text << '\n';
}

}  // namespace
}  // namespace dormouse::wire
