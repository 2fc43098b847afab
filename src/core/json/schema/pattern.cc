#include "json/schema/pattern.h"

#include "base/check.h"
#include "json/schema/schema.h"

#include <re2/re2.h>

#include <cstdint>
#include <utility>

namespace dormouse::json {

namespace {

constexpr std::size_t length_max = 1'000;                   // bytes
constexpr std::int64_t memory_max = std::int64_t{1} << 20;  // of a program and its states
constexpr std::size_t instructions_a_step = 32;

bool is_hex(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

// Translates a pattern to RE2: \uXXXX, \cX, the dot, which does not match line ends, and names of
// groups.
class Translation {
public:
    explicit Translation(std::string_view pattern) : rest_(pattern) {}

    std::string run() {
        while (!rest_.empty()) {
            if (rest_.front() == '\\' && rest_.size() > 1) {
                escape();
            } else if (in_class_) {
                in_class_ = rest_.front() != ']';
                take(1);
            } else if (rest_.front() == '.') {
                replace(1, R"([^\n\r\x{2028}\x{2029}])");
            } else if (rest_.starts_with("(?<") && !rest_.starts_with("(?<=") &&
                       !rest_.starts_with("(?<!")) {
                replace(3, "(?P<");
            } else {
                in_class_ = rest_.front() == '[';
                take(1);
            }
        }
        return std::move(out_);
    }

private:
    void take(std::size_t bytes) {
        out_ += rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
    }

    void replace(std::size_t bytes, std::string_view by) {
        out_ += by;
        rest_.remove_prefix(bytes);
    }

    void escape() {
        char const kind = rest_[1];
        if (kind == 'u' && rest_.size() >= 6 && is_hex(rest_.substr(2, 4))) {
            std::string const point(rest_.substr(2, 4));
            replace(6, "\\x{" + point + "}");
        } else if (kind == 'c' && rest_.size() >= 3) {
            constexpr std::string_view digits = "0123456789ABCDEF";
            auto const control = static_cast<unsigned char>(rest_[2]) & 0x1FU;
            replace(3, {});
            out_ += {'\\', 'x', digits[control >> 4U], digits[control & 15U]};
        } else {
            take(2);
        }
    }

    std::string_view rest_;
    std::string out_;
    bool in_class_ = false;
};

std::string explained(re2::RE2 const& program) {
    switch (program.error_code()) {
        case re2::RE2::ErrorBadPerlOp:
        case re2::RE2::ErrorBadEscape:
            return program.error() +
                   " (look-around and back-references are not supported; the syntax is RE2's)";
        case re2::RE2::ErrorPatternTooLarge: return "the pattern is too complex";
        default: return program.error();
    }
}

}  // namespace

Pattern::Pattern(std::string_view ecmascript) {
    if (ecmascript.size() > length_max) {
        error_ = "a pattern is longer than " + std::to_string(length_max) + " bytes";
        return;
    }
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_max_mem(memory_max);
    auto program = std::make_unique<re2::RE2>(Translation(ecmascript).run(), options);
    if (!program->ok()) error_ = explained(*program);
    program_ = std::move(program);
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

bool Pattern::found_in(std::string_view text) const {
    CHECK(error_.empty());
    return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *program_);
}

std::size_t Pattern::steps(std::size_t bytes) const {
    CHECK(error_.empty());
    return 1 + bytes * static_cast<std::size_t>(program_->ProgramSize()) / instructions_a_step;
}

std::string pattern_mismatch(std::string const& pattern, std::string const& text) {
    Pattern const compiled(pattern);
    if (!compiled.error().empty())
        return "cannot be compared with the pattern " + pattern + ": " + compiled.error();
    if (text.size() > matched_length_max || compiled.steps(text.size()) > steps_max)
        return "is too long to be compared with the pattern " + pattern;
    return compiled.found_in(text) ? "" : "does not match the pattern " + pattern;
}

std::string pattern_error(std::string const& pattern) { return Pattern(pattern).error(); }

}  // namespace dormouse::json
