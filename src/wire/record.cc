#include "wire/record.h"

#include "json/json.h"
#include "wire/event_json.h"

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

// Times, turns and receipts that the envelope holds and the data does not repeat.
void fill_from_envelope(Event& event) {
    if (auto* e = std::get_if<TurnStarted>(&event.body)) e->turn = event.turn;
    if (auto* e = std::get_if<TurnEnded>(&event.body)) e->turn = event.turn;
    if (auto* e = std::get_if<TurnTold>(&event.body)) e->turn = event.turn;
    if (auto* e = std::get_if<AgentUpdate>(&event.body)) e->turn = event.turn;
    if (auto* e = std::get_if<Submitted>(&event.body)) e->receipt.at = event.at;
    if (auto* e = std::get_if<Expired>(&event.body)) e->receipt.at = event.at;
    if (auto* e = std::get_if<Cancelled>(&event.body); e && e->receipt) e->receipt->at = event.at;
}

// {"messageID":"msg_…_<seq>", — how the data of messages begins, and of artifacts; empty for other
// events.
std::string own_id(SessionId const& session, Seq seq, std::string_view type) {
    if (type == "artifact_emitted")
        return "{\"artifactID\":\"" + numbered_id("art_", session, seq) + "\",";
    if (type != "input_received" && type != "model_replied") return {};
    return "{\"messageID\":\"" + numbered_id("msg_", session, seq) + "\",";
}

Result<RecordPtr> unpack_one(SessionId const& session, Seq seq, std::int64_t since_ms,
                             json::View item) {
    std::vector<json::View> parts;
    item.elements([&](json::View part) { parts.push_back(part); });
    if (parts.size() < 4)
        return fail(Code::internal, "A record of " + session.text() + " has too few parts.");
    auto record = std::make_shared<Record>();
    std::string const type = parts[0].string_or("");
    auto body = read_event_data(session, seq, type, parts[2]);
    if (!body) {
        return fail(Code::newer_format, "Session " + session.text() + " holds a record of type '" +
                                            type + "', which a newer release wrote.");
    }
    record->event.seq = seq;
    record->event.at = from_ms(since_ms + parts[1].integer_or(0));
    record->event.turn = static_cast<TurnNo>(parts[3].integer_or(0));
    if (parts.size() > 4) record->event.activity = parse<Activity>(parts[4].string_or(""));
    record->event.body = std::move(*body);
    fill_from_envelope(record->event);
    std::string_view const stored = parts[2].raw();
    std::string const id = own_id(session, seq, type);
    record->data = id.empty() ? std::string(stored) : id + std::string(stored.substr(1));
    return record;
}

}  // namespace

RecordPtr record(SessionId const& session, Event event) {
    json::Writer out;
    write_event_data(out, session, event);
    return std::make_shared<Record const>(Record{std::move(event), out.take()});
}

std::string pack(SessionId const& session, std::vector<RecordPtr> const& records) {
    std::string out = "[";
    std::int64_t since_ms = 0;
    for (RecordPtr const& record : records) {
        Event const& event = record->event;
        std::string_view const type = type_name(event.body);
        bool const first = out.size() == 1;
        if (!first) out += ',';
        out += "[\"";
        out += type;
        out += "\",";
        out += std::to_string(to_ms(event.at) - since_ms);
        if (first) since_ms = to_ms(event.at);
        out += ',';
        std::size_t const own = own_id(session, event.seq, type).size();
        if (own > 0) out += '{';
        out += std::string_view(record->data).substr(own);
        out += ',';
        out += std::to_string(event.turn);
        if (event.activity) {
            out += ",\"";
            out += text(*event.activity);
            out += '"';
        }
        out += ']';
    }
    out += ']';
    return out;
}

Result<std::vector<RecordPtr>> unpack(SessionId const& session, Seq first, std::string_view frame) {
    std::vector<RecordPtr> records;
    std::optional<Error> error;
    json::View(frame).elements([&](json::View item) {
        if (error) return;
        std::int64_t const since_ms = records.empty() ? 0 : to_ms(records.front()->event.at);
        auto record = unpack_one(session, first + records.size(), since_ms, item);
        if (!record) {
            error = std::move(record.error());
        } else {
            records.push_back(std::move(*record));
        }
    });
    if (error) return std::unexpected(std::move(*error));
    return records;
}

namespace {

std::optional<Lifecycle> new_status(Event const& event) {
    if (auto const* e = std::get_if<StatusChanged>(&event.body)) return e->to;
    if (std::holds_alternative<SessionEnded>(event.body)) return Lifecycle::completed;
    return std::nullopt;
}

}  // namespace

std::string event_object(SessionId const& session, std::string_view project, Record const& record,
                         std::string_view object) {
    Event const& event = record.event;
    json::Writer out;
    out.begin_object();
    out.member("seq", event.seq).member("type", type_name(event.body)).member("v", 1);
    out.member("sessionID", session.text()).member("projectID", project);
    if (event.turn == 0) {
        out.member_null("turnID");
    } else {
        out.member("turnID", numbered_id("trn_", session, event.turn));
    }
    out.member("at", to_ms(event.at));
    if (event.activity)
        out.key("activity").begin_object().member("type", text(*event.activity)).end_object();
    if (auto const status = new_status(event)) out.member("status", text(*status));
    out.member_raw("data", record.data);
    if (!object.empty()) out.member_raw("object", object);
    return out.end_object().take();
}

std::string sse_frame(SessionId const& session, std::string_view project, Record const& record,
                      std::string_view object) {
    std::string out = "id: " + std::to_string(record.event.seq) + "\nevent: ";
    out += type_name(record.event.body);
    out += "\ndata: ";
    out += event_object(session, project, record, object);
    out += "\n\n";
    return out;
}

}  // namespace dormouse::wire
