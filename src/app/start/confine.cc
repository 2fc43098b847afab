#include "app/start/confine.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace dormouse::app {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr char const* setpriv = "/usr/bin/setpriv";
constexpr char const* bwrap = "/usr/bin/bwrap";

struct User {
    std::string name, home;
    uid_t uid = 0;
    gid_t gid = 0;
};

Result<User> user_of(std::string const& name) {
    std::array<char, 16'384> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (!found) return fail(Code::bad_value, "run_as: unknown user " + name + ".");
    return User{name, found->pw_dir, found->pw_uid, found->pw_gid};
}

bool can_run(char const* program) { return ::access(program, X_OK) == 0; }

void add(Words& to, Words const& more) { to.insert(to.end(), more.begin(), more.end()); }

// A missing folder cannot be mounted, and its content would be lost with the sandbox. Creates them
// as the user of the program, because that user may have put links into the path.
Words make_first(Confinement const& how, std::string const& home) {
    Words out{
        "/bin/sh", "-c",
        "while [ \"$1\" != -- ]; do mkdir -p \"$1\" 2>/dev/null; shift; done; shift; exec \"$@\"",
        "sh"};
    for (std::string const& name : how.state) {
        if (!name.ends_with(".json")) out.push_back((fs::path(home) / name).string());
    }
    out.emplace_back("--");
    return out;
}

// Follows links, as far as the path exists.
std::string real_path(std::string const& path) {
    std::error_code error;
    fs::path const real = fs::weakly_canonical(path, error);
    std::string out = error ? path : real.string();
    while (out.size() > 1 && out.ends_with('/')) out.pop_back();
    return out;
}

bool holds(std::string const& folder, std::string const& path) {
    return path == folder || folder == "/" || path.starts_with(folder + "/");
}

bool is_there(std::string const& path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

// Hides folders of other sessions, except those that contain the home directory or a needed file.
Words hide_others(Confinement const& how, std::string const& home) {
    Words needed = how.needed;
    needed.push_back(home);
    Words out;
    for (std::string const& other : how.others) {
        std::string const folder = real_path(other);
        bool const is_needed = std::ranges::any_of(needed, [&](std::string const& path) {
            return holds(folder, path) || holds(folder, real_path(path));
        });
        if (!is_needed && is_there(folder)) add(out, {"--tmpfs", folder});
    }
    return out;
}

// Keeps this executable visible: `dormouse mcp` runs in the sandbox.
Words show_ourselves(Words const& hiding) {
    std::error_code error;
    std::string const binary = fs::read_symlink("/proc/self/exe", error).string();
    for (std::size_t i = 1; i < hiding.size(); i += 2)
        if (!binary.empty() && holds(hiding[i], binary)) return {"--ro-bind-try", binary, binary};
    return {};
}

// Everything is readable except what is hidden; /tmp and /run, where other programs have sockets,
// are empty. Later mounts cover earlier ones.
Words sandbox_of(Confinement const& how, std::string const& home, std::string const& folder) {
    Words out{bwrap,
              "--die-with-parent",
              "--new-session",
              "--unshare-pid",
              "--unshare-ipc",
              "--unshare-uts",
              "--ro-bind",
              "/",
              "/",
              "--dev",
              "/dev",
              "--proc",
              "/proc",
              "--tmpfs",
              "/tmp",
              "--tmpfs",
              "/run",
              "--ro-bind-try",
              "/run/systemd/resolve",
              "/run/systemd/resolve"};
    Words const hiding = hide_others(how, home);
    add(out, hiding);
    add(out, show_ourselves(hiding));
    for (std::string const& name : how.state) {
        std::string const path = (fs::path(home) / name).string();
        add(out, {"--bind-try", path, path});
    }
    add(out, {"--bind", folder, folder});
    if (!how.hidden.empty()) add(out, {"--tmpfs", real_path(how.hidden)});
    add(out, {"--"});
    return out;
}

// A setuid bwrap needs its privileges.
bool may_drop_privileges(bool sandbox) {
    struct stat found{};
    return !sandbox || (::stat(bwrap, &found) == 0 && (found.st_mode & S_ISUID) == 0);
}

Words run_as_words(User const& user, bool sandbox) {
    Words out{setpriv,
              "--reuid",
              std::to_string(user.uid),
              "--regid",
              std::to_string(user.gid),
              "--init-groups",
              "--pdeathsig",
              "KILL"};
    if (may_drop_privileges(sandbox)) out.emplace_back("--no-new-privs");
    out.emplace_back("--");
    return out;
}

// Returns true if the user may write; an owner can give itself the permission.
bool may_write(struct stat const& entry, io::FileRights const& who) {
    bool const in_group =
        entry.st_gid == who.gid || std::ranges::find(who.groups, entry.st_gid) != who.groups.end();
    mode_t const right = in_group ? S_IWGRP : S_IWOTH;
    return who.uid == 0 || entry.st_uid == who.uid || (entry.st_mode & right) != 0;
}

// The data directory, a file in it, or a parent folder in which the directory could be replaced, if
// `who` may write to it; empty: none.
std::string exposed_part(fs::path const& data, io::FileRights const& who) {
    struct stat entry{};
    std::error_code error;
    for (auto const& file : fs::directory_iterator(data, error)) {
        bool const there = ::lstat(file.path().c_str(), &entry) == 0 && S_ISREG(entry.st_mode);
        if (there && may_write(entry, who)) return file.path().string();
    }
    bool own_below = false;  // in a sticky folder a user can replace only their own entries
    for (fs::path at = data;; at = at.parent_path()) {
        if (::lstat(at.c_str(), &entry) == 0) {
            bool const kept = at != data && (entry.st_mode & S_ISVTX) != 0 && !own_below &&
                              entry.st_uid != who.uid && who.uid != 0;
            if (!kept && may_write(entry, who)) return at.string();
            own_below = entry.st_uid == who.uid;
        }
        if (at == at.root_path() || at.empty()) return {};
    }
}

}  // namespace

