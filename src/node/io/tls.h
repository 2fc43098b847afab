#pragma once
// The server's side of TLS on sockets that do not block, by OpenSSL: TLS 1.2 and 1.3, HTTP/1.1 by
// ALPN. On the loop only.

#include <dormouse/error.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dormouse::io {

// One connection. It neither owns nor closes its socket.
class TlsStream {
public:
    enum class State : std::uint8_t {
        moved,       // `bytes` of them
        wait_read,   // nothing now; again when the socket can be read
        wait_write,  // nothing now; again when it can be written
        ended,       // the other side sends no more
        failed,
    };
    struct Moved {
        State state = State::failed;
        std::size_t bytes = 0;
    };

    ~TlsStream();
    TlsStream(TlsStream const&) = delete;
    TlsStream& operator=(TlsStream const&) = delete;

    // Shakes hands first, if it has not happened yet.
    [[nodiscard]] Moved read(std::span<char> into);
    // After wait_…: again with the same bytes, and perhaps more behind them.
    [[nodiscard]] Moved write(std::string_view bytes);
    // There is something to read() that the socket does not show any more.
    [[nodiscard]] bool holds() const;
    // Tells the other side that no more comes.
    void end();

private:
    friend class TlsServer;
    struct Impl;
    explicit TlsStream(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

class TlsServer {
public:
    // PEM files: the certificate with its chain, and its key. Errors: bad_value, with the file and
    // what to do.
    [[nodiscard]] static Result<std::unique_ptr<TlsServer>> load(std::string certificate,
                                                                 std::string key);
    ~TlsServer();

    // Reads the files anew, for connections from now on; if that fails all stays as it was.
    [[nodiscard]] Result<void> reload();
    // nullptr: out of memory.
    [[nodiscard]] std::unique_ptr<TlsStream> accept(int socket) const;

private:
    struct Impl;
    explicit TlsServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::io
