#include "http/transport/connection/connection_state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace dormouse::http {
namespace {

using Phase = ConnectionState::Phase;
using Limit = ConnectionState::Limit;
using Event = ConnectionEvent;
using Do = ConnectionAction;
using Actions = std::vector<Do>;

class ConnectionStateTest : public ::testing::Test {
protected:
    Actions on(Event event) {
        ConnectionStep const out = step(state, event, buffered);
        state = out.next;
        return {out.actions.begin(), out.actions.end()};
    }
    // Connects a client; the connection waits for input.
    void open() {
        state = {};
        buffered = {};
        on(Event::open);
        on(Event::settle);
    }
    // Input has arrived, and the connection is parsing requests.
    void receive() {
        open();
        on(Event::readable);
        EXPECT_EQ(on(Event::input), Actions{Do::take_requests});
    }
    void handle() {
        receive();
        on(Event::begin);
        on(Event::handle);
    }
    // The handler will answer later.
    void wait_for_handler() {
        handle();
        on(Event::taken);
        on(Event::settle);
    }
    void expect(Phase phase) { EXPECT_EQ(state.phase, phase) << static_cast<int>(state.phase); }
    void expect(Phase phase, Limit limit) {
        expect(phase);
        EXPECT_EQ(state.limit(), limit) << static_cast<int>(state.limit());
    }

