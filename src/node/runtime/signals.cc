#include "runtime/signals.h"

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

void Signals::say(Epoch self, std::string_view text) {
    CHECK(text.size() <= text_max);
    if (waiting_bytes_ + text.size() > waiting_max) return;
    waiting_bytes_ += text.size();
    waiting_.push_back(head(text_of_others, self) + " " + std::string(text));
    send();
}

// The next is said after the last was, and not sooner than `apart`.
void Signals::send() {
    if (sending_ || (moved_.empty() && waiting_.empty())) return;
    sending_ = true;
    auto texts = std::exchange(waiting_, {});
    waiting_bytes_ = 0;
    if (!moved_.empty()) texts.push_back(std::exchange(moved_, {}));
    auto job = [this, texts = std::move(texts)](std::stop_token const& /*token*/) {
        std::ignore = world_.channel.say(texts);
    };
    auto again = scope_.guard([this] {
        sending_ = false;
        send();
    });
    auto done = [this, again = std::move(again)](bool /*ran*/) { world_.loop.after(apart, again); };
    std::ignore = world_.thread.run(std::move(job), scope_.guard(std::move(done)));
}

bool Signals::heard(Epoch self, std::string_view said) {
    if (said.empty() || (said[0] != appended && said[0] != text_of_others)) return false;
    auto const end = std::min(said.find(' '), said.size());
    auto const from = parse_number(said.substr(1, end - 1));
    if (!from || *from == self) return true;
    if (said[0] == appended)
        listener_.moved();
    else
        listener_.said(*from, said.substr(std::min(end + 1, said.size())));
    return true;
}

}  // namespace dormouse::runtime
