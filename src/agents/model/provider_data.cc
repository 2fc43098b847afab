#include "model/provider_data.h"

namespace dormouse::model {

void PartsWriter::part(std::string_view type, std::string_view text, Json const& data,
                       std::size_t after) {
    if (text.empty() && data.is_null()) return;
    begin(type, text);
    if (!data.is_null() || after != 0) this->data(data, "after", after);
    out_.end_object();
}

void PartsWriter::for_call(Json const& data, std::size_t call) {
    if (data.is_null()) return;
    begin("reasoning", "");
    this->data(data, "call", call);
    out_.end_object();
}

void PartsWriter::begin(std::string_view type, std::string_view text) {
    out_.begin_object().member("type", type).member("text", text);
}

void PartsWriter::data(Json const& data, std::string_view place, std::size_t number) {
    needed_ = true;
    out_.key("providerData").begin_object().member("from", from_);
    if (number != 0) out_.member(place, static_cast<std::uint64_t>(number));
    json::View(data).members(
        [&](std::string_view name, json::View value) { out_.member_raw(name, value.raw()); });
    out_.end_object();
}

Json PartsWriter::take() {
    Json out = out_.end_array().json();
    return needed_ ? out : Json();
}

}  // namespace dormouse::model