    ConnectionState state;
    ConnectionBytes buffered;
};

TEST_F(ConnectionStateTest, Request_IsReadHandledAndAnswered) {
    EXPECT_EQ(on(Event::open), Actions{Do::start_deadline});
    EXPECT_EQ(on(Event::settle), Actions{Do::wait_input});
    expect(Phase::opening, Limit::header);
    EXPECT_EQ(on(Event::settle), Actions{}) << "one wait at a time";
    EXPECT_EQ(on(Event::readable), Actions{Do::read_input});
    EXPECT_EQ(on(Event::input), Actions{Do::take_requests});
    EXPECT_EQ(on(Event::begin), Actions{Do::start_deadline});
    expect(Phase::head, Limit::header);
    EXPECT_EQ(on(Event::admit), Actions{Do::start_deadline});
    expect(Phase::body, Limit::body);
    EXPECT_EQ(on(Event::handle), Actions{Do::start_deadline});
    expect(Phase::handling, Limit::none);
    buffered.unwritten = 10;
    EXPECT_EQ(on(Event::reply), Actions{Do::start_deadline}) << "written with those behind it";
    expect(Phase::idle, Limit::idle);
    EXPECT_EQ(on(Event::taken), Actions{Do::write});
    buffered.unwritten = 0;
    EXPECT_EQ(on(Event::written), Actions{});
    EXPECT_EQ(on(Event::settle), Actions{Do::wait_input}) << "for the next request";
}

TEST_F(ConnectionStateTest, PartialRequestAfterABody_HasItsOwnLimit) {
    receive();
    for (Event const event : {Event::begin, Event::admit, Event::handle, Event::reply}) on(event);
    EXPECT_EQ(on(Event::begin), Actions{Do::start_deadline});
    expect(Phase::head, Limit::header);
}

TEST_F(ConnectionStateTest, PipelinedRequest_WaitsForTheEarlierReply) {
    wait_for_handler();
    on(Event::readable);
    EXPECT_EQ(on(Event::input), Actions{Do::keep_input});
    buffered.unread = ConnectionState::input_max;
    EXPECT_EQ(on(Event::settle), Actions{}) << "no more is read";
    EXPECT_EQ(on(Event::reply), (Actions{Do::start_deadline, Do::take_later}))
        << "not from inside the handler's call";
    EXPECT_EQ(on(Event::resume), Actions{Do::take_requests});
}

TEST_F(ConnectionStateTest, PipelinedRequests_WaitForAClientThatDoesNotRead) {
    receive();
    buffered.unwritten = ConnectionState::output_max;
    EXPECT_EQ(on(Event::flush), Actions{Do::write});
    EXPECT_EQ(on(Event::output_blocked), Actions{Do::wait_output});
    EXPECT_EQ(on(Event::flush), Actions{}) << "there is no room yet";
    buffered.unread = 100;
    EXPECT_EQ(on(Event::output_full), Actions{});
    EXPECT_EQ(on(Event::settle), Actions{});
    EXPECT_EQ(on(Event::writable), Actions{Do::write});
    EXPECT_EQ(on(Event::resume), Actions{Do::take_requests});
}

TEST_F(ConnectionStateTest, RefusedHeadWithoutBody_KeepsTheConnection) {
    receive();
    on(Event::begin);
    EXPECT_EQ(on(Event::reply), Actions{Do::start_deadline});
    expect(Phase::idle);
    on(Event::begin);
    on(Event::end_after_reply);  // 413: the body is not read
    EXPECT_EQ(on(Event::reply), (Actions{Do::start_deadline, Do::drop_input}));
    expect(Phase::ending, Limit::body);
    EXPECT_EQ(on(Event::taken), Actions{Do::write});
    EXPECT_EQ(on(Event::written), (Actions{Do::start_deadline, Do::shut_output}));
    expect(Phase::lingering, Limit::linger);
    EXPECT_EQ(on(Event::settle), Actions{Do::wait_input});
    on(Event::readable);
    EXPECT_EQ(on(Event::input), Actions{Do::discard_input}) << "the body that comes all the same";
    EXPECT_EQ(on(Event::time_limit), Actions{Do::release});
}

TEST_F(ConnectionStateTest, ReplyWithASource_IsReadAndWrittenInTurn) {
    wait_for_handler();
    buffered = {.unwritten = 10, .body_left = 20};
    EXPECT_EQ(on(Event::reply), (Actions{Do::start_deadline, Do::write}));
    expect(Phase::sending, Limit::body);
    buffered.unwritten = 0;
    EXPECT_EQ(on(Event::written), (Actions{Do::start_deadline, Do::read_source}));
    expect(Phase::pulling, Limit::body);
    buffered = {.unwritten = 20, .body_left = 0};
    EXPECT_EQ(on(Event::piece), (Actions{Do::start_deadline, Do::write}));
    EXPECT_EQ(on(Event::output_blocked), Actions{Do::wait_output});
    EXPECT_EQ(on(Event::writable), (Actions{Do::start_deadline, Do::write}));
    buffered.unwritten = 0;
    EXPECT_EQ(on(Event::written), (Actions{Do::drop_source, Do::start_deadline}));
    expect(Phase::idle, Limit::idle);
    EXPECT_EQ(on(Event::resume), Actions{}) << "nothing came meanwhile";
}

TEST_F(ConnectionStateTest, LastReplyWithASource_EndsTheConnection) {
    wait_for_handler();
    buffered = {.unwritten = 10, .body_left = 20};
    on(Event::reply);
    EXPECT_EQ(on(Event::finish), Actions{});
    buffered = {};
    EXPECT_EQ(on(Event::written),
              (Actions{Do::drop_source, Do::start_deadline, Do::drop_input, Do::shut_output}));
    expect(Phase::lingering);
}

TEST_F(ConnectionStateTest, HalfClosedClient_GetsItsRepliesAndTheEnd) {
    wait_for_handler();
    on(Event::readable);
    EXPECT_EQ(on(Event::input_ended), Actions{});
    EXPECT_EQ(on(Event::settle), Actions{}) << "nothing more is read";
    buffered.unwritten = 10;
    EXPECT_EQ(on(Event::reply), (Actions{Do::start_deadline, Do::drop_input, Do::write}));
    expect(Phase::ending, Limit::body);
    EXPECT_EQ(on(Event::written), Actions{Do::release});
    wait_for_handler();
    on(Event::readable);
    on(Event::input_ended);
    buffered = {.unread = 50, .unwritten = 10};
    EXPECT_EQ(on(Event::reply), (Actions{Do::start_deadline, Do::take_later}));
    EXPECT_EQ(on(Event::resume), Actions{Do::take_requests});
    buffered.unread = 0;
    EXPECT_EQ(on(Event::taken), (Actions{Do::start_deadline, Do::drop_input, Do::write}));
    expect(Phase::ending);
}

TEST_F(ConnectionStateTest, ClientThatLeaves_ClosesItsStream) {
    for (Event const end : {Event::input_ended, Event::broken}) {
        handle();
        EXPECT_EQ(on(Event::stream), (Actions{Do::start_deadline, Do::drop_input}));
        expect(Phase::streaming, Limit::heartbeat);
        EXPECT_EQ(on(Event::taken), Actions{Do::write});
        on(Event::settle);
        on(Event::readable);
        EXPECT_EQ(on(end), Actions{Do::release});
        EXPECT_EQ(on(Event::end_stream), Actions{}) << "the handler drops its stream later";
    }
}

TEST_F(ConnectionStateTest, Stream_SendsHeartbeatsAndEnds) {
    wait_for_handler();
    EXPECT_EQ(on(Event::stream), (Actions{Do::start_deadline, Do::drop_input, Do::write_soon}));
    EXPECT_EQ(on(Event::flush), Actions{Do::write});
    EXPECT_EQ(on(Event::written), (Actions{Do::start_deadline, Do::notify_drained}));
    EXPECT_EQ(on(Event::time_limit), (Actions{Do::start_deadline, Do::send_heartbeat}));
    EXPECT_EQ(on(Event::end_stream), (Actions{Do::start_deadline, Do::write_soon}));
    expect(Phase::stopping, Limit::body);
    EXPECT_EQ(on(Event::end_stream), Actions{});
    on(Event::flush);
    EXPECT_EQ(on(Event::output_blocked), Actions{Do::wait_output});
    EXPECT_EQ(on(Event::writable), Actions{Do::write}) << "all of it within one limit";
    EXPECT_EQ(on(Event::written), (Actions{Do::start_deadline, Do::shut_output}));
    expect(Phase::lingering);
}

TEST_F(ConnectionStateTest, TimeLimit_IsReportedToAClientThatReads) {
    open();
    EXPECT_EQ(on(Event::time_limit), Actions{Do::release}) << "it has asked for nothing";
    for (Event const event : {Event::time_limit, Event::cut}) {
        bool const slow = event == Event::time_limit;
        receive();
        on(Event::begin);
        on(Event::taken);
        EXPECT_EQ(on(event), Actions{slow ? Do::reply_timeout : Do::reply_overloaded});
        on(Event::end_after_reply);
        EXPECT_EQ(on(Event::reply), (Actions{Do::start_deadline, Do::drop_input, Do::write}));
        receive();
        on(Event::begin);
        on(Event::taken);
        buffered.unwritten = 1;
        EXPECT_EQ(on(event), Actions{Do::release}) << "it does not read";
    }
}

TEST_F(ConnectionStateTest, Finish_ClosesIdleAndWaitsForTheRest) {
    open();
    EXPECT_EQ(on(Event::finish), Actions{Do::release});
    wait_for_handler();
    EXPECT_EQ(on(Event::finish), Actions{});
    EXPECT_EQ(on(Event::reply), (Actions{Do::start_deadline, Do::drop_input, Do::write}));
    expect(Phase::ending);
    handle();
    on(Event::reply);
    buffered.unwritten = 10;
    on(Event::taken);
    on(Event::output_blocked);
    EXPECT_EQ(on(Event::finish), (Actions{Do::start_deadline, Do::drop_input}));
    expect(Phase::ending);  // the earlier reply is written first
    handle();
    on(Event::stream);
    EXPECT_EQ(on(Event::finish), (Actions{Do::start_deadline, Do::write_soon}));
    expect(Phase::stopping);
}

TEST_F(ConnectionStateTest, TlsHandshake_BlocksInputUntilItIsDone) {
    open();
    on(Event::readable);
    EXPECT_EQ(on(Event::input_blocked), Actions{Do::wait_input});
    EXPECT_EQ(on(Event::settle), Actions{});
    expect(Phase::opening, Limit::header);
    EXPECT_EQ(on(Event::time_limit), Actions{Do::release});
}

TEST_F(ConnectionStateTest, ConnectionOverTheLimit_IsRefusedUnread) {
    on(Event::end_after_reply);
    buffered.unwritten = 10;
    EXPECT_EQ(on(Event::reply), (Actions{Do::start_deadline, Do::drop_input, Do::write}));
    expect(Phase::ending, Limit::body);
}

TEST_F(ConnectionStateTest, Closed_StaysClosed) {
    wait_for_handler();
    EXPECT_EQ(on(Event::close), Actions{Do::release});
    for (Event const late :
         {Event::readable, Event::piece, Event::broken, Event::resume, Event::flush,
          Event::end_stream, Event::finish, Event::settle, Event::close}) {
        EXPECT_EQ(on(late), Actions{});
        expect(Phase::closed, Limit::none);
    }
}

TEST_F(ConnectionStateTest, ImpossibleEvents_EndTheProcess) {
    open();
    EXPECT_DEATH(on(Event::reply), "broken invariant") << "to no request";
    EXPECT_DEATH(on(Event::begin), "broken invariant") << "nothing was read";
    EXPECT_DEATH(on(Event::writable), "broken invariant") << "nothing waited for it";
    EXPECT_DEATH(on(Event::piece), "broken invariant");
    EXPECT_DEATH(on(Event::open), "broken invariant");
    handle();
    EXPECT_DEATH(on(Event::begin), "broken invariant") << "one request at a time";
    EXPECT_DEATH(on(Event::time_limit), "broken invariant") << "nobody hurries a handler";
    on(Event::reply);
    EXPECT_DEATH(on(Event::reply), "broken invariant") << "one reply to a request";
    EXPECT_DEATH(on(Event::stream), "broken invariant");
    on(Event::close);
    EXPECT_DEATH(on(Event::reply), "broken invariant");
}

// A connection with a socket, a handler and a source of bodies that do anything they may do at
// random. Performs each action as Connection does, and checks that it is allowed.
class World {
public:
    explicit World(std::vector<std::uint32_t> numbers) : numbers_(std::move(numbers)) {
        if (pick(16) == 0) {  // a connection over the limit
            on(Event::end_after_reply);
            ++requests_;
            put_reply();
        } else {
            on(Event::open);
        }
        settle();
    }

