#include "store/sqlite/schema/short_form.h"

#include "base/check.h"
#include "base/text/chars.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace dormouse::store::sqlite {
namespace {

constexpr std::size_t random_size = 22;     // base64url of 128 bits
constexpr std::size_t largest = 16 * 1024;  // of a longer frame, too small a part is abbreviated
constexpr std::string_view as_it_is = "[  ";
constexpr std::string_view shortened = "[ [";

// Where a rule applies in a record of its type.
enum class Place : std::uint8_t {
    start,       // of the data
    after_names  // after the names of the pause
};

// #: a number. The numbers are the same in both forms, in the same order.
struct Rule {
    std::string_view type;
    Place place;
    std::string_view full;
    std::string_view brief;
};

constexpr std::array<Rule, 4> abbreviations{{
    {"model_requested", Place::start, R"("step":#,"attempt":#,"viewSeq":#,"epoch":#})",
     R"("m":[#,#,#,#]})"},
    {"model_replied", Place::start, R"("step":#,"attempt":#,")", R"("s":[#,#],")"},
    {"turn_started", Place::start, R"("input":#,"cause":"prompt","digest":")", R"("i":#,"d":")"},
    {"call_paused", Place::after_names, R"(,"reason":"tool_result","placeholder":)", R"(,"r":)"},
}};

// The end of a record of a type that has `usage`, up to its turn.
constexpr std::string_view usage_key = R"(usage":)";  // begins with a rarer character than a quote
constexpr std::string_view usage_full = R"("usage":{"inputTokens":#,"outputTokens":#}},#)";
constexpr std::string_view usage_brief = R"("usage":[#,#]},#)";

constexpr std::string_view call_key = R"("callID":"call_)";
constexpr std::string_view pause_key = R"(","pendingID":"pnd_)";
constexpr std::string_view brief_key = R"("p":")";
constexpr std::string_view brief_key_after_call = R"(","p":")";
constexpr std::string_view same_as_next = R"("p":0)";

bool has_usage(std::string_view type) { return type == "model_replied" || type == "turn_ended"; }

// Reads a text from its front. Each function returns false, or an empty text, if it is missing.
class Scan {
public:
    Scan(std::string_view text, std::size_t at) : text_(text), at_(at) {}

    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] std::string_view since(std::size_t begin) const {
        return text_.substr(begin, at_ - begin);
    }
    [[nodiscard]] bool skip(std::string_view part) {
        if (text_.compare(at_, part.size(), part) != 0) return false;
        at_ += part.size();
        return true;
    }
    [[nodiscard]] std::string_view digits() { return run(is_digit); }
    [[nodiscard]] std::string_view word() {
        return run([](char c) { return is_lower_letter(c) || c == '_'; });
    }
    [[nodiscard]] bool random() {
        auto const found = text_.substr(at_, random_size);
        if (found.size() < random_size || found.contains('"')) return false;
        at_ += random_size;
        return true;
    }
    [[nodiscard]] bool form(std::string_view form) {
        auto const begin = at_;
        while (true) {
            auto const number = form.find('#');
            if (!skip(form.substr(0, number))) break;
            if (number == std::string_view::npos) return true;
            if (digits().empty()) break;
            form.remove_prefix(number + 1);
        }
        at_ = begin;
        return false;
    }

private:
    template <class Is> std::string_view run(Is is) {
        auto const rest = text_.substr(at_);
        auto const* const end = std::ranges::find_if_not(rest, is);
        auto const found = std::string_view(rest.begin(), end);
        at_ += found.size();
        return found;
    }

    std::string_view text_;
    std::size_t at_;
};

enum class Kind : std::uint8_t {
    names,    // of a pause
    as_next,  // the names are those of the next pause in the frame
    form      // of a rule
};

// A piece of a frame, from `begin` to `end`, that has another form.
struct Piece {
    Kind kind;
    std::size_t begin;
    std::size_t end;
    std::string_view from = {};  // forms
    std::string_view to = {};
    std::string_view type = {};  // of the record of names
    std::string_view call = {};
    std::string_view rest = {};  // generation and random part

    // The SQL views look for the callID of other records.
    [[nodiscard]] bool without_call() const {
        return type == "tool_started" || type == "call_paused";
    }
};

enum class Form : std::uint8_t { full, brief };

