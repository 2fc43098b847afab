#include "archive/reindex.h"

#include "archive/names.h"
#include "backup/files.h"
#include "backup/gzip.h"
#include "base/crypto/sha256.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace dormouse::archive {

namespace {

namespace fs = std::filesystem;

// The stem of data of any version, and the version. REQUIRES: is_data(name).
std::pair<std::string, std::uint64_t> stem_of_data(std::string_view name) {
    std::string_view const stem = name.substr(0, name.rfind(".jsonl.gz"));
    // PROJECT-YYYY-MM.N, and .VERSION; the project has no dot after its month.
    auto const last = stem.rfind('.');
    auto const before = last == std::string_view::npos ? last : stem.rfind('.', last - 1);
    auto const month = stem.rfind('-');
    if (before == std::string_view::npos || month == std::string_view::npos || before < month)
        return {std::string(stem), 0};
    std::uint64_t version = 0;
    for (char const c : stem.substr(last + 1)) {
        if (c < '0' || c > '9' || version > UINT32_MAX) return {std::string(stem), 0};
        version = version * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return {std::string(stem.substr(0, last)), version};
}

bool has_index(fs::path const& stem) {
    auto const text = backup::read_file(index_path(stem), index_bytes_max);
    if (!text) return false;
    auto const index = read_index(*text);
    return index || index.error().code == Code::newer_format;
}

// The members one after the other. Their beginning is the same everywhere; the same bytes inside of
// a member, which 80 bits make improbable, are found by its checksum.
class Members {
public:
    explicit Members(std::string_view bytes)
        : bytes_(bytes), begin_(backup::gzip("").substr(0, 10)) {
        end_ = next_begin(0);
    }

    struct Member {
        std::uint64_t offset = 0;
        std::string_view bytes;
        Result<std::string> text;
    };
    // nullopt: there are no more.
    [[nodiscard]] std::optional<Member> next() {
        if (at_ == bytes_.size()) return std::nullopt;
        std::size_t const from = at_;
        for (std::size_t end = end_;; end = next_begin(end)) {
            auto const member = bytes_.substr(from, end - from);
            auto text = backup::gunzip(member, session_bytes_max);
            bool const last = end == bytes_.size();
            if (!text && !last && tries_++ < tries_max) continue;
            // A damaged one ends where the next one begins.
            std::size_t const to = text ? end : end_;
            tries_ = 0;
            at_ = to;
            end_ = next_begin(to);
            return Member{from, bytes_.substr(from, to - from), std::move(text)};
        }
    }

private:
    static constexpr int tries_max = 2;

    [[nodiscard]] std::size_t next_begin(std::size_t after) const {
        auto const found = bytes_.find(begin_, std::min(after + 1, bytes_.size()));
        return found == std::string_view::npos ? bytes_.size() : found;
    }

    std::string_view bytes_;
    std::string begin_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;  // of the member at `at_`
    int tries_ = 0;
};

std::string place_of(Members::Member const& member) {
    return "the " + std::to_string(member.bytes.size()) + " bytes from " +
           std::to_string(member.offset) + " on";
}

// The lines of a session; those before and after all sessions are one line each.
bool is_session(std::string_view text) { return text.starts_with(R"({"type":"session")"); }

void take(Members::Member const& member, Describe const& describe, Reindexed& out) {
    if (!member.text) {
        out.lost.push_back(place_of(member) + ": " + member.text.error().detail);
        return;
    }
    if (!is_session(*member.text)) return;
    auto entry = describe.session(*member.text);
    if (!entry) {
        out.lost.push_back(place_of(member) + ": " + entry.error().detail);
        return;
    }
    entry->offset = member.offset;
    entry->bytes = member.bytes.size();
    entry->digest = digest_text(sha256(member.bytes));
    out.index.sessions.push_back(*std::move(entry));
}

}  // namespace

Result<std::vector<Unindexed>> unindexed(fs::path const& directory) {
    auto const names = names_in(directory);
    if (!names) return std::unexpected(names.error());
    std::map<std::string, Unindexed> newest;
    for (std::string const& name : *names) {
        if (!is_data(name)) continue;
        auto const [stem, version] = stem_of_data(name);
        Unindexed& known = newest[stem];
        if (!known.data.empty() && known.version > version) continue;
        known = {directory / name, directory / stem, version, name.ends_with(".sealed")};
    }
    std::vector<Unindexed> out;
    for (auto& [stem, file] : newest)
        if (!has_index(file.stem)) out.push_back(std::move(file));
    return out;
}

Result<Reindexed> read_data(Unindexed const& file, Describe const& describe) {
    auto const wrong = [&](std::string const& why) {
        return fail(Code::bad_value, file.data.string() + ": " + why);
    };
    if (file.sealed)
        return wrong("it is encrypted, and its key was in the index: take the index from a copy");
    auto const bytes = backup::read_file(file.data, reindexed_bytes_max);
    if (!bytes) return std::unexpected(bytes.error());
    Reindexed out;
    out.index.version = file.version;
    out.index.bytes = bytes->size();
    Members members(*bytes);
    for (bool first = true; auto member = members.next(); first = false) {
        auto const origin =
            first && member->text ? describe.head(*member->text) : Result<Writer::Origin>();
        if (first && origin) {
            out.index.release = origin->release;
            out.index.at = origin->at;
        }
        take(*member, describe, out);
    }
    if (out.index.sessions.empty()) return wrong("no session in it is whole");
    return out;
}

}  // namespace dormouse::archive
