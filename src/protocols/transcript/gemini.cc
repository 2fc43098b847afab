// Gemini CLI: one JSON object with `messages`; newer releases write a message a line, with a new
// line for each change of it, {"$rewindTo": id} and {"$set": {…}}.
#include "transcript/draft.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::transcript {

namespace {

class GeminiReader {
public:
    void take(json::View record) {
        draft_.id(record["sessionId"].string_or(""));
        draft_.title(record["summary"].string_or(""));
        record["directories"].elements(
            [&](json::View folder) { draft_.directory(folder.string_or("")); });
        if (auto const id = record["$rewindTo"].string()) return rewind(*id);
        if (record["$set"].exists()) return take(record["$set"]);
        if (record["messages"].kind() == json::Kind::array) {
            messages_.clear();
            record["messages"].elements([&](json::View one) { put(one); });
        } else if (record["id"].exists()) {
            put(record);
        }
    }

    [[nodiscard]] Draft& finished() {
        for (auto const& [id, message] : messages_) tell(json::View(message));
        return draft_;
    }

private:
    using Messages = std::vector<std::pair<std::string, Json>>;

    Messages::iterator find(std::string const& id) {
        return std::ranges::find(messages_, id, &Messages::value_type::first);
    }

    void put(json::View message) {
        auto id = message["id"].string_or("");
        auto const known = id.empty() ? messages_.end() : find(id);
        if (known != messages_.end())
            known->second = message.copy();
        else
            messages_.emplace_back(std::move(id), message.copy());
    }

    // An unknown message: all are taken back.
    void rewind(std::string const& id) {
        auto const from = find(id);
        messages_.erase(from == messages_.end() ? messages_.begin() : from, messages_.end());
    }

    void tell(json::View message) {
        auto const type = message["type"].string_or("");
        auto const at = message["timestamp"].string_or("");
        auto const text = joined_text(message["content"]);
        if (type == "user") {
            draft_.user(at);
            draft_.text(text);
        } else if (type == "gemini") {
            draft_.assistant(at);
            message["thoughts"].elements([&](json::View thought) {
                draft_.reasoning(thought["subject"].string_or("") + ": " +
                                 thought["description"].string_or(""));
            });
            draft_.text(text);
            message["toolCalls"].elements([&](json::View call) { this->call(call); });
        }
    }

    void call(json::View call) {
        auto const id = call["id"].string_or("");
        draft_.call(id, call["name"].string_or("tool"), call["args"]);
        auto const status = call["status"].string_or("");
        std::string output = joined_text(call["result"]);
        call["result"].elements([&](json::View part) {
            auto const response = part["functionResponse"]["response"];
            if (!response.exists()) return;
            output += response["output"].string_or(
                response["error"].string_or(std::string(response.raw())));
        });
        bool const over = status == "success" || status == "error" || status == "cancelled";
        if (over) draft_.result(id, output.empty() ? status : output, status != "success");
    }

    Draft draft_{"gemini"};
    Messages messages_;
};

}  // namespace

Result<Transcript> read_gemini(std::string_view text, std::string const& name) {
    GeminiReader reader;
    std::vector<std::string> left_out;
    if (auto const whole = json::check(text); whole) {
        reader.take(json::View(*whole));
    } else {
        left_out = for_lines(text, [&](json::View record) { reader.take(record); });
    }
    auto out = reader.finished().finish(name);
    if (out) out->left_out = std::move(left_out);
    return out;
}

}  // namespace dormouse::transcript
