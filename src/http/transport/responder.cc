#include "http/transport/responder.h"

#include "base/check.h"
#include "http/transport/connection/connection.h"

#include <utility>

namespace dormouse::http {

namespace {

class ConnectionStream final : public EventStream {
public:
    explicit ConnectionStream(std::shared_ptr<Connection> connection)
        : connection_(std::move(connection)) {}
    // No code can send on the stream after this.
    ~ConnectionStream() override { connection_->end_stream(); }
    ConnectionStream(ConnectionStream const&) = delete;
    ConnectionStream& operator=(ConnectionStream const&) = delete;

    bool send(std::shared_ptr<std::string const> frames) override {
        return connection_->send(std::move(frames));
    }
    bool open() const override { return connection_->streams(); }
    std::size_t queued_bytes() const override { return connection_->queued_bytes(); }
    void on_drained(port::Fn<void()> again) override { connection_->on_drained(std::move(again)); }
    void on_closed(port::Fn<void()> gone) override { connection_->on_closed(std::move(gone)); }
    void close() override { connection_->end_stream(); }

private:
    std::shared_ptr<Connection> const connection_;
};

// Used when the client had gone before the stream began.
class ClosedStream final : public EventStream {
public:
    explicit ClosedStream(std::shared_ptr<Connection> connection)
        : connection_(std::move(connection)) {}

    bool send(std::shared_ptr<std::string const>) override { return false; }
    bool open() const override { return false; }
    std::size_t queued_bytes() const override { return 0; }
    void on_drained(port::Fn<void()>) override {}
    void on_closed(port::Fn<void()> gone) override { connection_->on_closed(std::move(gone)); }
    void close() override {}

private:
    std::shared_ptr<Connection> const connection_;
};

class RequestResponder final : public Responder {
public:
    RequestResponder(std::shared_ptr<Connection> connection, std::uint64_t number, std::string id)
        : connection_(std::move(connection)), number_(number), id_(std::move(id)) {}
    ~RequestResponder() override {
        if (!answered_) connection_->answer_nothing(number_, std::move(id_));
    }
    RequestResponder(RequestResponder const&) = delete;
    RequestResponder& operator=(RequestResponder const&) = delete;

    void reply(HttpReply reply) override {
        CHECK(!std::exchange(answered_, true));
        connection_->answer(number_, reply);
    }

    std::shared_ptr<EventStream> stream(
        std::vector<std::pair<std::string, std::string>> headers) override {
        CHECK(!std::exchange(answered_, true));
        if (!connection_->waits_for(number_)) return std::make_shared<ClosedStream>(connection_);
        connection_->begin_stream(headers);
        return std::make_shared<ConnectionStream>(connection_);
    }

    bool gone() const override {
        return connection_->client_gone() || (!answered_ && !connection_->waits_for(number_));
    }
    void body_freed() override { connection_->free_body(number_); }

private:
    std::shared_ptr<Connection> const connection_;
    std::uint64_t const number_;
    std::string id_;
    bool answered_ = false;
};

}  // namespace

std::shared_ptr<Responder> make_responder(std::shared_ptr<Connection> connection,
                                          std::uint64_t number, std::string id) {
    return std::make_shared<RequestResponder>(std::move(connection), number, std::move(id));
}

}  // namespace dormouse::http
