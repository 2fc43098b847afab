#include "server/handlers.h"

#include "base/text.h"
#include "json/json.h"

#include <algorithm>

namespace dormouse::server {

void read_history(Api& api, SessionId session, port::Fn<void(Result<Snapshot>)> done) {
    api.services().runner.read(
        session, 1, [session, done = std::move(done)](Result<runner::Runner::Read> read) mutable {
            if (!read) return done(std::unexpected(std::move(read.error())));
            Snapshot snapshot{std::move(read->lane), wire::History(session)};
            for (wire::RecordPtr const& record : read->records) snapshot.history.add(*record);
            done(std::move(snapshot));
        });
}

std::uint64_t Query::number(std::string_view name, std::uint64_t usual, std::uint64_t least,
                            std::uint64_t most) {
    auto const text = request.query_value(name);
    if (!text) return usual;
    auto const number = parse_number(*text);
    if (number && *number >= least && *number <= most) return *number;
    if (!error) {
        error =
            bad_value("?" + std::string(name), "must be a number from " + std::to_string(least) +
                                                   " to " + std::to_string(most));
    }
    return usual;
}

Duration Query::wait() {
    return Duration(static_cast<std::int64_t>(number("wait", 0, 0, 50)) * 1'000);
}

namespace {

// A long poll: ends once, by the session, the clock or the client.
struct Wait {
    std::shared_ptr<runner::Lane> lane;
    std::uint64_t watch = 0;
    std::function<bool(session::State const&)> ready;
    port::Fn<void()> done;

    void finish() {
        if (!done) return;
        auto then = std::exchange(done, {});
        lane->unwatch(watch);
        then();
    }
};

constexpr Duration client_check{1'000};

void check_client(Api& api, std::shared_ptr<Wait> wait, Time until, ExchangePtr x) {
    Duration const left = std::max(Duration(0), until - api.services().runner.now());
    api.services().loop.after(
        std::min(left, client_check), [&api, wait, until, x = std::move(x)]() mutable {
            if (!wait->done) return;
            bool const over = api.services().runner.now() >= until || x->responder->gone() ||
                              api.services().runner.draining();
            if (over) return wait->finish();
            check_client(api, std::move(wait), until, std::move(x));
        });
}

}  // namespace

void wait_until(Api& api, std::shared_ptr<runner::Lane> lane, Duration time, ExchangePtr x,
                std::function<bool(session::State const&)> ready, port::Fn<void()> done) {
    if (time == Duration(0) || ready(lane->state())) return done();
    auto const wait = std::make_shared<Wait>();
    wait->lane = std::move(lane);
    wait->ready = std::move(ready);
    wait->done = std::move(done);
    std::weak_ptr<Wait> const weak = wait;
    wait->watch = wait->lane->watch([weak] {
        auto const self = weak.lock();
        if (self && self->done && self->ready(self->lane->state())) self->finish();
    });
    check_client(api, wait, api.services().runner.now() + time, std::move(x));
}

namespace {

std::optional<std::string> read_text_part(Body& body, json::View part, std::size_t index) {
    Body fields(part, "/parts/" + std::to_string(index), {"type", "text", "synthetic"});
    bool const is_text = fields.string("type").value_or("text") == "text";
    if (!is_text)
        fields.refuse("type", "must be \"text\" (images and files come with a later release)");
    std::string text = fields.required_string("text");
    if (fields.error()) {
        body.refuse(*fields.error());
        return std::nullopt;
    }
    return text;
}

}  // namespace

std::optional<Input> read_input(Body& body) {
    auto const text = body.string("text");
    auto const parts = body.array("parts");
    if (text.has_value() == parts.has_value()) {
        body.refuse("text", "give either text or parts");
        return std::nullopt;
    }
    Input input;
    json::Writer out;
    out.begin_array();
    auto const add = [&](std::string const& part) {
        out.begin_object().member("type", "text").member("text", part).end_object();
        input.text += (input.text.empty() ? "" : "\n") + part;
    };
    std::size_t index = 0;
    if (text) add(*text);
    if (parts) {
        parts->elements([&](json::View part) {
            if (auto one = read_text_part(body, part, index++)) add(*one);
        });
    }
    if (input.text.empty()) body.refuse("text", "must not be empty");
    input.parts = out.end_array().json();
    if (body.error()) return std::nullopt;
    return input;
}

}  // namespace dormouse::server
