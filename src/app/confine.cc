#include "app/confine.h"

#include <pwd.h>
#include <unistd.h>
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
    if (!found) return fail(Code::bad_value, "run_as: there is no user " + name + ".");
    return User{name, found->pw_dir, found->pw_uid, found->pw_gid};
}

bool can_run(char const* program) { return ::access(program, X_OK) == 0; }

void add(Words& to, Words const& more) { to.insert(to.end(), more.begin(), more.end()); }

// Folders that are not there yet can not be let in, and what the program keeps would go with the
// wall. Made by whoever it runs as, who may have put links into the way.
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

// All is there to be read, but what is hidden; and what lies in /tmp and /run, where other programs
// have their sockets, is not there.
Words sandbox_of(Confinement const& how, std::string const& home, std::string const& folder) {
    Words out{bwrap,
              "--die-with-parent",
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
    if (!how.hidden.empty()) add(out, {"--tmpfs", how.hidden});
    for (std::string const& name : how.state) {
        std::string const path = (fs::path(home) / name).string();
        add(out, {"--bind-try", path, path});
    }
    add(out, {"--bind", folder, folder, "--"});
    return out;
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
        first = {"--reuid", std::to_string(user->uid), "--regid", std::to_string(user->gid),
                 "--init-groups"};
        home = user->home;
        out.environment = {"HOME=" + home, "USER=" + user->name};
    }
    if (can_run(setpriv)) {
        first.insert(first.begin(), setpriv);
        add(first, {"--pdeathsig", "KILL", "--"});
    }
    out.before = [how = std::move(how), home = std::move(home),
                  first = std::move(first)](std::string const& folder) {
        Words words = first;
        if (how.sandbox) add(words, make_first(how, home));
        if (how.sandbox) add(words, sandbox_of(how, home, folder));
        return words;
    };
    return out;
}

}  // namespace dormouse::app
