#include "wire/redact.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <tuple>
#include <utility>
#include "base/crypto/sha256.h"
#include "json/json.h"

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

// Replaces the content of values that events hold.
class Cover {
public:
    explicit Cover(std::string const& text) : text_(text) {}

    void text(std::string& value) const {
        if (!value.empty()) value = text_;
    }
    void text(std::optional<std::string>& value) const {
        if (value) value = text_;
    }
    // Replaces the text; returns true if there was one.
    [[nodiscard]] bool removed(std::string& value) const {
        return !value.empty() && (text(value), true);
    }
    // Replaces all labels, or one; returns true if there were any.
    [[nodiscard]] bool labels(Json& value, std::string const& key) const {
        json::View const all(value);
        if (value.is_null() || all.size() == 0) return false;
        if (key.empty()) return object(value), true;
        if (!all[key].exists()) return false;
        json::Writer out;
        out.begin_object();
        all.members([&](std::string_view name, json::View label) {
            if (name == key)
                out.member(name, text_);
            else
                out.member_raw(name, label.raw());
        });
        value = out.end_object().json();
        return true;
    }
    // Replaces a value of any kind.
    void value(Json& value) const {
        if (!value.is_null()) value = json::Writer().value(text_).json();
    }
    // Replaces a value by an object, because readers expect one.
    void object(Json& value) const {
        if (value.is_null()) return;
        value = json::Writer().begin_object().member("removed", text_).end_object().json();
    }
    // Replaces the parts of a message.
    void parts(Json& value) const {
        if (value.is_null()) return;
        json::Writer out;
        out.begin_array().begin_object().member("type", "text").member("text", text_);
        value = out.end_object().end_array().json();
    }
    void terms(PauseTerms& terms) const {
        text(terms.message);
        for (Json* const gone :
             {&terms.placeholder, &terms.form, &terms.schema, &terms.state, &terms.metadata})
            *gone = {};
    }
    void spec(CallSpec& spec) const {
        object(spec.input);
        spec.input_digest = sha256(json::canonical(spec.input));
        text(spec.refused);
        if (spec.at_once) terms(*spec.at_once);
        for (PauseTerms& more : spec.then) terms(more);
        spec.shown.reset();
    }
    // Writes a call of a copied message without its content.
    void call(json::Writer& out, json::View from) const {
        out.begin_object();
        from.members([&](std::string_view key, json::View value) {
            if (key != "state") return void(out.member_raw(key, value.raw()));
            out.key("state").begin_object();
            value.members([&](std::string_view name, json::View one) { state(out, name, one); });
            out.end_object();
        });
        out.end_object();
    }
    void state(json::Writer& out, std::string_view name, json::View value) const {
        bool const stays =
            name == "status" || name == "time" || name == "pendingID" || name == "reason";
        if (stays || value.raw() == "null") return void(out.member_raw(name, value.raw()));
        Json input = value.copy();
        if (name == "input") object(input);
        if (name == "input") return void(out.member(name, input));
        if (name == "metadata" || name == "artifactID") return void(out.member_null(name));
        out.member(name, text_);
    }
    // Returns a message that a fork or an import copied, without the content of one call.
    [[nodiscard]] Json message(json::View from, std::string_view part) const {
        json::Writer out;
        out.begin_object();
        from.members([&](std::string_view key, json::View value) {
            if (key != "parts") return void(out.member_raw(key, value.raw()));
            out.key("parts").begin_array();
            value.elements([&](json::View one) {
                if (one["id"].string_or("") == part)
                    call(out, one);
                else
                    out.raw(one.raw());
            });
            out.end_array();
        });
        return out.end_object().json();
    }
    // Returns a message that a fork or an import copied, without its content.
    [[nodiscard]] Json message(json::View from) const {
        json::Writer out;
        out.begin_object();
        from.members([&](std::string_view key, json::View value) {
            if (key != "parts") out.member_raw(key, value.raw());
        });
        out.key("parts").begin_array().begin_object();
        bool first = true;
        from["parts"].elements([&](json::View part) {
            if (first && part["id"].exists()) out.member_raw("id", part["id"].raw());
            first = false;
        });
        out.member("messageID", from["id"].string_or(""));
        out.member("sessionID", from["sessionID"].string_or(""));
        out.member("type", "text").member("text", text_).member("synthetic", false);
        return out.end_object().end_array().end_object().json();
    }
    // Replaces what an external agent reports. Readers of objects have defaults for missing
    // members.
    void output(AgentOutput& what) const {
        text(what.title);
        if (what.kind == AgentOutputKind::message) return parts(what.body);
        if (what.kind == AgentOutputKind::tool)
            what.body = json::Writer().begin_object().member("output", text_).end_object().json();
        if (what.kind == AgentOutputKind::plan) object(what.body);
    }
    // The digest stays: the receipt has it, too.
    void submission(Submission& what) const {
        value(what.output);
        text(what.title);
        what.metadata = {};
        text(what.error);
        text(what.reason);
        object(what.arguments);
        if (!what.arguments.is_null())
            what.arguments_digest = sha256(json::canonical(what.arguments));
        what.content = {};
    }

private:
    std::string const& text_;
};