    [[nodiscard]] bool more() const { return at_ < numbers_.size(); }
    [[nodiscard]] bool closed() const { return state_.phase == Phase::closed; }

    // Does one random thing that may happen now.
    void anything() {
        switch (pick(12)) {
            case 0:
            case 1:
            case 2:
                if (input_wait_) input_is_ready();
                break;
            case 3:
            case 4:
                if (output_wait_) output_is_ready();
                break;
            case 5:
            case 6: go_on(); break;
            case 7: frames(); break;
            case 8:
                if (state_.phase == Phase::streaming && pick(4) == 0) on(Event::end_stream);
                break;
            case 9:
                if (state_.limit() != Limit::none && pick(4) == 0) on(Event::time_limit);
                break;
            case 10:
                if (state_.phase != Phase::handling && pick(8) == 0) on(Event::cut);
                break;
            default: end(); break;
        }
        settle();
    }

    // The client does nothing any more; everything else runs to its end.
    void run_out() {
        if (!closed()) on(Event::finish);
        settle();
        for (int i = 0; i < 100 && !closed(); ++i) {
            if (!go_on() && state_.limit() != Limit::none) on(Event::time_limit);
            settle();
        }
        RC_ASSERT(closed());
        if (std::exchange(input_wait_, false)) on(Event::readable);
        if (std::exchange(output_wait_, false)) on(Event::writable);
        RC_ASSERT(released_ == 1U);
    }

private:
    static constexpr std::size_t chunk = 64 * 1024;
    static constexpr std::size_t header_max = 32 * 1024;

