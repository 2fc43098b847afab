#include "rpc/lines.h"

#include <utility>

namespace dormouse::rpc {

void LineReader::keep(std::string_view piece) {
    if (too_long_) return;
    if (partial_.size() + piece.size() > bytes_max_) {
        too_long_ = true;
        partial_ = {};
        return;
    }
    partial_ += piece;
}

std::vector<Line> LineReader::feed(std::string_view bytes) {
    std::vector<Line> out;
    for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
        keep(bytes.substr(0, end));
        bytes.remove_prefix(end + 1);
        Line line{.text = std::exchange(partial_, {}), .too_long = std::exchange(too_long_, false)};
        if (line.text.ends_with('\r')) line.text.pop_back();
        bool const blank = line.text.find_first_not_of(" \t") == std::string::npos;
        if (line.too_long || !blank) out.push_back(std::move(line));
    }
    keep(bytes);
    return out;
}

}  // namespace dormouse::rpc