// Changes an event in place; returns true if it held content of the target.
struct Remove {
    RedactionTarget const& target;
    Seq seq = 0;
    Cover cover;

    [[nodiscard]] bool of(CallNo call) const { return target.calls.contains(call); }
    [[nodiscard]] bool of(PendingId const& pending) const { return of(pending.call); }
    [[nodiscard]] bool of_task(TaskNo task) const { return target.tasks.contains(task); }
    [[nodiscard]] bool is_message(Seq message) const { return target.messages.contains(message); }

    [[nodiscard]] bool sets(SessionProperty part) const { return target.set == part; }
    [[nodiscard]] bool is_alias_of(std::optional<SessionId> const& session) const {
        return target.alias_of && target.alias_of == session;
    }
    // Removes the alias of a side of a mail, which is then named by its id.
    [[nodiscard]] bool clear_alias(std::optional<SessionId> const& of, std::string& alias) const {
        if (!is_alias_of(of) || alias.empty()) return false;
        alias.clear();
        return true;
    }
    [[nodiscard]] bool remove_reason(std::string& reason) const {
        return target.reasons.contains(seq) && cover.removed(reason);
    }

    bool operator()(SessionCreated& e) const {
        bool const title = sets(SessionProperty::title) && cover.removed(e.title);
        bool const alias = sets(SessionProperty::alias) && cover.removed(e.alias);
        bool const labels = sets(SessionProperty::labels) && cover.labels(e.labels, target.label);
        return title || alias || labels;
    }
    bool operator()(SessionChanged& e) const {
        if (target.at_creation) return false;
        bool const title = sets(SessionProperty::title) && e.title && cover.removed(*e.title);
        bool const alias = sets(SessionProperty::alias) && e.alias && cover.removed(*e.alias);
        bool const labels =
            sets(SessionProperty::labels) && e.labels && cover.labels(*e.labels, target.label);
        return title || alias || labels;
    }
    // The event of an earlier redaction holds the values that it has set.
    bool operator()(Redacted& e) const {
        if (target.at_creation && target.set_again != 0 && seq > target.set_again) return false;
        bool const automatic = sets(SessionProperty::title) && e.title && cover.removed(*e.title);
        bool const title =
            sets(SessionProperty::title) && e.set_title && cover.removed(*e.set_title);
        bool const alias = sets(SessionProperty::alias) && e.alias && cover.removed(*e.alias);
        bool const labels =
            sets(SessionProperty::labels) && e.labels && cover.labels(*e.labels, target.label);
        return automatic || title || alias || labels;
    }
    bool operator()(InputDropped& e) const {
        if (is_message(e.input)) return cover.removed(e.reason);
        return remove_reason(e.reason);
    }
    bool operator()(TurnEnded& e) const { return remove_reason(e.reason); }
    bool operator()(MailBounced& e) const { return clear_alias(e.to.session, e.to.alias); }
    bool operator()(InputReceived& e) const {
        if (!is_message(seq) && !(e.answers && of(*e.answers))) return false;
        cover.parts(e.parts);
        cover.parts(e.answer);
        return true;
    }
    bool operator()(ModelReplied& e) const {
        bool changed = is_message(seq);
        if (changed) cover.parts(e.parts);
        for (std::size_t i = 0; i < e.calls.size(); ++i) {
            if (!of(e.first_call + static_cast<CallNo>(i))) continue;
            cover.spec(e.calls[i]);
            changed = true;
        }
        return changed;
    }
    bool operator()(ToolFinished& e) const {
        if (!of(e.call)) return false;
        cover.value(e.output);
        cover.text(e.error);
        cover.text(e.title);
        e.metadata = {};
        return true;
    }
    bool operator()(ToolFailed& e) const { return of(e.call) && (cover.text(e.error), true); }
    bool operator()(CallPaused& e) const { return of(e.pending) && (cover.terms(*e.terms), true); }
    bool operator()(GateAsked& e) const { return of(e.pending) && (cover.terms(*e.terms), true); }
    bool operator()(GateDecided& e) const {
        if (!of(e.call)) return false;
        cover.text(e.message);
        if (!e.input) return true;
        cover.object(*e.input);
        e.input_digest = sha256(json::canonical(*e.input));
        return true;
    }
    bool operator()(Submitted& e) const {
        PendingId const& pending = e.receipt.pending;
        if (!of(pending) && !target.answers.contains(pending)) return false;
        cover.submission(*e.what);
        return true;
    }
    bool operator()(Voted& e) const { return of(e.pending) && (cover.submission(*e.what), true); }
    bool operator()(Polled& e) const { return of(e.pending) && (cover.text(e.error), true); }
    bool operator()(Progressed& e) const {
        return of(e.pending) && (cover.object(e.payload), true);
    }
    bool operator()(Cancelled& e) const {
        if (of(e.call)) return cover.text(e.reason), true;
        return remove_reason(e.reason);
    }
    bool operator()(Note& e) const { return of(e.call) && (cover.text(e.text), true); }
    bool operator()(AgentAsked& e) const {
        if (!of(e.pending)) return false;
        cover.spec(*e.spec);
        cover.terms(*e.terms);
        return true;
    }
    bool operator()(ArtifactEmitted& e) const {
        if (!target.artifacts.contains(seq)) return false;
        e.name.clear();
        e.digest = no_digest;
        return true;
    }
    bool operator()(MailSent& e) const {
        bool changed = is_message(seq);
        if (changed) cover.text(e.text);
        for (MailTarget& to : e.to) changed = clear_alias(to.session, to.alias) || changed;
        return changed;
    }
    bool operator()(MailReceived& e) const {
        bool changed = is_message(seq);
        if (changed) cover.text(e.mail->text);
        changed = clear_alias(e.mail->from, e.mail->from_alias) || changed;
        if (!sets(SessionProperty::alias) || e.mail->to_alias.empty()) return changed;
        e.mail->to_alias.clear();
        return true;
    }
    bool operator()(RunReported& e) const { return is_message(seq) && (cover.text(e.text), true); }
    bool operator()(TaskStarted& e) const {
        if (!of_task(e.task)) return false;
        cover.text(e.description);
        cover.parts(e.parts);
        return true;
    }
    bool operator()(TaskChanged& e) const {
        if (!of_task(e.task)) return false;
        cover.parts(e.parts);
        cover.value(e.result);
        for (std::string* const gone : {&e.error, &e.progress, &e.reason}) cover.text(*gone);
        return true;
    }
    bool operator()(AgentUpdate& e) const {
        return is_message(seq) && (cover.output(e.what), true);
    }
    bool operator()(AgentDetached& e) const {
        if (!is_message(seq)) return false;
        for (std::string& title : e.lost) cover.text(title);
        return true;
    }
    bool operator()(Forked& e) const {
        if (!copied_message(e.messages, target.copied).exists()) return false;
        json::Writer out;
        out.begin_array();
        json::View(e.messages).elements([&](json::View message) {
            bool const its = message["id"].string_or("") == target.copied;
            if (its && target.part.empty()) out.value(cover.message(message));
            if (its && !target.part.empty()) out.value(cover.message(message, target.part));
            if (!its) out.raw(message.raw());
        });
        e.messages = out.end_array().json();
        return true;
    }
    template <class Other> bool operator()(Other const&) const { return false; }
};

}  // namespace