    std::uint32_t pick(std::uint32_t below) { return more() ? numbers_[at_++] % below : 0; }

    void on(Event event) {
        ConnectionState const before = state_;
        ConnectionStep const out = step(state_, event, buffered_);
        state_ = out.next;
        if (before.phase == Phase::closed) RC_ASSERT(out.actions.empty() && closed());
        bool const entered = before.phase != state_.phase;
        bool const starts = std::ranges::count(out.actions, Do::start_deadline) == 1;
        if (entered && !closed()) RC_ASSERT(starts);
        for (Do const action : out.actions) perform(action);
    }

    void perform(Do action) {
        switch (action) {
            case Do::start_deadline: deadline_ = state_.limit(); return;
            case Do::wait_input: return wait(input_wait_, !state_.client_ended);
            case Do::wait_output: return wait(output_wait_, output() > 0);
            case Do::read_input: return read();
            case Do::take_requests: return take_requests();
            case Do::take_later: ++resumes_; return;
            case Do::keep_input:
                RC_ASSERT(buffered_.unread < ConnectionState::input_max);
                buffered_.unread += std::exchange(fresh_, 0);
                return;
            case Do::discard_input: fresh_ = 0; return;
            case Do::drop_input:
                buffered_.unread = 0;
                // The client has closed in the middle of a request.
                if (state_.client_ended) requests_ = 0;
                return;
            case Do::read_source: return wait(source_, buffered_.body_left > 0);
            case Do::drop_source: RC_ASSERT(buffered_.body_left == 0U); return;
            case Do::reply_timeout:
            case Do::reply_overloaded: on(Event::end_after_reply); return put_reply();
            case Do::write: return write();
            case Do::write_soon: flush_ = true; return;
            case Do::notify_drained: RC_ASSERT(queue_ == 0U); return frames();
            case Do::send_heartbeat: return send(3);
            case Do::shut_output: RC_ASSERT(output() == 0U); return;
            case Do::release:
                ++released_;
                buffered_ = {};
                queue_ = 0;
                source_ = false;
                return;
        }
    }

