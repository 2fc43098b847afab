#pragma once
// Writes files of an archive. All functions block; an error names the file.

#include "archive/archive.h"
#include "io/fd.h"
#include "port/world.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace dormouse::archive {

// The keys to encrypt files with. The objects that it points to outlive its user.
struct Encryption {
    store::MasterKeys const* masters = nullptr;  // null: files are plain
    port::Entropy* entropy = nullptr;
};

// While it lives, nobody else writes to the directory.
class Writer {
public:
    // Makes the directory, and removes what a crash left. Errors: wrong_state (somebody writes to
    // it, or it is a directory of something else); store_unavailable.
    [[nodiscard]] static Result<Writer> open(std::filesystem::path const& directory,
                                             Encryption encryption);

    // Opens to change indexes alone, even if some are damaged; removes nothing.
    [[nodiscard]] static Result<Writer> open_to_repair(std::filesystem::path const& directory);

    // The lines of one session; `entry` without its place in the file.
    struct Session {
        Entry entry;
        std::string lines;
    };
    // The same as it is in a file, with its digest, because it cannot be read.
    struct Damaged {
        Entry entry;
        std::string bytes;
    };
    using Piece = std::variant<Session, Damaged>;
    // The next session; nullopt: there are no more.
    using Next = std::function<Result<std::optional<Piece>>()>;
    // `head`: the first line, `end`: the last one, of the sessions that were written.
    struct Frame {
        std::string head;
        std::function<std::string(std::vector<Entry> const&)> end;
    };
    struct Origin {
        std::string release;
        Time at{};
    };
    // Writes one file of these sessions, durably, and returns it. REQUIRES: they are of one project
    // and month, at least one.
    [[nodiscard]] Result<File> write(std::string const& project, Time month, Origin const& origin,
                                     Frame const& frame, Next const& next);

    // Writes the file again with what `change` makes of each session, and removes the former one.
    // After a crash exactly one of the two files exists. An error, also one of `change`, leaves the
    // former file. With OnDamage::copy, damaged sessions are copied unchanged, except from a plain
    // file to an encrypted one or the other way; an encrypted file then keeps its key.
    using Change = std::function<Result<Session>(Session)>;
    enum class OnDamage : std::uint8_t { refuse, copy };
    // The sessions of `without` are left out.
    [[nodiscard]] Result<File> rewrite(File const& file, Origin const& origin, Frame const& frame,
                                       Change const& change, OnDamage damaged,
                                       std::set<SessionId> const& without = {});
    // Removes the file with its index, durably.
    [[nodiscard]] Result<void> remove(File const& file);
    // How files are encrypted from now on.
    void encrypt(Encryption encryption) { encryption_ = encryption; }
    // Writes the index of a plain file, durably, in the place of a former one. REQUIRES: it
    // describes the data.
    [[nodiscard]] Result<void> put_index(std::filesystem::path const& stem, Index const& index);
    // Encrypts the key of an encrypted file with the first master key. Returns whether it was
    // another one. REQUIRES: check_key(file); there is a master key.
    [[nodiscard]] Result<bool> rewrap(File const& file);

private:
    Writer(std::filesystem::path directory, Encryption encryption, io::Fd lock)
        : directory_(std::move(directory)), encryption_(encryption), lock_(std::move(lock)) {}

    // Its index comes last, in the place of a former one. A file that has a key already keeps it.
    [[nodiscard]] Result<File> compose(File file, Frame const& frame, Next const& next);

    std::filesystem::path directory_;
    Encryption encryption_;
    io::Fd lock_;
};

}  // namespace dormouse::archive