// Finds the pieces of a frame that are in one form. In a full frame it also finds whether contents
// look like a brief form: then the frame cannot be shortened.
class Pieces {
public:
    Pieces(std::string_view text, std::string_view session, Form form)
        : text_(text), session_(session), form_(form) {
        all_.reserve(8);
        for (auto at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1)) {
            if (at + 1 == text.size() || text[at + 1] != '"') continue;
            Scan scan(text, at + 2);
            auto const type = scan.word();
            if (type.empty() || !scan.skip("\",") || scan.digits().empty() || !scan.skip(",{"))
                continue;
            add_of_record(type, scan);
            at = scan.at() - 1;
        }
    }

    [[nodiscard]] std::vector<Piece>& all() { return all_; }
    [[nodiscard]] bool looks_brief() const { return looks_brief_; }

private:
    void add_of_record(std::string_view type, Scan& scan) {
        auto const place = add_names(type, scan) ? Place::after_names : Place::start;
        for (Rule const& rule : abbreviations) {
            if (rule.type != type || rule.place != place) continue;
            add_form(rule.full, rule.brief, scan);
        }
        if (has_usage(type)) add_usage(scan);
    }

    // Returns false if the text does not have the requested form.
    bool add_form(std::string_view full, std::string_view brief, Scan& scan) {
        bool const is_full = form_ == Form::full;
        auto const from = is_full ? full : brief;
        auto const begin = scan.at();
        if (!scan.form(from)) {
            if (is_full && scan.form(brief)) looks_brief_ = true;
            return false;
        }
        all_.push_back({.kind = Kind::form,
                        .begin = begin,
                        .end = scan.at(),
                        .from = from,
                        .to = is_full ? brief : full});
        return true;
    }

    void add_usage(Scan& scan) {
        for (auto at = text_.find(usage_key, scan.at()); at != std::string_view::npos;
             at = text_.find(usage_key, at + 1)) {
            Scan usage(text_, at - 1);
            if (!add_form(usage_full, usage_brief, usage)) continue;
            scan = usage;
            return;
        }
    }

    bool add_names(std::string_view type, Scan& scan) {
        Scan ahead = scan;
        Piece piece{.kind = Kind::names, .begin = scan.at(), .end = 0, .type = type};
        auto const found = read_names(ahead, piece);
        if (found == Form::brief && form_ == Form::full) looks_brief_ = true;
        if (found != form_) return false;
        scan = ahead;
        piece.end = scan.at();
        all_.push_back(piece);
        return true;
    }

    // nullopt: there are none.
    [[nodiscard]] std::optional<Form> read_names(Scan& scan, Piece& piece) const {
        if (scan.skip(same_as_next)) {
            piece.kind = Kind::as_next;
            return Form::brief;
        }
        bool const with_call = scan.skip(call_key);
        if (!with_call && !scan.skip(brief_key)) return std::nullopt;
        piece.call = scan.digits();
        if (piece.call.empty()) return std::nullopt;
        auto form = Form::brief;
        if (with_call && scan.skip(pause_key)) {
            form = Form::full;
            if (!scan.skip(session_) || !scan.skip("_") || !scan.skip(piece.call))
                return std::nullopt;
            if (!scan.skip("_")) return std::nullopt;
        } else if (!scan.skip(with_call ? brief_key_after_call : "_")) {
            return std::nullopt;
        }
        return read_rest(scan, piece) ? std::optional(form) : std::nullopt;
    }

    [[nodiscard]] static bool read_rest(Scan& scan, Piece& piece) {
        auto const begin = scan.at();
        if (scan.digits().empty() || !scan.skip("_") || !scan.random()) return false;
        piece.rest = scan.since(begin);
        return scan.skip("\"");
    }

    std::string_view text_;
    std::string_view session_;
    Form form_;
    bool looks_brief_ = false;
    std::vector<Piece> all_;
};

// A text of at most `size_max` characters. Cheaper than appending to a string.
class Output {
public:
    explicit Output(std::size_t size_max) : text_(size_max, '\0') {}

    void add(std::string_view part) {
        CHECK(part.size() <= text_.size() - size_);
        std::memcpy(text_.data() + size_, part.data(), part.size());
        size_ += part.size();
    }
    [[nodiscard]] std::string take() {
        text_.resize(size_);
        return std::move(text_);
    }

private:
    std::string text_;
    std::size_t size_ = 0;
};