void redact_state(State& state, RedactionTarget const& target) {
    Cover const cover(target.placeholder);
    if (target.set == SessionProperty::title) cover.text(state.title);
    if (target.set == SessionProperty::title && !target.at_creation) cover.text(state.auto_title);
    if (target.set == SessionProperty::alias) cover.text(state.alias);
    if (target.set == SessionProperty::labels)
        std::ignore = cover.labels(state.labels, target.label);
    for (TaskNo const no : target.tasks) {
        auto const found = state.tasks.find(no);
        if (found == state.tasks.end()) continue;
        Task& task = found->second;
        for (std::string* const gone : {&task.description, &task.error, &task.progress})
            cover.text(*gone);
        cover.parts(task.parts);
        cover.value(task.result);
    }
}

json::View copied_message(Json const& messages, std::string_view id) {
    json::View found{std::string_view()};
    if (id.empty() || !messages.text().contains(id)) return found;
    json::View(messages).elements([&](json::View message) {
        if (message["id"].string_or("") == id) found = message;
    });
    return found;
}

json::View copied_content(Json const& messages, RedactionTarget const& target) {
    json::View found = copied_message(messages, target.copied);
    if (!found.exists() || target.part.empty()) return found;
    json::View part{std::string_view()};
    found["parts"].elements([&](json::View one) {
        if (one["id"].string_or("") == target.part) part = one;
    });
    return part;
}

std::pair<std::string, std::string> message_of_part(Json const& messages, std::string_view part) {
    std::pair<std::string, std::string> out;
    if (part.empty() || !messages.text().contains(part)) return out;
    json::View(messages).elements([&](json::View message) {
        message["parts"].elements([&](json::View one) {
            if (one["id"].string_or("") != part || one["type"].string_or("") != "tool") return;
            out = {message["id"].string_or(""), one["callID"].string_or("")};
        });
    });
    return out;
}

std::string redaction_placeholder(Actor const& by, Time at) {
    std::chrono::year_month_day const date(std::chrono::floor<std::chrono::days>(at));
    std::array<char, 16> day{};
    std::snprintf(day.data(), day.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    std::string const name = by.name.empty() ? std::string(text(by.type)) : by.name;
    return "[removed by " + name + " on " + day.data() + "]";
}

std::optional<Event> redacted(Event const& event, RedactionTarget const& target) {
    Event out = event;
    Remove const remove{target, event.seq, Cover(target.placeholder)};
    if (!std::visit(remove, static_cast<EventChoice&>(out.body))) return std::nullopt;
    return out;
}

}  // namespace dormouse::wire
