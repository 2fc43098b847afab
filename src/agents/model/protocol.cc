#include "model/protocol.h"

namespace dormouse::model {

std::vector<port::HttpHeader> bearer(std::string const& api_key) {
    if (api_key.empty()) return {};
    return {{"Authorization", "Bearer " + api_key}};
}

RequestBody& RequestBody::section(std::string_view section, std::string_view name,
                                  std::optional<std::uint32_t> value) {
    json::View const extra = extra_[section];
    if (extra.exists() && extra.kind() != json::Kind::object) return *this;
    merged_ = section;
    bool const ours = value && !extra[name].exists();
    if (!ours && extra.size() == 0) return *this;
    out_.key(section).begin_object();
    if (ours) out_.member(name, *value);
    extra.members(
        [&](std::string_view key, json::View value) { out_.member_raw(key, value.raw()); });
    out_.end_object();
    return *this;
}

std::string RequestBody::take() {
    extra_.members([&](std::string_view name, json::View value) {
        if (name != merged_) out_.member_raw(name, value.raw());
    });
    return out_.end_object().take();
}

}  // namespace dormouse::model
