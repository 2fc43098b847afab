#pragma once
// A real PostgreSQL server for tests, of Debian's package `postgresql`: one for each test program,
// in a temporary folder, and a schema for each test.

#include "base/test_wait.h"
#include "store/postgres/connection.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace dormouse::store::postgres {

// Starts the server when it is first asked for, and stops it when the program ends.
class TestServer {
public:
    // Null: PostgreSQL is not installed. A server that is installed and does not start ends the
    // program.
    [[nodiscard]] static TestServer* instance() {
        static TestServer server;
        return server.programs_.empty() ? nullptr : &server;
    }

    [[nodiscard]] std::string url(std::string const& user = "postgres",
                                  std::string const& database = "postgres") const {
        return "postgres://" + user + "@127.0.0.1:" + std::to_string(port_) + "/" + database;
    }
    // A URL with a schema that no other test uses.
    [[nodiscard]] std::string fresh_url() {
        return url() + "?schema=test_" + std::to_string(++schemas_);
    }
    [[nodiscard]] Connection connect(std::string const& to) const {
        auto made = Connection::open(parse_address(to).value(), "test", std::chrono::seconds(10));
        if (!made) {
            ADD_FAILURE() << made.error().error.detail;
            std::abort();
        }
        return std::move(*made);
    }
    // Runs statements as the superuser.
    void run(std::string const& sql, std::string const& database = "postgres") const {
        auto connection = connect(url("postgres", database));
        auto const done = connection.script(sql, std::chrono::seconds(120));
        EXPECT_TRUE(done) << done.error().error.detail << "\n" << sql;
    }

    [[nodiscard]] int port() const { return port_; }

    // Makes the server one that loses nothing, or again one that is quick.
    void set_fsync(bool on) {
        run(on ? "ALTER SYSTEM SET fsync = on" : "ALTER SYSTEM RESET fsync");
        run("SELECT pg_reload_conf()");
        auto const wanted = on ? "on" : "off";
        wait_while([&] {
            auto connection = connect(url());
            auto const rows =
                connection.run(Call{"SELECT current_setting('fsync')"}, std::chrono::seconds(5));
            return !rows || rows->text(0, 0) != wanted;
        });
    }

    // As kill -9 of the whole server; afterwards it can be started again, at the same address.
    void crash() {
        ::kill(pid_, SIGQUIT);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    void restart() {
        for (int attempt = 0; pid_ == 0 && attempt < 20; ++attempt) start(folder_ + "/data");
        if (pid_ == 0) std::abort();
    }

    TestServer(TestServer const&) = delete;
    TestServer& operator=(TestServer const&) = delete;

private:
    TestServer() {
        programs_ = newest_programs();
        if (programs_.empty()) return;
        passwd const* const user = ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr;
        if (user != nullptr) {  // initdb refuses root
            user_ = user->pw_uid;
            group_ = user->pw_gid;
        }
        make_folder();
        auto const data = folder_ + "/data";
        int status = 1;
        auto const made = spawn("initdb", {"-A", "trust", "-U", "postgres", "-E", "UTF8",
                                           "--locale=C", "--no-sync", "-D", data});
        ::waitpid(made, &status, 0);
        // Not on the command line: a test may change it.
        std::ofstream(data + "/postgresql.conf", std::ios::app) << "fsync = off\n";
        for (int attempt = 0; status == 0 && pid_ == 0 && attempt < 5; ++attempt) {
            port_ = 0;
            start(data);
        }
        if (pid_ != 0) return;
        std::fputs("PostgreSQL is installed, and the test server does not start\n", stderr);
        std::abort();
    }

    ~TestServer() {
        if (pid_ != 0) {
            ::kill(pid_, SIGQUIT);
            ::waitpid(pid_, nullptr, 0);
        }
        std::error_code ignored;
        if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    }

    static std::string newest_programs() {
        std::string newest;
        std::error_code missing;
        for (auto const& entry :
             std::filesystem::directory_iterator("/usr/lib/postgresql", missing))
            if (std::filesystem::exists(entry.path() / "bin/initdb"))
                newest = std::max(newest, (entry.path() / "bin").string());
        return newest;
    }

    void make_folder() {
        auto name = (std::filesystem::temp_directory_path() / "dormouse-pg-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) std::abort();
        folder_ = name;
        if (user_ != 0 && ::chown(folder_.c_str(), user_, group_) != 0) std::abort();
    }

    // Runs one of PostgreSQL's programs, which ends with this process. Returns its pid.
    [[nodiscard]] pid_t spawn(std::string const& program,
                              std::vector<std::string> arguments) const {
        auto path = programs_ + "/" + program;
        std::vector<char*> list{path.data()};
        for (auto& one : arguments) list.push_back(one.data());
        list.push_back(nullptr);
        auto const log = folder_ + "/log";
        auto const child = ::fork();
        if (child != 0) return child;
        int const out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
        ::dup2(out, 1);
        ::dup2(out, 2);
        bool const plain = user_ == 0 || (::setgroups(0, nullptr) == 0 && ::setgid(group_) == 0 &&
                                          ::setuid(user_) == 0);
        ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
        if (plain && ::chdir("/") == 0) ::execv(path.c_str(), list.data());
        ::_exit(127);
    }

    // Another process may take the port between the two looks: then the server ends at once.
    void start(std::string const& data) {
        if (port_ == 0) port_ = free_port();
        auto const server =
            spawn("postgres", {"-D", data, "-p", std::to_string(port_), "-c",
                               "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c",
                               "max_connections=120", "-c", "shared_buffers=32MB"});
        auto const address = parse_address(url()).value();
        bool ended = false;
        wait_while([&] {
            ended = ::waitpid(server, nullptr, WNOHANG) == server;
            if (Connection::open(address, "test", std::chrono::seconds(5))) pid_ = server;
            return !ended && pid_ == 0;
        });
        if (ended || pid_ != 0) return;
        ::kill(server, SIGQUIT);
        ::waitpid(server, nullptr, 0);
    }

    static int free_port() {
        int const listener = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const raw = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        if (::bind(listener, raw, size) != 0 || ::getsockname(listener, raw, &size) != 0)
            std::abort();
        ::close(listener);
        return ntohs(address.sin_port);
    }

    std::string programs_;
    std::string folder_;
    uid_t user_ = 0;
    gid_t group_ = 0;
    int port_ = 0;
    pid_t pid_ = 0;
    int schemas_ = 0;
};

// Returns true if there is a server. If one is required and missing, the test fails.
inline bool has_server() {
    bool const there = TestServer::instance() != nullptr;
    if (!there && std::getenv("DORMOUSE_TEST_POSTGRES") != nullptr)
        ADD_FAILURE() << "PostgreSQL is required and not installed (tools/setup.sh ci)";
    return there;
}

class PostgresTest : public testing::Test {
protected:
    void SetUp() override {
        if (!has_server()) GTEST_SKIP() << "PostgreSQL is not installed (tools/setup.sh ci)";
    }
    [[nodiscard]] static TestServer& server() { return *TestServer::instance(); }
};

}  // namespace dormouse::store::postgres