Result<Confined> confine(Confinement how) {
    if (how.sandbox && !can_run(bwrap))
        return fail(Code::bad_value,
                    "sandbox needs /usr/bin/bwrap: install the package bubblewrap.");
    Words first;
    Confined out;
    char const* const ours = std::getenv("HOME");
    std::string home = ours ? ours : "/";
    if (!how.run_as.empty()) {
        auto const user = user_of(how.run_as);
        if (!user) return std::unexpected(user.error());
        if (::geteuid() != 0 || !can_run(setpriv))
            return fail(Code::bad_value,
                        "run_as needs a server that runs as root, and /usr/bin/setpriv.");
        first = run_as_words(*user, how.sandbox);
        home = user->home;
        out.environment = {{"HOME", home}, {"USER", user->name}};
    }
    if (how.sandbox) out.environment.emplace_back("TMPDIR", "/tmp");  // its own /tmp in the sandbox
    out.before = [how = std::move(how), home = std::move(home),
                  first = std::move(first)](std::string const& folder) {
        Words words = first;
        if (how.sandbox) add(words, make_first(how, home));
        if (how.sandbox) add(words, sandbox_of(how, home, folder));
        return words;
    };
    return out;
}

std::optional<io::FileRights> rights_of(std::string const& name) {
    auto const user = user_of(name);
    if (!user) return std::nullopt;
    std::vector<gid_t> groups(64);
    int count = static_cast<int>(groups.size());
    if (::getgrouplist(name.c_str(), user->gid, groups.data(), &count) < 0) {
        groups.resize(static_cast<std::size_t>(count));
        if (::getgrouplist(name.c_str(), user->gid, groups.data(), &count) < 0) return std::nullopt;
    }
    groups.resize(static_cast<std::size_t>(count));
    return io::FileRights{user->uid, user->gid, std::move(groups)};
}

std::string data_problem(std::string const& user, std::string const& data) {
    if (user.empty() || ::geteuid() != 0) return {};
    auto const who = rights_of(user);
    std::error_code ignored;
    std::string const part = who ? exposed_part(real_path(fs::absolute(data, ignored)), *who) : "";
    if (part.empty()) return {};
    return "run_as: the user " + user + " may write to " + part +
           ", and so take over the server's data in " + data +
           " with its first token. Name another data directory (--data), or take the right away: "
           "chown root " +
           part + " && chmod go-w " + part;
}

bool overlap(std::string const& folder, std::string const& other) {
    std::string const one = real_path(folder), two = real_path(other);
    return holds(one, two) || holds(two, one);
}

}  // namespace dormouse::app
