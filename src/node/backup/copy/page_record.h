#pragma once
// Records the newest state of a continuous copy: a digest of each page and key file, and the place
// in the copy. A server that stops stores it beside the database. The next one compares the
// database with it, page by page, and copies only what differs, whatever wrote the file in between.
// Pure, except load() and save().

#include <dormouse/error.h>

#include "backup/copy/piece.h"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::backup {

inline constexpr char const* page_record_name = "copy.pages";

class PageRecord {
public:
    // 16 bytes of memory for each page. A larger database (16 GiB with pages of 4 KiB) has none,
    // and its generation is not continued.
    static constexpr std::size_t pages_max = std::size_t{4} << 20;

    // Takes note of a piece that was written.
    void add(store::sqlite::Cut const& cut);
    // Removes the pages that are equal in the copy.
    void drop_known(store::sqlite::Cut& cut) const;
    // Forgets all digests and files.
    void clear();
    // Pages of `page_bytes` are compared; it is 0 while nothing is known.
    [[nodiscard]] std::uint32_t page_bytes() const { return page_bytes_; }
    [[nodiscard]] bool overflows() const { return overflows_; }

    std::map<std::string, Sha256> files;  // key files, by name

    friend bool operator==(PageRecord const&, PageRecord const&) = default;

private:
    friend struct PageRecordForm;
    using Digest = std::array<std::uint8_t, 16>;
    static Digest digest_of(std::string_view page);

    std::uint32_t page_bytes_ = 0;
    std::vector<Digest> pages_;  // that of page 1 first; zero: unknown
    bool overflows_ = false;
};

// A place where a generation can continue.
struct Resumption {
    std::string key_id;  // of the copy's key; empty: it is not encrypted
    std::string start;   // of the server that wrote it, as in owner.json
    Generation generation;
    Newest newest;
    PageRecord record;
};
[[nodiscard]] std::string resumption_text(Resumption const& from);
// nullopt: damaged, or of another release's form.
[[nodiscard]] std::optional<Resumption> read_resumption(std::string_view text);

// nullopt: there is none that can be read.
[[nodiscard]] std::optional<Resumption> load_resumption(std::filesystem::path const& directory);
void drop_resumption(std::filesystem::path const& directory);
[[nodiscard]] Result<void> save_resumption(std::filesystem::path const& directory,
                                           Resumption const& what);

}  // namespace dormouse::backup
