#pragma once
// What a provider wants back as it was (signatures of reasoning and the like). It lives in the
// parts of a reply as their member `providerData`, an object:
//   from   who said it ("anthropic/claude-x"): only that model is given it again
//   after  how many of the reply's calls came before this part; left out: none
//   call   this part has no text, and its data belongs to that call of the reply, from 1
// and the members that the provider's protocol reads again.

#include "json/json.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace dormouse::model {

class PartsWriter {
public:
    explicit PartsWriter(std::string_view from) : from_(from) { out_.begin_array(); }

    // Left out when it holds neither text nor data.
    void part(std::string_view type, std::string_view text, Json const& data, std::size_t after);
    // Left out without data.
    void for_call(Json const& data, std::size_t call);
    // Null: plain text and reasoning say the same.
    [[nodiscard]] Json take();

private:
    void begin(std::string_view type, std::string_view text);
    void data(Json const& data, std::string_view place, std::size_t number);

    std::string const from_;
    json::Writer out_;
    bool needed_ = false;
};

}  // namespace dormouse::model
