#include "wire/audit.h"

#include "json/json.h"
#include "wire/part_fields.h"

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

constexpr std::string_view trimmed = "audit_trimmed";

class Line {
public:
    Line(SessionId const& session, Event const& event) {
        out_.begin_object().member("type", type_name(event.body)).member("at", to_ms(event.at));
        out_.member("sessionID", session.text()).member("seq", event.seq);
    }
    Line& by(Actor const& actor) {
        out_.key("by").begin_object().member("type", text(actor.type));
        out_.member("name", actor.name).end_object();
        return *this;
    }
    Line& pending(PendingId const& pending) {
        out_.member("pendingID", pending.text());
        return *this;
    }
    Line& receipt(Receipt const& receipt) {
        by(receipt.by).pending(receipt.pending);
        out_.member("kind", text(receipt.kind)).member("status", text(receipt.status));
        out_.member("digest", digest_text(receipt.digest)).member("via", receipt.via);
        return *this;
    }
    json::Writer& more() { return out_; }
    std::string take() { return out_.end_object().take(); }

private:
    json::Writer out_;
};

struct LineOf {
    SessionId const& session;
    Event const& event;
    using Text = std::optional<std::string>;

    Text operator()(Submitted const& e) const {
        Line line(session, event);
        line.receipt(e.receipt);
        if (e.receipt.kind == SubmissionKind::decision)
            line.more().member("approved", e.what->approved);
        if (e.what->rule) line.more().member("rule", numbered_id("rul_", session, event.seq));
        return line.take();
    }
    // Gates that decide for themselves are no decisions of people.
    Text operator()(GateDecided const& e) const {
        if (e.rule.empty()) return std::nullopt;
        Line line(session, event);
        line.by(e.by).more().member("callID", call_text(e.call)).member("gate", e.gate);
        line.more().member("approved", e.allowed).member("rule", e.rule);
        return line.take();
    }
    Text operator()(Voted const& e) const {
        Line line(session, event);
        line.by(e.by).pending(e.pending).more().member("approved", e.approved);
        line.more().member("digest", digest_text(e.digest));
        return line.take();
    }
    Text operator()(Claimed const& e) const {
        Line line(session, event);
        line.by(e.by).pending(e.pending).more().member("until", to_ms(e.until));
        return line.take();
    }
    Text operator()(Expired const& e) const {
        return Line(session, event).receipt(e.receipt).take();
    }
    Text operator()(Cancelled const& e) const {
        if (!e.receipt) return std::nullopt;
        return Line(session, event).receipt(*e.receipt).take();
    }
    Text operator()(BudgetRaised const& e) const {
        Line line(session, event);
        line.by(e.by)
            .more()
            .member("callID", call_text(e.call))
            .member("per", text(e.what.name.per));
        line.more().member("budget", text(e.what.name.kind)).member("amount", e.what.amount);
        return line.take();
    }
    Text operator()(Redacted const& e) const {
        Line line(session, event);
        line.by(e.by);
        if (e.message != 0)
            line.more().member("messageID", numbered_id("msg_", session, e.message));
        if (e.call != 0) line.more().member("callID", call_text(e.call));
        if (e.turn != 0) line.more().member("turnID", numbered_id("trn_", session, e.turn));
        if (!e.what.empty()) line.more().member("what", e.what);
        line.more().member("reason", e.reason).member("events", e.events);
        line.more().member("artifacts", e.artifacts).member("deliveries", e.deliveries);
        return line.take();
    }
    Text operator()(SessionEnded const& e) const { return Line(session, event).by(e.by).take(); }
    Text operator()(SessionDeleted const& e) const { return Line(session, event).by(e.by).take(); }
    template <class Other> Text operator()(Other const&) const { return std::nullopt; }
};

}  // namespace

template <>
inline constexpr auto rows<AuditTrim> =
    std::tuple(field("lines", &AuditTrim::lines), field("through", &AuditTrim::through),
               field("hash", &AuditTrim::hash));

std::optional<std::string> audit_line(SessionId const& session, Event const& event) {
    return std::visit(LineOf{session, event}, event.body);
}

json::Writer begin_audit_line(std::string_view type, Time at, Actor const& by) {
    json::Writer out;
    out.begin_object().member("type", type).member("at", to_ms(at)).key("by").begin_object();
    out.member("type", text(by.type)).member("name", by.name).end_object();
    return out;
}

std::string trimmed_line(AuditTrim const& trim, Time at, Actor const& by) {
    json::Writer out = begin_audit_line(trimmed, at, by);
    write_all(rows<AuditTrim>, out, trim, {});
    return out.end_object().take();
}

std::optional<AuditTrim> read_trimmed(std::string_view line) {
    if (!line.contains(trimmed)) return std::nullopt;  // most lines are of other types
    auto const checked = json::check(line);
    if (!checked) return std::nullopt;
    json::View const view(*checked);
    if (view["type"].string_or("") != trimmed) return std::nullopt;
    return Form<AuditTrim>::read(view, {});
}

std::optional<Time> line_time(std::string_view line) {
    auto const checked = json::check(line);
    if (!checked) return std::nullopt;
    auto const at = json::View(*checked)["at"].integer();
    return at ? std::optional(from_ms(*at)) : std::nullopt;
}

}  // namespace dormouse::wire
