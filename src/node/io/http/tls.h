#pragma once
// Server side of TLS on non-blocking sockets, with OpenSSL: TLS 1.2 and 1.3, HTTP/1.1 by ALPN. On
// the loop only.

#include <dormouse/error.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dormouse::io {

// One connection. Does not own its socket.
class TlsStream {
public:
    enum class State : std::uint8_t {
        moved,       // `bytes` were read or written
        wait_read,   // retry when the socket is readable
        wait_write,  // retry when the socket is writable
        ended,       // the peer sends no more
        failed,
    };
    struct Moved {
        State state = State::failed;
        std::size_t bytes = 0;
    };

    ~TlsStream();
    TlsStream(TlsStream const&) = delete;
    TlsStream& operator=(TlsStream const&) = delete;

    // Does the handshake first, if necessary.
    [[nodiscard]] Moved read(std::span<char> into);
    // After wait_…, call again with the same bytes; more may follow them.
    [[nodiscard]] Moved write(std::string_view bytes);
    // Returns true if read() has data that the socket no longer shows.
    [[nodiscard]] bool holds() const;
    // Tells the peer that no more data follows.
    void end();

private:
    friend class TlsServer;
    struct Impl;
    explicit TlsStream(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

class TlsServer {
public:
    // Loads PEM files: the certificate with its chain, and its key. Errors: bad_value, with the
    // file and what to do.
    [[nodiscard]] static Result<std::unique_ptr<TlsServer>> load(std::string certificate,
                                                                 std::string key);
    ~TlsServer();

    // Reads the files again, for new connections; if that fails, the old ones stay in use.
    [[nodiscard]] Result<void> reload();
    // nullptr: out of memory.
    [[nodiscard]] std::unique_ptr<TlsStream> accept(int socket) const;

private:
    struct Impl;
    explicit TlsServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::io