    // Checks that at most one wait of a kind is pending, and that it has a reason.
    static void wait(bool& pending, bool has_reason) {
        RC_ASSERT(!pending && has_reason);
        pending = true;
    }

    std::size_t& output() {
        bool const stream = state_.phase == Phase::streaming || state_.phase == Phase::stopping;
        return stream ? queue_ : buffered_.unwritten;
    }

    void input_is_ready() {
        input_wait_ = false;
        on(Event::readable);
    }
    void output_is_ready() {
        output_wait_ = false;
        on(Event::writable);
        on(Event::resume);
    }

    void read() {
        auto const what = pick(16);
        if (what == 0) return on(Event::input_ended);
        if (what == 1) return on(Event::input_blocked);
        if (what == 2) return on(Event::broken);
        fresh_ = 1 + pick(chunk);
        on(Event::input);
    }

    void write() {
        RC_ASSERT(!output_wait_);
        std::size_t& bytes = output();
        if (bytes == 0 && state_.phase == Phase::streaming) return;
        auto const what = bytes == 0 ? 8 : pick(16);
        if (what == 0) return on(Event::broken);
        if (what < 8) {
            bytes -= pick(static_cast<std::uint32_t>(bytes));
            return on(Event::output_blocked);
        }
        bytes = 0;
        on(Event::written);
    }

