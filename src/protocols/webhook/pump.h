#pragma once
// Sends the messages that outbox_of() created: signed, to public addresses, and repeated until they
// are accepted or the attempts are used up. A row stays in the store until then, so after a crash
// it is sent again with the same webhook-id. Runs on the loop.

#include "base/scope.h"
#include "port/http.h"
#include "port/process.h"
#include "webhook/kinds/kinds.h"
#include "webhook/kinds/web_push.h"
#include "webhook/outgoing.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dormouse::webhook {

// Delays of the attempts, each counted from the one before; there are no more.
inline constexpr std::array<Duration, 8> attempts_after{
    Duration(0),         Duration(5'000),      Duration(300'000),    Duration(1'800'000),
    Duration(7'200'000), Duration(18'000'000), Duration(36'000'000), Duration(36'000'000)};
// Returns nullopt after the last attempt. `jitter` (0 to 255) delays attempts by up to a tenth.
[[nodiscard]] std::optional<Duration> next_attempt(std::uint32_t made, std::uint8_t jitter);

// Why nothing may be sent to a URL; empty: it is allowed. `allowed`: host[:port] that may be
// reached although they are not public, also by http.
struct UrlPolicy {
    std::string refusal = {};
    bool public_only = true;
};
[[nodiscard]] UrlPolicy url_policy(std::string_view url, std::vector<std::string> const& allowed);

// The result of the newest attempt; `unknown`: there was none.
enum class ReceiverHealth : std::uint8_t { answering, unknown, failing };

// One attempt to send a message.
struct Attempt {
    DeliveryId id;
    std::uint32_t number = 1;
    std::string_view target;
    session::TraceHeaders trace;  // Letter::trace
    Time begun{};
    int status = 0;        // of HTTP; 0: no response, or another protocol
    std::string_view why;  // why it failed; empty: it was accepted
};

class Pump {
public:
    struct Services {
        port::Loop& loop;
        port::Clock& clock;
        port::Entropy& entropy;
        port::StoreView<port::OutboxStore> outbox;
        port::HttpClient& http;
        port::Processes& processes;
    };
    struct Options {
        Outgoing outgoing = {};
        std::vector<std::string> allowed = {};      // see url_policy()
        std::vector<std::string> environment = {};  // of notification commands
        // By tool name: the secret that signs the outcome of a call that ended before it could
        // pause.
        std::map<std::string, std::string, std::less<>> tool_secrets = {};
        // Notifies an external agent of what was deleted (`row` is of Letter::Kind::program).
        // `done` is called once. The errors wrong_kind and not_found are permanent.
        using Done = port::Fn<void(Result<void>)>;
        std::function<void(port::OutboxRow const& row, std::string const& body, Done done)>
            external_agent = {};
        // Sends a notification by e-mail; `id` names the delivery. `done` is called once. The
        // errors not_found and bad_value are permanent. A mail may wait for others before it: when
        // its turn comes, it is sent only if `wanted` returns true, else the error is conflict.
        // Empty: no e-mail is sent.
        std::function<void(Notice const& notice, Notification const& it, std::string const& id,
                           std::function<bool()> wanted, Done done)>
            mail = {};
        // Devices of Web Push.
        struct Push {
            std::shared_ptr<VapidTokens> tokens;
            // nullopt: the device was removed, or its token has ended.
            std::function<std::optional<PushDevice>(std::string const& id)> device;
            // Called when the push service does not know the device any more.
            std::function<void(std::string const& id)> gone;
        };
        std::optional<Push> push = {};  // nullopt: nothing is sent to devices
        // Calls `then` once: whether the call still waits. Empty: it does.
        std::function<void(PendingId const&, port::Fn<void(bool)> then)> waits = {};
        // Other processes send messages of the same store.
        struct Sharing {
            // Returns true if this process sends the messages of the session with this number.
            std::function<bool(std::uint64_t number)> has_share;
            // Takes those that no other process has taken; they are due again at `until`. Calls
            // `use` once; after an error with none.
            std::function<void(std::vector<port::OutboxKey> keys, Time until,
                               port::Fn<void(std::vector<port::OutboxKey>)> use)>
                claim;
            // See port::SharedStore::renew(). Calls `use` once.
            std::function<void(std::vector<port::OutboxClaim> claims, Time until,
                               port::Fn<void(Result<std::vector<port::OutboxKey>>)> use)>
                renew;
            // Calls `use` once: whether any process delivered to this target at `since` or later.
            std::function<void(std::string const& target, Time since,
                               port::Fn<void(Result<bool>)> use)>
                delivered_since;
            std::string node = {};  // the name of this process
        };
        std::optional<Sharing> sharing = {};  // nullopt: this process alone sends
        // Rows that were given up are deleted after this time; nullopt: never.
        std::optional<Duration> given_up_after = Duration(30LL * 24 * 3'600'000);
        // Called for each failed attempt: the delivery, the reason, and whether it was the last.
        std::function<void(port::OutboxRow const&, std::string const&, bool)> failed = {};
        // Called for each message that was accepted.
        std::function<void(port::OutboxRow const&)> delivered = {};
        // Called for each notification that was never accepted and whose call has ended.
        std::function<void(port::OutboxRow const&)> withdrawn = {};
        // Called for each attempt that has ended. May be empty.
        std::function<void(Attempt const&)> attempted = {};
    };
    // The settings that may change while it runs; see Outgoing and Options.
    struct Changes {
        std::vector<Hook> hooks = {};
        std::vector<Notice> notices = {};
        std::vector<std::string> allowed = {};
        std::map<std::string, std::string, std::less<>> tool_secrets = {};
        std::optional<Duration> given_up_after = Duration(30LL * 24 * 3'600'000);
    };

