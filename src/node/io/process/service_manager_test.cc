#include "io/process/service_manager.h"

#include "io/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace dormouse::io {
namespace {

using testing::StartsWith;

// A service manager that listens at an abstract name.
class Manager {
public:
    Manager() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un any{};
        any.sun_family = AF_UNIX;
        ::bind(fd_.get(), reinterpret_cast<sockaddr*>(&any), sizeof(sa_family_t));  // autobind
        socklen_t size = sizeof any;
        ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&any), &size);
        name_ = "@" + std::string(any.sun_path + 1, size - sizeof(sa_family_t) - 1);
    }
    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] std::string next() const {
        std::array<char, 256> bytes{};
        auto const size = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
        return {bytes.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
    }
    [[nodiscard]] bool silent() const {
        char byte = 0;
        return ::recv(fd_.get(), &byte, 1, MSG_DONTWAIT) < 0;
    }

private:
    Fd fd_;
    std::string name_;
};

// IPv4 of this machine, any port; `backlog` < 0: it does not listen.
int tcp_socket(int backlog) {
    int const fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof name);
    if (backlog >= 0) ::listen(fd, backlog);
    return fd;
}

TEST(ServiceManager, States_AreSentInOrder) {
    Manager const manager;
    ServiceManager service(manager.name(), Duration(0));
    service.ready();
    service.reloading();
    service.stopping();
    EXPECT_EQ(manager.next(), "READY=1");
    EXPECT_THAT(manager.next(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
    EXPECT_EQ(manager.next(), "STOPPING=1");
}

TEST(ServiceManager, Watch_ReportsWhileTheLoopRuns) {
    Manager const manager;
    AsioLoop loop;
    ServiceManager service(manager.name(), Duration(20));
    service.watch(loop);
    loop.after(Duration(30), [&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(manager.next(), "WATCHDOG=1");
    EXPECT_EQ(manager.next(), "WATCHDOG=1");
}

TEST(ServiceManager, NoLimit_ReportsNothing) {
    Manager const manager;
    AsioLoop loop;
    ServiceManager service(manager.name(), Duration(0));
    service.watch(loop);
    EXPECT_TRUE(manager.silent());
}

TEST(ServiceManager, MissingOrLongSocket_IsIgnored) {
    for (std::string const& name : {std::string(), std::string("relative"), std::string("/none"),
                                    "/" + std::string(200, 'x')}) {
        ServiceManager(name, Duration(0)).ready();
    }
}

TEST(ServiceManager, Environment_IsReadAndRemoved) {
    Manager const manager;
    ::setenv("NOTIFY_SOCKET", manager.name().c_str(), 1);
    ::setenv("WATCHDOG_USEC", "20000", 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    AsioLoop loop;
    ServiceManager service = ServiceManager::of_environment();
    service.watch(loop);
    EXPECT_EQ(manager.next(), "WATCHDOG=1");
    for (char const* const name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"})
        EXPECT_EQ(std::getenv(name), nullptr) << name;
}

TEST(ServiceManager, WatchdogOfAnotherProcess_ReportsNothing) {
    Manager const manager;
    ::setenv("NOTIFY_SOCKET", manager.name().c_str(), 1);
    ::setenv("WATCHDOG_USEC", "20000", 1);
    ::setenv("WATCHDOG_PID", "1", 1);
    AsioLoop loop;
    ServiceManager service = ServiceManager::of_environment();
    service.watch(loop);
    EXPECT_TRUE(manager.silent());
}

// A folder of credentials, named by the environment while it exists.
class Credentials {
public:
    Credentials() {
        std::filesystem::create_directories(folder_);
        ::setenv("CREDENTIALS_DIRECTORY", folder_.c_str(), 1);
    }
    ~Credentials() {
        ::unsetenv("CREDENTIALS_DIRECTORY");
        std::filesystem::remove_all(folder_);
    }
    Credentials(Credentials const&) = delete;
    Credentials& operator=(Credentials const&) = delete;
    void add(std::string const& name, std::string const& text) const {
        std::ofstream(folder_ / name) << text;
    }

private:
    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("credentials-" + std::to_string(::getpid()));
};

TEST(Credentials, Files_BecomeVariablesUnlessSet) {
    Credentials const credentials;
    credentials.add("FROM_FILE", "one\n");
    credentials.add("dormouse_FROM_FOLDER", "two");
    credentials.add("SET_BEFORE", "file");
    credentials.add("not-a-variable", "three");
    ::setenv("SET_BEFORE", "environment", 1);
    ASSERT_TRUE(take_credentials());
    EXPECT_STREQ(std::getenv("FROM_FILE"), "one");
    EXPECT_STREQ(std::getenv("FROM_FOLDER"), "two");
    EXPECT_STREQ(std::getenv("SET_BEFORE"), "environment");
}

TEST(Credentials, LargeOrBinaryFile_IsRefusedByName) {
    for (std::string const& text : {std::string(65'537, 'x'), std::string("a\0b", 3)}) {
        Credentials const credentials;
        credentials.add("TOO_MUCH", text);
        auto const taken = take_credentials();
        ASSERT_FALSE(taken);
        EXPECT_THAT(taken.error().detail, testing::HasSubstr("TOO_MUCH"));
        EXPECT_EQ(std::getenv("TOO_MUCH"), nullptr);
    }
}

// A folder of secrets. Its files are closed to others.
class SecretsFolder {
public:
    explicit SecretsFolder(mode_t mode) {
        std::filesystem::create_directories(folder_);
        ::chmod(folder_.c_str(), mode);
    }
    ~SecretsFolder() { std::filesystem::remove_all(folder_); }
    SecretsFolder(SecretsFolder const&) = delete;
    SecretsFolder& operator=(SecretsFolder const&) = delete;
    void add(std::string const& name, std::string const& text) const {
        std::ofstream(folder_ / name) << text;
        ::chmod((folder_ / name).c_str(), 0440);
    }
    [[nodiscard]] std::filesystem::path const& path() const { return folder_; }

private:
    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("secrets-" + std::to_string(::getpid()));
};

TEST(SecretFiles, RemovedOrOpenFile_LeavesNoValue) {
    SecretsFolder const folder(0750);
    folder.add("SECRET_THAT_GOES", "one");
    folder.add("SECRET_THAT_OPENS", "two");
    ASSERT_TRUE(take_secrets(folder.path()));
    EXPECT_EQ(variable_now("SECRET_THAT_GOES"), "one");
    std::filesystem::remove(folder.path() / "SECRET_THAT_GOES");
    ::chmod((folder.path() / "SECRET_THAT_OPENS").c_str(), 0644);
    EXPECT_EQ(variable_now("SECRET_THAT_GOES"), std::nullopt);
    EXPECT_EQ(variable_now("SECRET_THAT_OPENS"), std::nullopt);
}

// As the kubelet writes it: the root has mode 1777, and each name is a link into a folder that
// another link names.
TEST(SecretFiles, VolumeOfKubernetes_IsReadIfItsFilesBelongToRoot) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of root";
    SecretsFolder const folder(01777);
    std::filesystem::create_directory(folder.path() / "..1");
    std::filesystem::create_directory_symlink("..1", folder.path() / "..data");
    folder.add("..1/SECRET_OF_A_VOLUME", "one");
    std::filesystem::create_symlink("..data/SECRET_OF_A_VOLUME",
                                    folder.path() / "SECRET_OF_A_VOLUME");
    ASSERT_TRUE(take_secrets(folder.path()));
    EXPECT_EQ(variable_now("SECRET_OF_A_VOLUME"), "one");

    auto const link = folder.path() / "SECRET_OF_A_VOLUME";
    constexpr uid_t other = 65'534;
    ASSERT_EQ(::lchown(link.c_str(), other, other), 0);
    EXPECT_FALSE(check_secrets(folder.path()));
    EXPECT_EQ(variable_now("SECRET_OF_A_VOLUME"), std::nullopt);
    ASSERT_EQ(::lchown(link.c_str(), 0, 0), 0);
    EXPECT_TRUE(check_secrets(folder.path()));
    ASSERT_EQ(::chown(link.c_str(), other, other), 0);  // the file
    EXPECT_FALSE(check_secrets(folder.path()));
    ASSERT_EQ(::chown(link.c_str(), 0, 0), 0);
    ASSERT_EQ(::chown(folder.path().c_str(), other, other), 0);
    EXPECT_FALSE(check_secrets(folder.path()));
}

TEST(InheritedSocket, ListeningSocket_IsAdoptedWithItsAddress) {
    auto const adopted = adopt_socket(tcp_socket(1));
    ASSERT_TRUE(adopted) << adopted.error().detail;
    EXPECT_THAT(adopted->address, StartsWith("127.0.0.1:"));
    EXPECT_EQ(::fcntl(adopted->socket.get(), F_GETFD), FD_CLOEXEC);
}

TEST(InheritedSocket, NotAListeningTcpSocket_IsRefused) {
    for (int const fd : {tcp_socket(-1), ::socket(AF_UNIX, SOCK_STREAM, 0), ::dup(STDERR_FILENO)}) {
        auto const adopted = adopt_socket(fd);
        ASSERT_FALSE(adopted);
        EXPECT_EQ(adopted.error().code, Code::bad_value);
    }
}

TEST(InheritedSocket, SeveralSockets_AreRefused) {
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", "2", 1);
    auto const socket = inherited_socket();
    ASSERT_FALSE(socket);
    EXPECT_THAT(socket.error().detail, testing::HasSubstr("there are 2"));
    EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
}

TEST(InheritedSocket, VariablesOfAnotherProcess_AreIgnored) {
    ::setenv("LISTEN_PID", "1", 1);
    ::setenv("LISTEN_FDS", "1", 1);
    auto const socket = inherited_socket();
    ASSERT_TRUE(socket);
    EXPECT_FALSE(*socket);
}

}  // namespace
}  // namespace dormouse::io
