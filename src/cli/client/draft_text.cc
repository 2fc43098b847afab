#include "cli/client/draft_text.h"

namespace dormouse::cli {

std::string DraftText::key_of(json::View delta) {
    auto key = delta["turnID"].string_or("");
    for (auto const* const name : {"step", "attempt"})
        key += "/" + std::to_string(delta[name].integer_or(0));
    return key;
}

std::string DraftText::fresh(json::View delta) {
    if (auto key = key_of(delta); key != key_) {
        key_ = std::move(key);
        end_.clear();
    }
    auto text = delta["text"].string_or("");
    auto const part = delta["partID"].string_or("");
    auto const known = end_.find(part);
    std::size_t const has = known == end_.end() ? 0 : known->second;
    auto const offset = delta["offset"].integer();
    // A server of an older release sends no offset; its pieces follow each other.
    std::size_t const begin = !offset ? has : *offset < 0 ? 0 : static_cast<std::size_t>(*offset);
    // The first piece of a part may begin later: the text before it arrived as an event.
    if (known != end_.end() && begin > has) return {};
    std::size_t const overlap = known == end_.end() ? 0 : has - begin;
    if (overlap >= text.size()) return {};
    end_[part] = begin + text.size();
    return text.substr(overlap);
}

}  // namespace dormouse::cli