    // Everything in `services` outlives this.
    Pump(Services services, Options options);
    ~Pump();
    Pump(Pump const&) = delete;
    Pump& operator=(Pump const&) = delete;

    void start();
    // Call it when something has become durable.
    void wake();
    // Attempts in progress end as they began; the next ones use this. Messages to receivers that
    // are gone are given up; with Sharing only after all attempts, because another process may
    // have read a newer configuration.
    void apply(Changes changes);
    // Starts nothing more. Requests in progress are cut off, and the next process sends them again.
    void stop();
    [[nodiscard]] std::size_t busy() const { return at_work_.size(); }

    static constexpr std::size_t at_once = 384;
    // To one receiver. A receiver whose newest attempt did not succeed gets one.
    static constexpr std::size_t at_once_each = 4;
    // Receivers that do not answer may hold their places for the whole time limit, so they cannot
    // take all places: receivers whose newest attempt failed have a small share, unknown ones a
    // larger one, and above `at_once_more` each receiver gets one.
    static constexpr std::size_t at_once_failing = 64;
    static constexpr std::size_t at_once_unknown = 320;
    static constexpr std::size_t at_once_more = 256;
    // Returns true if another request may start when `busy` are in progress, `to_it` of them to
    // this receiver and `failing` to failing receivers.
    [[nodiscard]] static bool has_capacity(ReceiverHealth health, std::size_t to_it,
                                           std::size_t busy, std::size_t failing);
    static constexpr Duration time_limit{15'000};
    // A request to an unknown receiver is cut off after this time if others wait for a place. So
    // the last of n simultaneous receivers has its first attempt within n / at_once_unknown times
    // this and a second, whatever the others do.
    static constexpr Duration probe_timeout{5'000};
    // Time for which a process claims a message. It renews its claim while the attempt lasts.
    static constexpr Duration claimed_for{20'000};
    static constexpr Duration renew_every{10'000};
    // A message that is overdue by this is for any process to send.
    static constexpr Duration overdue_after{3'000};
    // A process leaves a message whose receiver it does not know to the others for this time; then
    // it counts an attempt as failed. Longer than `overdue_after`, so that they can take it.
    static constexpr Duration unknown_after{10'000};
    // A process that has disabled a receiver reads again whether others delivered to it this long
    // before it last read that: longer than a delivery takes to be stored.
    static constexpr Duration delivered_late{60'000};
    static constexpr Duration kept_for{7 * 24 * 3'600'000};  // after a delivery
    static constexpr std::uint32_t dropped_at_once = 1'000;  // rows that were given up

private:
    struct Work {
        port::OutboxRow row;  // with `sharing` next_at is the end of this process's claim
        Letter letter;
        port::HttpId request = 0;
        port::Processes::Number process = 0;
        int status = 0;
        std::optional<Duration> retry_after = {};
        ReceiverHealth health = ReceiverHealth::unknown;  // of its receiver, at the start
        Duration begun{};
        Time begun_at{};
        // Services: the answer, the message that it took, those that must change, and those that
        // have changed.
        std::string answer = {};
        std::optional<port::SentRow> sent = {};
        std::vector<port::SentRow> open = {};
        std::vector<port::SentRow> closed = {};
        bool renewing = false;  // its claim; an outcome waits for that in `outcome`
        bool lost = false;      // its claim: the message is another process's, or has changed
        bool ended = false;     // its outcome is being stored
        std::optional<port::OutboxUpdate> outcome = {};
    };
    struct Next {
        port::OutboxRow row;
        ReceiverHealth health = ReceiverHealth::unknown;
    };

    // The messages that may start now, and the receiver after which the next scan begins; empty:
    // the first one.
    struct Due {
        std::vector<Next> rows;
        std::string next;
        std::string turn;        // see turn_
        bool saturated = false;  // an unknown receiver found no free place
    };

    void scan();
    void scanned(Result<Due> due);
    // pump_shared.cc: with other processes.
    void claim(std::vector<Next> rows);
    [[nodiscard]] bool has_receiver(port::OutboxRow const& row) const;
    [[nodiscard]] bool has_receiver_of_notice(std::string const& target) const;
    void claimed(std::map<port::OutboxKey, Next> rows, std::vector<port::OutboxKey> const& taken,
                 Time until);
    void renew_later();
    void renew();
    void renewed(std::vector<port::OutboxKey> const& asked, Time until,
                 Result<std::vector<port::OutboxKey>> const& kept);
    [[nodiscard]] bool owns(port::OutboxKey const& key) const;
    void scan_over();
    [[nodiscard]] port::Fn<Result<Due>(port::OutboxStore&)> question() const;
    void begin(Next next);
    void free_capacity();
    void remember(std::string const& target, bool answered);
    void send(port::OutboxKey const& key, std::string const& url, std::string const& secret,
              bool signed_plain);
    void send_call(port::OutboxKey const& key);
    void send_event(port::OutboxKey const& key);
    void send_notice(port::OutboxKey const& key);
    // pump_notices.cc: messages of services.
    using NoticePtr = std::shared_ptr<Notice const>;  // the attempt's own: see apply()
    void send_message(port::OutboxKey const& key, Notice const& notice, Service const& service,
                      Notification const& it);
    void send_mail(port::OutboxKey const& key, Notice const& notice);
    void read_sent(port::OutboxKey const& key, port::Fn<void()> then);
    void change_next(port::OutboxKey const& key, NoticePtr const& notice, Notification const& it);
    void ask_service(port::OutboxKey const& key, ServiceRequest request,
                     port::Fn<void(ServiceReply)> then, Service const& service, bool is_change);
    // pump_push.cc: messages to devices.
    void send_push(port::OutboxKey const& key);
    void push(port::OutboxKey const& key, PushDevice const& device, Notification const& it);
    void pushed(port::OutboxKey const& key, std::string reference);
    void device_gone(port::OutboxKey const& key);
    void postpone(port::OutboxKey const& key, Duration wait);
    void if_waiting(port::OutboxKey const& key, port::Fn<void()> then);
    void withdraw(port::OutboxKey const& key);
    void notify_agent(port::OutboxKey const& key);
    void run(port::OutboxKey const& key, Notice const& notice);
    void take_head(port::OutboxKey const& key, port::HttpHead const& head);
    void answered(port::OutboxKey const& key, std::optional<port::HttpFailure> failure);
    void delivered(port::OutboxKey const& key);
    void failed(port::OutboxKey const& key, std::string const& why, bool for_good);
    void no_receiver(port::OutboxKey const& key, std::string const& why);
    void disable(port::OutboxKey const& key, std::string const& why);
    void disable_again(port::OutboxKey const& key);
    void report(Work const& work, std::string_view why) const;
    void finish(port::OutboxKey const& key, port::OutboxUpdate update);
    void release(port::OutboxKey const& key);
    void prune();
    void drop_given_up();

    Services services_;
    Options options_;
    std::map<port::OutboxKey, Work> at_work_;
    std::map<std::string, std::size_t> to_;  // requests in progress, by receiver
    std::size_t failing_ = 0;                // requests in progress to failing receivers
    std::map<std::string, bool> newest_;     // by receiver: whether the newest attempt succeeded
    // Receivers of events that answered 410; deliveries by other processes since then count.
    std::map<std::string, Time> disabled_;
    std::string next_;  // the next scan begins after this receiver
    std::string
        turn_;  // the unknown receiver with the newest first attempt; those after it come first
    bool scanning_ = false;
    bool again_ = false;
    bool stopped_ = false;
    bool renews_ = false;  // a timer renews claims
    Time pruned_{};
    Scope scope_;
};

}  // namespace dormouse::webhook
