#include "wire/view/view_budget.h"

#include "base/media.h"
#include "json/json.h"

#include <algorithm>
#include <set>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

constexpr std::uint64_t bytes_per_token = 4;
constexpr std::uint64_t image_tokens = 1'500;
constexpr std::uint64_t file_bytes_per_token = 20;
constexpr std::uint64_t message_bytes = 16;  // the role

// Returns the size in bytes of text.
std::uint64_t size_of(json::View part) {
    std::string const type = part["type"].string_or("text");
    if (type == "image") return image_tokens * bytes_per_token;
    if (type != "file") return part.raw().size();
    auto const bytes = static_cast<std::uint64_t>(part["bytes"].integer_or(0));
    std::string const mime = part["mime"].string_or("");
    if (is_textual(mime)) return bytes;
    if (mime.starts_with("image/")) return image_tokens * bytes_per_token;
    return bytes * bytes_per_token / file_bytes_per_token;
}

std::uint64_t size_of(ViewMessage const& message) {
    std::uint64_t bytes = message_bytes;
    json::View(message.parts).elements([&](json::View part) { bytes += size_of(part); });
    for (ViewCall const& call : message.calls) {
        bytes += message_bytes + call.tool.size() + call.input.size();
        bytes += call.error ? call.error_text.size() : call.output.size();
    }
    return bytes;
}

struct Exchange {
    std::size_t first = 0;
    std::size_t end = 0;
    std::uint64_t tokens = 0;
    bool open = false;  // one of its calls is open
};

// Calls whose outcome came after their placeholder was shown.
std::set<CallNo> settled_late(ModelView const& view) {
    std::set<CallNo> out;
    for (ViewMessage const& message : view.messages) {
        if (message.source != InputSource::result) continue;
        for (ViewCall const& call : message.calls) out.insert(call.call);
    }
    return out;
}

std::vector<Exchange> exchanges_of(ModelView const& view) {
    auto const settled = settled_late(view);
    std::vector<Exchange> out;
    for (std::size_t i = 0; i < view.messages.size(); ++i) {
        ViewMessage const& message = view.messages[i];
        bool const begins =
            message.role == ViewMessage::Role::user && message.source != InputSource::result;
        if (begins || out.empty()) out.push_back({i, i, 0, false});
        Exchange& exchange = out.back();
        exchange.end = i + 1;
        exchange.tokens += tokens_of(message);
        exchange.open = exchange.open || std::ranges::any_of(message.calls, [&](ViewCall const& c) {
                            return c.open && !settled.contains(c.call);
                        });
    }
    return out;
}

}  // namespace

std::uint64_t tokens_of(ViewMessage const& message) {
    return (size_of(message) + bytes_per_token - 1) / bytes_per_token;
}

void fit(ModelView& view, std::uint64_t tokens) {
    std::vector<Exchange> const exchanges = exchanges_of(view);
    std::uint64_t total = 0;
    for (Exchange const& exchange : exchanges) total += exchange.tokens;
    if (total <= tokens) return;
    std::uint64_t const step = std::max<std::uint64_t>(tokens / 4, 1);
    std::uint64_t const leave = step * ((total - tokens - 1) / step + 1);
    std::vector<ViewMessage> kept;
    std::uint64_t left = 0;
    for (Exchange const& exchange : exchanges) {
        bool const newest = exchange.end == view.messages.size();
        if (left < leave && !newest && !exchange.open) {
            left += exchange.tokens;
            continue;
        }
        auto const at = [&](std::size_t i) {
            return view.messages.begin() + static_cast<std::ptrdiff_t>(i);
        };
        std::move(at(exchange.first), at(exchange.end), std::back_inserter(kept));
    }
    view.messages = std::move(kept);
}

}  // namespace dormouse::wire
