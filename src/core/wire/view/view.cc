#include "wire/view/view.h"

#include "json/json.h"

#include <algorithm>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

// An item that a request sees besides replies: an input, or an outcome that came after its
// placeholder was seen.
struct Item {
    Seq seq = 0;
    ViewMessage message;
};

class Builder {
public:
    Builder(History const& history, Seq view_seq) : history_(history), view_seq_(view_seq) {}

    ModelView build() {
        collect_steps();
        collect_inputs();
        collect_late_outcomes();
        std::ranges::stable_sort(items_, {}, &Item::seq);
        ModelView view;
        view.view_seq = view_seq_;
        fork_messages(view);
        std::size_t next = 0;
        for (StepView const& step : committed_) {
            take_items(view, next, step.view_seq);
            view.messages.push_back(reply(step));
        }
        take_items(view, next, view_seq_);
        return view;
    }

private:
    void collect_steps() {
        for (StepView const& step : history_.steps()) {
            if (step.reply == 0 || step.reply > view_seq_) continue;
            // Messages of external agents are items, not replies.
            if (history_.messages().contains(step.reply)) committed_.push_back(step);
        }
    }

    void collect_inputs() {
        for (auto const& [seq, message] : history_.messages()) {
            bool const seen = message.shown != 0 && message.shown <= view_seq_ && !message.dropped;
            if (message.by_agent && seen)
                items_.push_back({message.shown, shown_by_agent(message)});
            if (message.assistant || !seen || message.answers) continue;
            items_.push_back(
                {message.shown,
                 {ViewMessage::Role::user, message.source, message.parts, {}, message.shown}});
        }
    }

    // A message of an external agent: its texts, and its tool calls with their outcomes.
    static ViewMessage shown_by_agent(MessageView const& message) {
        ViewMessage out{
            ViewMessage::Role::assistant, InputSource::prompt, message.parts, {}, message.shown};
        for (AgentToolView const& tool : message.agent_tools) {
            ViewCall call;
            call.model_id = tool.id;
            call.tool = tool.title;
            json::View const body(tool.body);
            call.input = body["input"].exists() ? body["input"].copy() : Json();
            call.output = body["output"].exists() ? body["output"].copy() : Json();
            call.open = is_open(tool.status);
            if (tool.status == AgentToolStatus::failed)
                call.error = tool.unknown ? ErrorReason::unknown : ErrorReason::failed;
            if (call.error) call.error_text = tool.unknown ? "outcome unknown" : "failed";
            out.calls.push_back(std::move(call));
        }
        return out;
    }

    // The view_seq of the first request that saw the reply `message`.
    Seq first_sight(Seq message) const {
        auto const step = std::ranges::lower_bound(committed_, message, {}, &StepView::reply);
        bool const found = step != committed_.end() && step->reply == message;
        return found && step + 1 != committed_.end() ? (step + 1)->view_seq : view_seq_;
    }

    bool settled_by(CallView const& call, Seq seq) const {
        return call.settled != 0 && call.settled <= seq;
    }

    // The call as the first request that saw it (`sight`): what a committed step has seen never
    // changes.
    ViewCall answered(CallView const& call, Seq sight) const {
        bool const settled = settled_by(call, sight);
        ViewCall out;
        out.call = call.no;
        out.model_id = call.spec.model_id;
        out.tool = call.spec.tool;
        out.input = call.input_at(sight);
        out.open = !settled;
        out.output = settled ? call.output : call.placeholder_at(sight);
        if (settled) out.error = call.error;
        if (settled) out.error_text = call.error_text;
        return out;
    }

    void collect_late_outcomes() {
        for (auto const& [no, call] : history_.calls()) {
            if (call.spec.ask != 0) continue;  // the external agent was notified itself
            if (call.spec.budget) continue;
            if (!settled_by(call, view_seq_) || settled_by(call, first_sight(call.message)))
                continue;
            ViewMessage late{ViewMessage::Role::user,
                             InputSource::result,
                             Json::trusted("[]"),
                             {answered(call, view_seq_)}};
            items_.push_back({call.settled, std::move(late)});
        }
    }

    void take_items(ModelView& view, std::size_t& next, Seq until) {
        for (; next < items_.size() && items_[next].seq <= until; ++next) {
            view.messages.push_back(std::move(items_[next].message));
        }
    }

    ViewMessage reply(StepView const& step) const {
        MessageView const& message = history_.messages().at(step.reply);
        ViewMessage out{ViewMessage::Role::assistant, InputSource::prompt, message.parts, {}};
        Seq const sight = first_sight(step.reply);
        for (CallNo no : message.calls) {
            CallView const& call = history_.calls().at(no);
            out.calls.push_back(answered(call, sight));
        }
        return out;
    }

    // Messages of a fork: their texts, and their calls as they were answered then.
    void fork_messages(ModelView& view) const {
        json::View(history_.forked_messages()).elements([&](json::View message) {
            ViewMessage out;
            bool const assistant = message["role"].string_or("") == "assistant";
            if (assistant) out.role = ViewMessage::Role::assistant;
            json::Writer parts;
            parts.begin_array();
            message["parts"].elements([&](json::View part) {
                if (part["type"].string_or("") == "tool") {
                    out.calls.push_back(forked_call(part));
                } else {
                    parts.raw(part.raw());
                }
            });
            parts.end_array();
            out.parts = parts.json();
            view.messages.push_back(std::move(out));
        });
    }

    static ViewCall forked_call(json::View part) {
        json::View const state = part["state"];
        ViewCall call;
        call.model_id = part["callID"].string_or("");
        call.tool = part["tool"].string_or("");
        call.input = state["input"].copy();
        if (state["status"].string_or("") == "error") {
            call.error = parse<ErrorReason>(state["reason"].string_or("failed"))
                             .value_or(ErrorReason::failed);
            call.error_text = state["error"].string_or("");
        } else {
            call.output = state["output"].exists() ? state["output"].copy() : Json();
        }
        return call;
    }

    History const& history_;
    Seq view_seq_;
    std::vector<StepView> committed_;
    std::vector<Item> items_;
};

}  // namespace

ModelView whole_view(History const& history, Seq view_seq) {
    return Builder(history, view_seq).build();
}

// The exception to growing only at the end. At the limit the oldest hundred are dropped at once,
// with their answers, and up to a hundred more so that the view begins with a user message. The
// choice does not depend on later messages, so the beginning stays equal until the next drop.
void forget_oldest(ModelView& view) {
    auto& messages = view.messages;
    if (messages.size() < view_messages_max) return;
    std::size_t const over = messages.size() - view_messages_max;
    std::size_t const leave = view_messages_leave * (over / view_messages_leave + 1);
    auto const begins = [](ViewMessage const& m) {
        return m.role == ViewMessage::Role::user && m.source != InputSource::result;
    };
    auto const least = messages.begin() + static_cast<std::ptrdiff_t>(leave);
    auto const most = least + static_cast<std::ptrdiff_t>(view_messages_leave);
    auto const first = std::find_if(least, most, begins);
    messages.erase(messages.begin(), first == most ? least : first);
}

ModelView model_view(History const& history, Seq view_seq) {
    ModelView view = whole_view(history, view_seq);
    forget_oldest(view);
    return view;
}

}  // namespace dormouse::wire
