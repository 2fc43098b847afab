#include "wire/journal/record.h"

#include "base/check.h"
#include "base/text/append.h"
#include "base/trace.h"
#include "json/json.h"
#include "json/stored.h"
#include "wire/event_json.h"
#include "wire/state_json.h"

#include <algorithm>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

// Restores times, turns and receipts that the envelope holds and the data omits.
void fill_from_envelope(Event& event) {
    if (auto* e = std::get_if<TurnStarted>(&event.body)) e->turn = event.turn;
    if (auto* e = std::get_if<TurnEnded>(&event.body)) e->turn = event.turn;
    if (auto* e = std::get_if<TurnNotified>(&event.body)) e->turn = event.turn;
    if (auto* e = std::get_if<AgentUpdate>(&event.body)) e->turn = event.turn;
    if (auto* e = std::get_if<Submitted>(&event.body)) e->receipt.at = event.at;
    if (auto* e = std::get_if<Expired>(&event.body)) e->receipt.at = event.at;
    if (auto* e = std::get_if<Cancelled>(&event.body); e && e->receipt) e->receipt->at = event.at;
}

// {"messageID":"msg_…_<seq>", or the same of an artifact: the start of the data. Empty for other
// events.
std::string own_id(SessionId const& session, Seq seq, std::string_view type) {
    if (type == "artifact_emitted")
        return "{\"artifactID\":\"" + numbered_id("art_", session, seq) + "\",";
    if (type != "input_received" && type != "model_replied") return {};
    return "{\"messageID\":\"" + numbered_id("msg_", session, seq) + "\",";
}

using Parts = std::vector<json::View>;

Parts parts_of(json::View item) {
    Parts parts;
    item.elements([&](json::View part) { parts.push_back(part); });
    return parts;
}

constexpr std::string_view base_type = "base_state";

bool is_base(Parts const& parts) {
    return parts.size() == 4 && parts[0].string_or("") == base_type;
}

Result<RecordPtr> unpack_one(SessionId const& session, Seq seq, std::int64_t since_ms,
                             Parts const& parts) {
    bool const whole = parts.size() >= 4 && parts[2].kind() == json::Kind::object;
    if (!whole)
        return fail(Code::internal, "Event " + std::to_string(seq) + " of " + session.text() +
                                        " is damaged: some of its parts are missing.");
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
    trace();
    CHECK(event.seq > 0);
    json::Writer out;
    write_event_data(out, session, event);
    return std::make_shared<Record const>(Record{std::move(event), out.take()});
}

namespace {

// The size of a record without its data: type, time, turn and activity.
constexpr std::size_t envelope_bytes = 80;

void append_signed(std::string& out, std::int64_t number) {
    if (number < 0) out += '-';
    auto const size = static_cast<std::uint64_t>(number);
    append_number(out, number < 0 ? 0 - size : size);
}

// Writes a record without the closing bracket.
void begin_record(std::string& out, SessionId const& session, Record const& record,
                  std::int64_t since_ms) {
    Event const& event = record.event;
    std::string_view const type = type_name(event.body);
    out += "[\"";
    out += type;
    out += "\",";
    append_signed(out, to_ms(event.at) - since_ms);
    out += ',';
    std::size_t const own = own_id(session, event.seq, type).size();
    if (own > 0) out += '{';
    out += std::string_view(record.data).substr(own);
    out += ',';
    append_number(out, event.turn);
    if (!event.activity) return;
    out += ",\"";
    out += text(*event.activity);
    out += '"';
}

}  // namespace

std::string pack(SessionId const& session, std::vector<RecordPtr> const& records) {
    std::size_t size = 2;
    for (RecordPtr const& record : records) size += record->data.size() + envelope_bytes;
    std::string out;
    out.reserve(size);
    out += '[';
    std::int64_t since_ms = 0;
    Seq last = 0;
    for (RecordPtr const& record : records) {
        bool const first = out.size() == 1;
        CHECK(first || record->event.seq == last + 1);
        last = record->event.seq;
        if (!first) out += ',';
        begin_record(out, session, *record, since_ms);
        if (first) since_ms = to_ms(record->event.at);
        out += ']';
    }
    out += ']';
    return out;
}

std::string pack_base(State const& state, Time at, Seq first,
                      std::vector<RecordPtr> const& records) {
    CHECK(first <= state.head);
    std::string out = "[[\"" + std::string(base_type) + "\"," + std::to_string(to_ms(at)) + ",";
    out += write_state(state) + "," + std::to_string(base_format) + "]";
    for (Seq seq = first; seq < state.head; ++seq) out += ",null";
    auto const add = [&](Record const& record) {
        out += ',';
        begin_record(out, state.id, record, to_ms(at));
        if (!record.event.activity) out += ",null";
        out += "," + std::to_string(record.event.seq) + "]";
    };
    for (RecordPtr const& record : records) {
        if (record->event.seq > state.head) add(*record);
    }
    for (RecordPtr const& record : records) {
        if (record->event.seq <= state.head) add(*record);
    }
    return out + "]";
}

std::string repack_base(std::string_view frame, State const& state, Seq first,
                        std::vector<RecordPtr> const& records) {
    Parts begin;
    json::View(frame).elements([&](json::View item) {
        if (begin.empty()) begin = parts_of(item);
    });
    CHECK(is_base(begin));
    return pack_base(state, from_ms(begin[1].integer_or(0)), first, records);
}

Result<std::optional<State>> base_state(SessionId const& session, std::string_view frame) {
    if (!frame.starts_with("[[\"base_state\"") || !json::is_json(frame)) return std::nullopt;
    Parts first;
    json::View(frame).elements([&](json::View item) {
        if (first.empty()) first = parts_of(item);
    });
    if (is_base(first) && first[3].integer_or(0) == base_format) {
        if (auto state = read_state(session, first[2].raw())) return state;
        return fail(Code::internal,
                    "The state that the journal of " + session.text() + " begins with is damaged.");
    }
    return fail(Code::newer_format,
                "The older part of " + session.text() +
                    " was removed, and this release cannot read the format of the state that "
                    "replaces it.");
}

Result<std::vector<RecordPtr>> unpack(SessionId const& session, Seq first, std::string_view frame) {
    if (!json::is_json(frame) || json::View(frame).kind() != json::Kind::array)
        return fail(Code::internal, "Event " + std::to_string(first) + " of " + session.text() +
                                        " is damaged: it is not JSON.");
    std::vector<RecordPtr> records;
    std::optional<Error> error;
    std::optional<std::int64_t> base_ms;
    json::View(frame).elements([&](json::View item) {
        if (error) return;
        Parts const parts = parts_of(item);
        if (records.empty() && !base_ms && is_base(parts)) {
            base_ms = parts[1].integer_or(0);
            return;
        }
        if (base_ms && parts.empty()) return;  // it was removed
        if (base_ms && parts.size() < 6) {
            error = Error{Code::internal, "A kept record of " + session.text() + " has no number."};
            return;
        }
        std::int64_t const since_ms = base_ms           ? *base_ms
                                      : records.empty() ? 0
                                                        : to_ms(records.front()->event.at);
        Seq const seq = base_ms ? static_cast<Seq>(parts[5].integer_or(0)) : first + records.size();
        auto record = unpack_one(session, seq, since_ms, parts);
        if (!record) {
            error = std::move(record.error());
        } else {
            records.push_back(std::move(*record));
        }
    });
    if (error) return std::unexpected(std::move(*error));
    if (base_ms)
        std::ranges::sort(records, {}, [](RecordPtr const& record) { return record->event.seq; });
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
