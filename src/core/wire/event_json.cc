#include "wire/event_json.h"

#include "wire/event_fields.h"

#include <algorithm>

namespace dormouse::wire {

void write_pause_id(json::Writer& out, PendingId const& pending) {
    out.member("callID", call_text(pending.call)).member("pendingID", pending.text());
    if (pending.generation != 1) out.member("generation", pending.generation);
}

PendingId read_pause_id(Members& from) {
    return PendingId::parse(from["pendingID"].string_or("")).value_or(PendingId());
}

void ReceiptRow::write(json::Writer& out, Receipt const& receipt, FieldContext const& context) {
    write_pause_id(out, receipt.pending);
    out.key("receipt");
    Form<Receipt>::write(out, receipt, context);
}

Receipt ReceiptRow::read(Members& from, FieldContext const& context) {
    PendingId const pending = read_pause_id(from);
    Receipt receipt = Form<Receipt>::read(from["receipt"], context).value_or(Receipt());
    receipt.pending = pending;
    receipt.seq = context.seq;
    return receipt;
}

void ParentRow::write(json::Writer& out, SessionCreated const& from, FieldContext const& context) {
    if (!from.parent) return;
    out.member("parentID", from.parent->session.text());
    out.member("taskID", numbered_id("tsk_", from.parent->session, from.parent->task));
    write_all(rows<Parent>, out, *from.parent, context);
}

void ParentRow::read(Members& from, SessionCreated& to, FieldContext const& context) {
    auto const task = parse_numbered("tsk_", from["taskID"].string_or(""));
    if (!task) return;
    to.parent = Parent{task->session, static_cast<TaskNo>(task->number)};
    read_all(rows<Parent>, from, *to.parent, context);
}

void CallsRow::write(json::Writer& out, ModelReplied const& from, FieldContext const& context) {
    if (from.calls.empty()) return;
    CallNo no = from.first_call;
    out.key("calls").begin_array();
    for (CallSpec const& spec : from.calls) {
        out.begin_object().member("callID", call_text(no++));
        write_all(rows<CallSpec>, out, spec, context);
        out.end_object();
    }
    out.end_array();
}

void CallsRow::read(Members& from, ModelReplied& to, FieldContext const& context) {
    from["calls"].elements([&](json::View call) {
        Members members(call);
        json::View const no = members["callID"];
        if (to.calls.empty()) to.first_call = CallForm::read(no, context).value_or(0);
        read_all(rows<CallSpec>, members, to.calls.emplace_back(), context);
    });
}

void CancelledRow::write(json::Writer& out, Cancelled const& from, FieldContext const& context) {
    if (from.receipt) {
        ReceiptRow::write(out, *from.receipt, context);
    } else {
        out.member("callID", call_text(from.call));
    }
}

void CancelledRow::read(Members& from, Cancelled& to, FieldContext const& context) {
    to.call = CallForm::read(from["callID"], context).value_or(0);
    if (from["receipt"].exists()) to.receipt = ReceiptRow::read(from, context);
}

void write_event_data(json::Writer& out, SessionId const& session, Event const& event) {
    FieldContext const context{session, event.seq};
    out.begin_object();
    std::visit([&]<class E>(E const& body) { write_all(rows<E>, out, body, context); }, event.body);
    out.end_object();
}

std::optional<Event::Body> read_event_data(SessionId const& session, Seq seq, std::string_view type,
                                           json::View data) {
    auto const types = event_types();
    auto const known = std::ranges::find(types, type);
    if (known == types.end()) return std::nullopt;
    std::optional<Event::Body> body(std::in_place);
    Members members(data);
    read_choice(*body, static_cast<std::size_t>(known - types.begin()), members, {session, seq});
    return body;
}

}  // namespace dormouse::wire
