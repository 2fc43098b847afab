#include "acp/driver/update_coalescer.h"

#include "base/text/cut.h"
#include "json/json.h"

#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr std::size_t tools_max = 4'096;  // of one prompt

// Returns the value, or its beginning as a string if it is longer than `most`.
Json within(Json const& value, std::size_t most) {
    if (value.size() <= most) return json::compact(value);
    std::string const text = json::View(value).string().value_or(std::string(value.text()));
    return Json::trusted(json::quote(cut_with_mark(text, most, cut_note)));
}

}  // namespace

UpdateCoalescer::Added UpdateCoalescer::add(Update update, bool brief) {
    if (auto* const text = std::get_if<AgentText>(&update)) return add_text(std::move(*text));
    if (auto* const tool = std::get_if<ToolChange>(&update))
        return add_tool(std::move(*tool), brief);
    Added out;
    if (auto const* const plan = std::get_if<Plan>(&update)) {
        json::Writer body;
        body.begin_object();
        body.member("entries", within(plan->entries, value_bytes_max));
        plan_ = AgentOutput{.kind = AgentOutputKind::plan, .body = body.end_object().json()};
        if (!brief) out.outputs = flush();
    }
    if (auto* const title = std::get_if<Title>(&update)) out.title = std::move(title->text);
    return out;
}

UpdateCoalescer::Added UpdateCoalescer::add_text(AgentText update) {
    Added out;
    std::string text = std::move(update.text);
    std::string id = std::move(update.message);
    bool const reasoning = update.thought;
    bool const other = !id.empty() && !message_id_.empty() && id != message_id_;
    if (other) {
        out.outputs = flush();
        end_message();
    }
    if (!id.empty()) message_id_ = std::move(id);
    if (text.empty()) return out;
    if (bytes_ >= message_bytes_max) return out;
    bytes_ += text.size();
    if (bytes_ >= message_bytes_max) text += "\n[cut: the message is longer than 1 MiB]";
    if (parts_.empty() || parts_.back().reasoning != reasoning) parts_.push_back({reasoning, {}});
    parts_.back().text += text;
    part_bytes_ += text.size();
    auto const what = reasoning ? port::Delta::Kind::reasoning : port::Delta::Kind::text;
    out.delta = port::Delta{what, std::move(text)};
    if (part_bytes_ < piece_bytes_max) return out;
    for (AgentOutput& output : flush()) out.outputs.push_back(std::move(output));
    return out;
}

std::vector<AgentOutput> UpdateCoalescer::flush() {
    std::vector<AgentOutput> all;
    if (plan_) all.push_back(*std::exchange(plan_, std::nullopt));
    if (parts_.empty()) return all;
    AgentOutput output{.kind = AgentOutputKind::message, .body = {}};
    output.begins = !std::exchange(begun_, true);
    json::Writer out;
    out.begin_array();
    for (Part const& part : parts_) {
        out.begin_object().member("type", part.reasoning ? "reasoning" : "text");
        out.member("text", part.text).end_object();
    }
    output.body = out.end_array().json();
    parts_.clear();
    part_bytes_ = 0;
    all.push_back(std::move(output));
    return all;
}

// Text after a tool call begins another message.
UpdateCoalescer::Added UpdateCoalescer::add_tool(ToolChange change, bool brief) {
    Added out;
    std::string const& id = change.id;
    if (id.empty() || (tools_.size() >= tools_max && !tools_.contains(id))) return out;
    auto const [at, is_new] = tools_.try_emplace(id);
    ToolCall& call = at->second;
    call.status = change.status.value_or(call.status);
    if (change.title) call.title = *std::move(change.title);
    if (change.kind) call.kind = *std::move(change.kind);
    if (change.name) call.name = *std::move(change.name);
    call.cut = call.cut || change.input.size() > value_bytes_max ||
               change.places.size() > value_bytes_max / 4;
    if (!change.input.is_null()) call.input = within(change.input, value_bytes_max);
    if (!change.output.is_null()) call.output = within(change.output, value_bytes_max);
    if (!change.places.is_null()) call.locations = within(change.places, value_bytes_max / 4);
    AgentOutput output = output_of(id, call);
    // Output that arrives while the call is open is kept once, at its end.
    std::string const state =
        std::string(session::text(call.status)) + call.title + std::string(call.input.text());
    if (!is_new && state == call.kept) return out;
    if (!is_new && brief && is_open(call.status)) return out;
    call.kept = state;
    out.outputs = flush();
    end_message();
    out.outputs.push_back(std::move(output));
    if (!is_open(call.status)) tools_.erase(at);
    return out;
}

void UpdateCoalescer::complete(Question& question) const {
    if (auto const found = tools_.find(question.call); found != tools_.end()) {
        ToolCall const& known = found->second;
        if (question.kind.empty()) question.kind = known.kind;
        question.names.push_back(known.name);
        if (question.title.empty()) {
            question.title = known.title;
            question.names.push_back(known.title);
        }
    }
    if (question.kind.empty()) question.kind = "other";
}

std::optional<Json> UpdateCoalescer::reported_of(std::string const& call) const {
    auto const found = tools_.find(call);
    bool const complete = !call.empty() && tools_.size() < tools_max;  // else updates were dropped
    if (found == tools_.end()) return complete ? std::optional(Json::trusted("{}")) : std::nullopt;
    ToolCall const& known = found->second;
    if (known.cut) return std::nullopt;
    json::Writer out;
    out.begin_object();
    if (!known.name.empty()) out.member("name", known.name);
    if (!known.kind.empty()) out.member("kind", known.kind);
    if (!known.title.empty()) out.member("title", known.title);
    if (!known.input.is_null()) out.member("input", known.input);
    if (!known.locations.is_null()) out.member("locations", known.locations);
    return out.end_object().json();
}

AgentOutput UpdateCoalescer::output_of(std::string const& id, ToolCall const& call) {
    AgentOutput output{.kind = AgentOutputKind::tool, .body = {}, .tool_call = id};
    output.title = call.title;
    output.status = call.status;
    json::Writer out;
    out.begin_object();
    if (!call.kind.empty()) out.member("kind", call.kind);
    if (!call.name.empty()) out.member("name", call.name);
    if (!call.input.is_null()) out.member("input", call.input);
    if (!call.output.is_null() && !is_open(call.status)) out.member("output", call.output);
    if (!call.locations.is_null()) out.member("locations", call.locations);
    output.body = out.end_object().json();
    return output;
}

}  // namespace dormouse::acp
