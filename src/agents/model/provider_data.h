#pragma once
// Data that a provider wants returned unchanged, such as signatures of reasoning. The parts of a
// reply hold it in their member `providerData`, an object:
//   from   the model that sent it ("anthropic/claude-x"): it is returned only to that model
//   after  how many of the reply's calls came before this part; missing: none
//   call   this part has no text, and its data belongs to that call of the reply, from 1
// and the members that the provider's protocol reads.

#include "json/json.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace dormouse::model {

class PartsWriter {
public:
    explicit PartsWriter(std::string_view from) : from_(from) { out_.begin_array(); }

    // Writes nothing if there is neither text nor data.
    void part(std::string_view type, std::string_view text, Json const& data, std::size_t after);
    // Writes nothing if there is no data.
    void for_call(Json const& data, std::size_t call);
    // Returns null if plain text and reasoning say the same.
    [[nodiscard]] Json take();

private:
    void begin(std::string_view type, std::string_view text);
    void data(Json const& data, std::string_view place, std::size_t number);

    std::string const from_;
    json::Writer out_;
    bool needed_ = false;
};

}  // namespace dormouse::model
