#include "io/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <utility>

namespace dormouse::io {

namespace {

struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;
struct FreeStream {
    void operator()(SSL* stream) const { SSL_free(stream); }
};

// Returns OpenSSL's newest error and empties its error queue.
std::string reason() {
    unsigned long last = 0;
    while (unsigned long const error = ERR_get_error()) last = error;
    char const* const text = last == 0 ? nullptr : ERR_reason_error_string(last);
    return text ? text : "unknown reason";
}

std::unexpected<Error> refuse(std::string const& what, std::string const& file) {
    return fail(Code::bad_value, what + " " + file + " cannot be used: " + reason());
}

int choose_http_1_1(SSL*, unsigned char const** out, unsigned char* out_size,
                    unsigned char const* in, unsigned int in_size, void*) {
    static constexpr unsigned char ours[] = "\x08http/1.1";
    unsigned char* chosen = nullptr;
    int const found = SSL_select_next_proto(&chosen, out_size, ours, sizeof ours - 1, in, in_size);
    if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

Result<Context> make_context(std::string const& certificate, std::string const& key) {
    ERR_clear_error();
    Context context(SSL_CTX_new(TLS_server_method()));
    if (!context) return fail(Code::internal, "OpenSSL gives no context: " + reason());
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    // For TLS 1.2 only ciphers with forward secrecy (RFC 9325, 4.2).
    if (SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
        return fail(Code::internal, "OpenSSL has no cipher for TLS 1.2: " + reason());
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(context.get(), choose_http_1_1, nullptr);
    if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1)
        return refuse("tls_cert", certificate);
    if (SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
        return refuse("tls_key", key);
    if (SSL_CTX_check_private_key(context.get()) != 1)
        return fail(Code::bad_value,
                    "tls_key " + key + " is not the key of tls_cert " + certificate);
    return context;
}

}  // namespace

struct TlsStream::Impl {
    std::unique_ptr<SSL, FreeStream> stream;
    bool broken = false;  // SSL_shutdown must not follow a fatal error

    Moved moved(int result, std::size_t bytes) {
        if (result == 1) return {State::moved, bytes};
        switch (SSL_get_error(stream.get(), result)) {
            case SSL_ERROR_WANT_READ: return {State::wait_read, 0};
            case SSL_ERROR_WANT_WRITE: return {State::wait_write, 0};
            case SSL_ERROR_ZERO_RETURN: return {State::ended, 0};
            default: break;
        }
        broken = true;
        return {State::failed, 0};
    }
};

TlsStream::TlsStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsStream::~TlsStream() = default;

TlsStream::Moved TlsStream::read(std::span<char> into) {
    ERR_clear_error();
    std::size_t bytes = 0;
    int const result = SSL_read_ex(impl_->stream.get(), into.data(), into.size(), &bytes);
    return impl_->moved(result, bytes);
}

TlsStream::Moved TlsStream::write(std::string_view bytes) {
    if (bytes.empty()) return {State::moved, 0};
    ERR_clear_error();
    std::size_t written = 0;
    int const result = SSL_write_ex(impl_->stream.get(), bytes.data(), bytes.size(), &written);
    return impl_->moved(result, written);
}

bool TlsStream::holds() const { return SSL_has_pending(impl_->stream.get()) == 1; }

void TlsStream::end() {
    if (impl_->broken || SSL_is_init_finished(impl_->stream.get()) == 0) return;
    ERR_clear_error();
    static_cast<void>(SSL_shutdown(impl_->stream.get()));
}

struct TlsServer::Impl {
    std::string certificate;
    std::string key;
    Context context;
};

TlsServer::TlsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsServer::~TlsServer() = default;

Result<std::unique_ptr<TlsServer>> TlsServer::load(std::string certificate, std::string key) {
    auto context = make_context(certificate, key);
    if (!context) return std::unexpected(std::move(context.error()));
    auto impl =
        std::make_unique<Impl>(Impl{std::move(certificate), std::move(key), *std::move(context)});
    return std::unique_ptr<TlsServer>(new TlsServer(std::move(impl)));
}

Result<void> TlsServer::reload() {
    auto context = make_context(impl_->certificate, impl_->key);
    if (!context) return std::unexpected(std::move(context.error()));
    impl_->context = *std::move(context);
    return {};
}

std::unique_ptr<TlsStream> TlsServer::accept(int socket) const {
    auto impl = std::make_unique<TlsStream::Impl>();
    impl->stream.reset(SSL_new(impl_->context.get()));
    if (!impl->stream || SSL_set_fd(impl->stream.get(), socket) != 1) return nullptr;
    SSL_set_accept_state(impl->stream.get());
    return std::unique_ptr<TlsStream>(new TlsStream(std::move(impl)));
}

}  // namespace dormouse::io
