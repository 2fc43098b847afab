#pragma once
// The messages of a request in which user and assistant alternate, the user begins, and no message
// is empty (Anthropic, Gemini). Consecutive messages of one side become one message.

#include "json/json.h"

#include <string>
#include <string_view>

namespace dormouse::model {

class Alternating {
public:
    // The provider's names for the assistant and for a message's pieces: {"role": …, "<pieces>":
    // […]}.
    Alternating(std::string_view assistant, std::string_view pieces)
        : assistant_(assistant), pieces_(pieces) {
        out_.begin_array();
    }

    // Returns the writer for a piece of that side. `opening` writes the user's first message if the
    // assistant's comes first.
    template <class Opening> json::Writer& piece(bool assistant, Opening const& opening) {
        if (role_.empty() && assistant) opening(begin(false));
        return begin(assistant);
    }

    [[nodiscard]] Json take() {
        if (!role_.empty()) out_.end_array().end_object();
        return out_.end_array().json();
    }

private:
    json::Writer& begin(bool assistant) {
        std::string_view const role = assistant ? std::string_view(assistant_) : "user";
        if (role == role_) return out_;
        if (!role_.empty()) out_.end_array().end_object();
        role_ = role;
        return out_.begin_object().member("role", role).key(pieces_).begin_array();
    }

    std::string const assistant_;
    std::string const pieces_;
    std::string role_;  // of the open message
    json::Writer out_;
};

// The user's message if the beginning of a conversation was left out.
inline constexpr std::string_view opening_text =
    "[The beginning of this conversation is left out.]";
inline constexpr std::string_view empty_text = "[An empty message.]";

}  // namespace dormouse::model