// Appends the other form of `piece`.
void write_form(Output& out, std::string_view text, Piece const& piece) {
    Scan numbers(text, piece.begin);
    auto from = piece.from;
    auto to = piece.to;
    for (auto at = to.find('#'); at != std::string_view::npos; at = to.find('#')) {
        auto const before = from.find('#');
        std::ignore = numbers.skip(from.substr(0, before));
        out.add(to.substr(0, at));
        out.add(numbers.digits());
        from.remove_prefix(before + 1);
        to.remove_prefix(at + 1);
    }
    out.add(to);
}

void write_brief(Output& out, Piece const& piece) {
    if (piece.kind == Kind::as_next) {
        out.add(same_as_next);
        return;
    }
    out.add(piece.without_call() ? brief_key : call_key);
    out.add(piece.call);
    out.add(piece.without_call() ? "_" : brief_key_after_call);
    out.add(piece.rest);
    out.add("\"");
}

// `start`, and `text` without its first character and with each piece replaced. REQUIRES: the
// result has at most `size_max` characters.
template <class WriteNames>
std::string replaced(std::string_view start, std::string_view text,
                     std::vector<Piece> const& pieces, std::size_t size_max,
                     WriteNames write_names) {
    Output out(size_max);
    out.add(start);
    std::size_t copied = 1;
    for (Piece const& piece : pieces) {
        out.add(text.substr(copied, piece.begin - copied));
        if (piece.kind == Kind::form) {
            write_form(out, text, piece);
        } else {
            write_names(out, piece);
        }
        copied = piece.end;
    }
    out.add(text.substr(copied));
    return out.take();
}

// Marks names of a started call that the next ones repeat.
void mark_repeated(std::vector<Piece>& pieces) {
    Piece const* next = nullptr;
    for (std::size_t i = pieces.size(); i-- > 0;) {
        Piece& piece = pieces[i];
        if (piece.kind != Kind::names) continue;
        bool const same = next != nullptr && next->call == piece.call && next->rest == piece.rest;
        if (same && piece.type == "tool_started") piece.kind = Kind::as_next;
        next = &piece;
    }
}

// Returns false if the last names refer to next ones, which do not exist.
bool fill_repeated(std::vector<Piece>& pieces) {
    Piece const* next = nullptr;
    for (std::size_t i = pieces.size(); i-- > 0;) {
        Piece& piece = pieces[i];
        if (piece.kind == Kind::form) continue;
        if (piece.kind == Kind::as_next) {
            if (next == nullptr) return false;
            piece.call = next->call;
            piece.rest = next->rest;
        }
        next = &piece;
    }
    return true;
}

std::optional<std::string> expanded(std::string_view session, std::string_view text) {
    Pieces pieces(text, session, Form::brief);
    if (!fill_repeated(pieces.all())) return std::nullopt;
    // No form of a rule is 64 characters longer than the other one.
    std::size_t size_max = text.size();
    for (Piece const& piece : pieces.all())
        size_max += 64 + session.size() + 2 * piece.call.size() + piece.rest.size();
    return replaced("[", text, pieces.all(), size_max, [&](Output& out, Piece const& piece) {
        out.add(call_key);
        out.add(piece.call);
        out.add(pause_key);
        out.add(session);
        out.add("_");
        out.add(piece.call);
        out.add("_");
        out.add(piece.rest);
        out.add("\"");
    });
}

}  // namespace

std::string short_form(SessionId session, std::string_view frame) {
    if (frame.starts_with("[ ")) return "[ " + std::string(frame.substr(1));
    if (!frame.starts_with("[[") || frame.size() > largest) return std::string(frame);
    auto const bare = session.bare();
    Pieces pieces(frame, bare, Form::full);
    if (pieces.all().empty() || pieces.looks_brief()) return std::string(frame);
    mark_repeated(pieces.all());
    return replaced("[ ", frame, pieces.all(), frame.size() + 1, write_brief);
}

std::string long_form(SessionId session, std::string_view stored) {
    if (stored.starts_with(as_it_is)) return "[" + std::string(stored.substr(2));
    if (!stored.starts_with(shortened)) return std::string(stored);
    auto const from_space = stored.substr(1);  // the space stands for the bracket before it
    return expanded(session.bare(), from_space).value_or(std::string(stored));
}

}  // namespace dormouse::store::sqlite