    void take_requests() {
        std::size_t input = std::exchange(buffered_.unread, 0) + std::exchange(fresh_, 0);
        while (input > 0 && may_take()) {
            if (input <= header_max && pick(8) == 0) {
                begin();
                break;  // the head is incomplete
            }
            take();
            input -= std::min<std::size_t>(input, 1 + pick(20'000));
        }
        if (state_.keeps_input()) buffered_.unread = input;
        bool const full = state_.takes_requests() && buffered_.unread > 0 && !buffered_.has_room();
        on(full ? Event::output_full : Event::taken);
    }

    bool may_take() {
        if (state_.takes_requests() && !buffered_.has_room()) on(Event::flush);
        return state_.takes_requests() && buffered_.has_room();
    }

    void begin() {
        if (state_.phase != Phase::opening && state_.phase != Phase::idle) return;
        RC_ASSERT(requests_ == 0);
        ++requests_;
        on(Event::begin);
    }

    void take() {
        begin();
        auto const what = pick(8);
        if (what == 1) on(Event::end_after_reply);
        if (what == 1 || what == 2) {
            put_reply();
        } else if (what <= 4 && state_.phase == Phase::head) {
            on(Event::admit);
        } else {
            on(Event::handle);
            handle();
        }
    }

    // The handler replies now, makes a stream now, or does neither.
    void handle() {
        auto const what = pick(8);
        if (what == 0) return;
        if (what <= 2) buffered_.body_left = (1 + pick(3)) * chunk;
        if (what != 3) return put_reply();
        --requests_;
        RC_ASSERT(requests_ == 0);
        queue_ = std::exchange(buffered_.unwritten, 0) + 100;
        on(Event::stream);
    }

    void put_reply() {
        --requests_;
        RC_ASSERT(requests_ == 0);
        RC_ASSERT(buffered_.has_room() || !state_.taking);
        buffered_.unwritten += 100 + pick(100'000);
        on(Event::reply);
    }

    void send(std::size_t bytes) {
        queue_ += bytes;
        flush_ = true;
    }

    void frames() {
        if (state_.phase == Phase::streaming) send(pick(2'000));
    }

    // Does what happens without the client. Returns false if nothing is left to do.
    bool go_on() {
        if (resumes_ > 0) {
            --resumes_;
            on(Event::resume);
        } else if (std::exchange(flush_, false)) {
            on(Event::flush);
        } else if (std::exchange(source_, false)) {
            buffered_.body_left -= chunk;
            buffered_.unwritten = chunk;
            on(Event::piece);
            on(Event::resume);
        } else if (state_.phase == Phase::handling) {
            more() ? handle() : put_reply();
        } else {
            return false;
        }
        return true;
    }

    void end() {
        auto const what = pick(32);
        if (what == 0) on(Event::finish);
        if (what == 1) on(Event::close);
        if (what == 2 && source_) {
            source_ = false;
            on(Event::broken);
        }
    }

    void settle() {
        on(Event::settle);
        RC_ASSERT(!state_.taking);
        RC_ASSERT(released_ == (closed() ? 1U : 0U));
        if (closed()) return;
        RC_ASSERT(deadline_ == state_.limit());
        RC_ASSERT(state_.reads == input_wait_ && state_.writes == output_wait_);
        RC_ASSERT(source_ == (state_.phase == Phase::pulling));
        bool const has_request = state_.phase == Phase::head || state_.phase == Phase::body ||
                                 state_.phase == Phase::handling;
        RC_ASSERT(requests_ == (has_request ? 1 : 0));
        RC_ASSERT(buffered_.unread <= ConnectionState::input_max + chunk);
        RC_ASSERT(buffered_.unwritten <= ConnectionState::output_max + 2 * chunk);
        // Checks that everything buffered has a wait or will be continued.
        bool const continues = output_wait_ || resumes_ > 0 || flush_;
        if (output() > 0) RC_ASSERT(continues);
        if (state_.phase == Phase::idle && buffered_.unread > 0) RC_ASSERT(continues);
        RC_ASSERT(continues || input_wait_ || source_ || state_.phase == Phase::handling);
        if (!input_wait_ && state_.takes_requests()) RC_ASSERT(continues);
    }

    std::vector<std::uint32_t> numbers_;
    std::size_t at_ = 0;
    ConnectionState state_;
    ConnectionBytes buffered_;
    std::size_t fresh_ = 0;  // bytes read and not kept
    std::size_t queue_ = 0;  // bytes queued in the event stream
    Limit deadline_ = Limit::none;
    bool input_wait_ = false;
    bool output_wait_ = false;
    bool source_ = false;  // a read is pending
    bool flush_ = false;   // `flush` is due
    int resumes_ = 0;      // pending `resume` events
    int requests_ = 0;     // requests without a reply
    unsigned released_ = 0;
};

// Each request has at most one reply, at most one wait of a kind is pending, each phase has its
// time limit, buffered bytes are bounded and never forgotten, and each connection ends.
RC_GTEST_PROP(ConnectionStateProperty, AnyEvents_KeepEachPromiseAndEnd, ()) {
    World world(*rc::gen::scale(
        8.0, rc::gen::container<std::vector<std::uint32_t>>(rc::gen::resize(
                 rc::kNominalSize, rc::gen::inRange<std::uint32_t>(0, 1U << 24U)))));
    while (world.more() && !world.closed()) world.anything();
    world.run_out();
}

}  // namespace
}  // namespace dormouse::http
