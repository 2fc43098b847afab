#include "backup/copy/page_record.h"

#include "backup/files.h"
#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>
#include <span>
#include <utility>

namespace dormouse::backup {

namespace {

constexpr std::uint64_t resumption_bytes_max = (PageRecord::pages_max * 16) + (1U << 20);
constexpr std::string_view product = "dormouse copy pages";
constexpr std::int64_t form = 1;

std::string bytes_of(std::span<std::uint8_t const> digest) {
    return {digest.begin(), digest.end()};
}

}  // namespace

PageRecord::Digest PageRecord::digest_of(std::string_view page) {
    Sha256 const whole = sha256(page);
    Digest out{};
    std::ranges::copy(std::span(whole).first(out.size()), out.begin());
    return out;
}

void PageRecord::clear() { *this = {}; }

void PageRecord::add(store::sqlite::Cut const& cut) {
    page_bytes_ = cut.page_bytes;
    overflows_ = overflows_ || cut.page_count > pages_max;
    if (overflows_) return pages_.clear();
    pages_.resize(cut.page_count);
    std::string_view const content = cut.content;
    for (std::size_t i = 0; i < cut.pages.size(); ++i) {
        std::size_t const index = cut.pages[i] - 1;
        if (index < pages_.size())
            pages_[index] = digest_of(content.substr(i * cut.page_bytes, cut.page_bytes));
    }
}

void PageRecord::drop_known(store::sqlite::Cut& cut) const {
    if (page_bytes_ != cut.page_bytes) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < cut.pages.size(); ++i) {
        auto const page = std::string_view(cut.content).substr(i * page_bytes_, page_bytes_);
        std::size_t const index = cut.pages[i] - 1;
        if (index < pages_.size() && pages_[index] == digest_of(page)) continue;
        if (kept != i) cut.content.replace(kept * page_bytes_, page_bytes_, std::string(page));
        cut.pages[kept++] = cut.pages[i];
    }
    cut.pages.resize(kept);
    cut.content.resize(kept * page_bytes_);
}

// The text of all of it, and the digest of that in front.
struct PageRecordForm {
    static std::string write(Resumption const& from) {
        json::Writer head;
        head.begin_object().member("format", form).member("product", product);
        head.member("key", from.key_id)
            .member("start", from.start)
            .member("generation", from.generation.id);
        head.member("begun", to_ms(from.generation.begun));
        head.member("complete", to_ms(*from.generation.complete));
        head.member("sequence", static_cast<std::int64_t>(from.newest.sequence));
        head.member("digest", hex(from.newest.digest));
        head.member("pageBytes", static_cast<std::int64_t>(from.record.page_bytes_));
        head.key("files").begin_object();
        for (auto const& [name, digest] : from.record.files) head.member(name, hex(digest));
        std::string out = head.end_object().end_object().take() + "\n";
        for (auto const& digest : from.record.pages_) out += bytes_of(digest);
        return out;
    }

    static std::optional<Resumption> read(std::string_view text) {
        auto const end = std::min(text.find('\n'), text.size());
        auto const head = json::check(text.substr(0, end));
        if (!head) return std::nullopt;
        json::View const view(*head);
        auto const digest = parse_hex_256(view["digest"].string_or(""));
        auto const pages = text.substr(std::min(end + 1, text.size()));
        constexpr std::size_t each = PageRecord::Digest{}.size();
        bool const fits = view["product"].string_or("") == product &&
                          view["format"].integer_or(0) == form && pages.size() % each == 0;
        if (!fits || !digest) return std::nullopt;
        Resumption out{
            .key_id = view["key"].string_or(""),
            .start = view["start"].string_or(""),
            .generation = {.id = view["generation"].string_or(""),
                           .begun = from_ms(view["begun"].integer_or(0)),
                           .complete = from_ms(view["complete"].integer_or(0))},
            .newest = {static_cast<std::uint64_t>(view["sequence"].integer_or(0)), *digest},
            .record = {}};
        out.record.page_bytes_ = static_cast<std::uint32_t>(view["pageBytes"].integer_or(0));
        out.record.pages_.resize(pages.size() / each);
        for (std::size_t i = 0; i < out.record.pages_.size(); ++i)
            std::ranges::copy(pages.substr(i * each, each), out.record.pages_[i].begin());
        view["files"].members([&](std::string_view name, json::View value) {
            if (auto const known = parse_hex_256(value.string_or("")))
                out.record.files.emplace(name, *known);
        });
        return out;
    }
};

std::string resumption_text(Resumption const& from) {
    std::string const text = PageRecordForm::write(from);
    return hex(sha256(text)) + "\n" + text;
}

std::optional<Resumption> read_resumption(std::string_view text) {
    auto const end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    auto const rest = text.substr(end + 1);
    if (hex(sha256(rest)) != text.substr(0, end)) return std::nullopt;
    return PageRecordForm::read(rest);
}

std::optional<Resumption> load_resumption(std::filesystem::path const& directory) {
    auto const text = read_file(directory / page_record_name, resumption_bytes_max);
    return text ? read_resumption(*text) : std::nullopt;
}

void drop_resumption(std::filesystem::path const& directory) {
    std::error_code error;
    std::filesystem::remove(directory / page_record_name, error);
}

Result<void> save_resumption(std::filesystem::path const& directory, Resumption const& what) {
    return replace_file(directory / page_record_name, resumption_text(what));
}

}  // namespace dormouse::backup
