#pragma once
// Sends what posts_of() has made: signed, to public addresses, again and again until it is taken or
// its tries are used up. A row stands in the store until then, so a kill in between sends it once
// more, under the same webhook-id. On the loop.

#include "port/http.h"
#include "port/process.h"
#include "webhook/outgoing.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dormouse::webhook {

// When the n-th attempt comes after the one before it; after the last there is none.
inline constexpr std::array<Duration, 8> attempts_after{
    Duration(0),         Duration(5'000),      Duration(300'000),    Duration(1'800'000),
    Duration(7'200'000), Duration(18'000'000), Duration(36'000'000), Duration(36'000'000)};
// nullopt: that was the last. `luck`: 0 to 255, spreads attempts by up to a tenth.
[[nodiscard]] std::optional<Duration> next_attempt(std::uint32_t made, std::uint8_t luck);

// Why nothing may be sent there; empty: it may. `allowed`: host[:port] that may be reached although
// they are not public, also by http.
struct Way {
    std::string refusal = {};
    bool public_only = true;
};
[[nodiscard]] Way way_to(std::string_view url, std::vector<std::string> const& allowed);

// How its newest attempt went; `stranger`: there was none.
enum class Standing : std::uint8_t { answering, stranger, failing };

class Pump {
public:
    struct World {
        port::Loop& loop;
        port::Clock& clock;
        port::Entropy& entropy;
        port::Part<port::OutboxStore> outbox;
        port::HttpClient& http;
        port::Processes& processes;
    };
    struct Options {
        Outgoing outgoing = {};
        std::vector<std::string> allowed = {};      // see way_to()
        std::vector<std::string> environment = {};  // of programs that tell people
        // By the tool's name: signs what is told of a call that ended before it could pause.
        std::map<std::string, std::string, std::less<>> tool_secrets = {};
        // Tells a program that is an agent (`row`: of Letter::Kind::program) what was deleted;
        // `done` comes once. Error: wrong_kind and not_found are for good.
        using Told = port::Fn<void(Result<void>)>;
        std::function<void(port::PostRow const& row, std::string const& body, Told done)> program =
            {};
        // What was given up so long ago is forgotten; nullopt: never.
        std::optional<Duration> given_up_after = Duration(30LL * 24 * 3'600'000);
        // What is told of each attempt that failed: the delivery, why, and whether it was the last.
        std::function<void(port::PostRow const&, std::string const&, bool)> failed = {};
    };
    // Everything in `world` outlives this.
    Pump(World world, Options options);
    ~Pump();
    Pump(Pump const&) = delete;
    Pump& operator=(Pump const&) = delete;

    void start();
    // Something has become durable.
    void wake();
    // Begins nothing more; what is on its way is cut off, and found again by the next process.
    void stop();
    [[nodiscard]] std::size_t busy() const { return at_work_.size(); }

    static constexpr std::size_t at_once = 384;
    // To one receiver; to one that has not taken the newest yet, one.
    static constexpr std::size_t at_once_each = 4;
    // What those that do not answer can hold for the whole time limit leaves room for the others:
    // those whose newest attempt failed have a small share, those that nobody knows a larger one,
    // and beyond `at_once_more` each has one.
    static constexpr std::size_t at_once_failing = 64;
    static constexpr std::size_t at_once_strangers = 320;
    static constexpr std::size_t at_once_more = 256;
    // Whether one more may begin, when `to_it` of `busy` are on their way to it, and `failing` to
    // receivers that fail.
    [[nodiscard]] static bool has_room(Standing standing, std::size_t to_it, std::size_t busy,
                                       std::size_t failing);
    static constexpr Duration time_limit{15'000};
    // One that nobody knows is cut off after it while others wait for its place. So the last of n
    // that come at once has its first attempt within n / at_once_strangers times this and a second,
    // whatever the others do.
    static constexpr Duration chance{5'000};
    static constexpr Duration kept_for{7 * 24 * 3'600'000};  // what was delivered
    static constexpr std::uint32_t dropped_at_once = 1'000;  // of those given up

private:
    struct Work {
        port::PostRow row;
        Letter letter;
        port::HttpId request = 0;
        port::Processes::Number process = 0;
        int status = 0;
        std::optional<Duration> retry_after = {};
        Standing standing = Standing::stranger;  // of its receiver, when this began
        Duration begun{};
    };
    struct Next {
        port::PostRow row;
        Standing standing = Standing::stranger;
    };

    // What may begin now, and behind which receiver to look next; empty: from the first one.
    struct Due {
        std::vector<Next> rows;
        std::string next;
        std::string turn;      // see turn_
        bool crowded = false;  // a stranger found no room
    };

    void scan();
    void scanned(Result<Due> due);
    [[nodiscard]] port::Fn<Result<Due>(port::OutboxStore&)> question() const;
    void begin(Next next);
    void make_room();
    void remember(std::string const& target, bool answered);
    void send(port::PostKey const& key, std::string const& url, std::string const& secret,
              bool signed_plain);
    void send_call(port::PostKey const& key);
    void send_event(port::PostKey const& key);
    void send_notice(port::PostKey const& key);
    void tell_program(port::PostKey const& key);
    void run(port::PostKey const& key, Notice const& notice);
    void answered(port::PostKey const& key, std::optional<port::HttpFailure> failure);
    void delivered(port::PostKey const& key);
    void failed(port::PostKey const& key, std::string const& why, bool for_good);
    void disable(port::PostKey const& key, std::string const& why);
    void finish(port::PostKey const& key, port::PostUpdate update);
    void release(port::PostKey const& key);
    void prune();
    void drop_given_up();

    World world_;
    Options options_;
    std::map<port::PostKey, Work> at_work_;
    std::map<std::string, std::size_t> to_;  // how many are on their way there
    std::size_t failing_ = 0;                // of those on their way: to receivers that fail
    std::map<std::string, bool> newest_;     // by receiver: whether its newest attempt succeeded
    std::set<std::string> disabled_;         // receivers of events that said 410
    std::string next_;                       // behind this receiver the next look begins
    std::string turn_;  // the stranger that had its first attempt last: those behind it come first
    bool scanning_ = false;
    bool again_ = false;
    bool stopped_ = false;
    Time pruned_{};
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::webhook
