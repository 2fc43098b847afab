#include "runtime/nodes/signals.h"

#include "base/check.h"
#include "base/text/text.h"

#include <stop_token>
#include <tuple>
#include <utility>

namespace dormouse::runtime {

namespace {

constexpr char appended = 'a';
constexpr char text_of_others = 't';

std::string head(char kind, Epoch self) { return kind + std::to_string(self); }

}  // namespace

void Signals::moved(Epoch self) {
    moved_ = head(appended, self);
    send();
}

void Signals::publish(Epoch self, std::string_view text) {
    CHECK(text.size() <= text_max);
    if (waiting_bytes_ + text.size() > waiting_max) return;
    waiting_bytes_ += text.size();
    waiting_.push_back(head(text_of_others, self) + " " + std::string(text));
    send();
}

// Publishes one after the other, and not sooner than `apart`.
void Signals::send() {
    if (sending_ || (moved_.empty() && waiting_.empty())) return;
    sending_ = true;
    auto texts = std::exchange(waiting_, {});
    waiting_bytes_ = 0;
    if (!moved_.empty()) texts.push_back(std::exchange(moved_, {}));
    auto job = [this, texts = std::move(texts)](std::stop_token const& /*token*/) {
        std::ignore = services_.channel.publish(texts);
    };
    auto again = scope_.guard([this] {
        sending_ = false;
        send();
    });
    auto done = [this, again = std::move(again)](bool /*ran*/) {
        services_.loop.after(apart, again);
    };
    std::ignore = services_.thread.run(std::move(job), scope_.guard(std::move(done)));
}

bool Signals::on_message(Epoch self, std::string_view message) {
    if (message.empty() || (message[0] != appended && message[0] != text_of_others)) return false;
    auto const end = std::min(message.find(' '), message.size());
    auto const from = parse_number(message.substr(1, end - 1));
    if (!from || *from == self) return true;
    if (message[0] == appended)
        listener_.moved();
    else
        listener_.on_message(*from, message.substr(std::min(end + 1, message.size())));
    return true;
}

}  // namespace dormouse::runtime
