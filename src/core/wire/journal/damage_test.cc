// Stored bytes that are wrong although their checksums are right: written by a defective release,
// or edited by hand. Folding any such bytes gives a state on which commands can be decided, or an
// error; it never stops the process.
#include "json/json.h"
#include "session/replay.h"
#include "wire/outbox_json.h"
#include "wire/state_json.h"
#include "wire/testing/story.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace dormouse::wire {
namespace {

using namespace dormouse::session;
using Chance = std::mt19937;

Result<State> fold(SessionId const& id, std::string const& frame) {
    auto const records = unpack(id, 1, frame);
    if (!records) return std::unexpected(records.error());
    State state;
    state.id = id;
    History history(id);
    for (RecordPtr const& record : *records) {
        if (auto done = replay(state, record->event); !done)
            return std::unexpected(std::move(done.error()));
        history.add(*record);
    }
    if (auto sound = check_sound(state); !sound) return std::unexpected(std::move(sound.error()));
    return state;
}

// Loads a session as a lane does. The lane marks a session unreadable if its state contradicts
// itself; nothing else may happen.
void go_on(State state) {
    auto const say = [&](Command::Body body) {
        Command command;
        command.body = std::move(body);
        Context context;
        context.at = state.updated + Duration(86'400'000);
        context.epoch = 99;
        try {
            (void)decide(state, command, context);
        } catch (std::logic_error const&) {
            state = State();
        }
    };
    auto const epochs = intent_epochs(state);
    say(Adopt{{}, {epochs.begin(), epochs.end()}});
    say(Tick{});
    Prompt prompt;
    prompt.parts = Json::trusted(R"([{"type":"text","text":"x"}])");
    prompt.answer_output = Json::trusted("\"x\"");
    say(prompt);
    say(Cancel{Cancel::Scope::all, {}});
    say(Move{Move::To::end, ""});
    say(Delete{});
}

std::vector<std::string> elements_of(std::string const& array) {
    std::vector<std::string> out;
    json::View(array).elements([&](json::View item) { out.emplace_back(item.raw()); });
    return out;
}

std::string joined(std::vector<std::string> const& items) {
    std::string out = "[";
    for (std::string const& item : items) out += (out.size() == 1 ? "" : ",") + item;
    return out + "]";
}

// A record of the same type with one number, word or member changed.
std::string bent(std::string record, Chance& chance) {
    static std::array<std::string, 9> const values{
        "0", "1", "7", "-1", "99999999999", "null", "\"x\"", "[]", "{\"a\":[]}"};
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i + 1 < record.size(); ++i) {
        if (record[i] == ':' || record[i] == ',' || record[i] == '[') places.push_back(i + 1);
    }
    if (places.empty()) return record;
    std::size_t const at = places[chance() % places.size()];
    std::size_t end = at;
    while (end < record.size() && std::string_view(",]}:").find(record[end]) == std::string::npos)
        ++end;
    return record.replace(at, end - at, values[chance() % values.size()]);
}

std::string damaged(std::string const& frame, Chance& chance) {
    auto items = elements_of(frame);
    if (items.empty()) return frame;
    std::size_t const at = chance() % items.size();
    auto const place = items.begin() + static_cast<std::ptrdiff_t>(at);
    switch (chance() % 7) {
        case 0: items.erase(place); break;
        case 1: items.insert(place, items[chance() % items.size()]); break;
        case 2: std::swap(items[at], items[chance() % items.size()]); break;
        case 3: items[at] = bent(items[at], chance); break;
        case 4: items[at] = "[" + std::to_string(chance() % 9) + "]"; break;
        default: {
            std::string flipped = joined(items);
            std::size_t const byte = chance() % flipped.size();
            flipped[byte] = static_cast<char>(flipped[byte] ^ (1U << chance() % 8));
            return flipped;
        }
    }
    return joined(items);
}

TEST(Damage, Journal_OfAnyKind_IsReadOrRefused) {
    std::size_t read = 0, refused = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        auto const sample = testing::story(seed, 30);
        std::string const frame = pack(sample.id, testing::records_of(sample));
        ASSERT_TRUE(fold(sample.id, frame));
        Chance chance(seed);
        for (int i = 0; i < 60; ++i) {
            SCOPED_TRACE(std::to_string(seed) + "." + std::to_string(i));
            std::string bytes = damaged(frame, chance);
            if (i % 3 == 0) bytes = damaged(bytes, chance);
            auto state = fold(sample.id, bytes);
            ++(state ? read : refused);
            if (state) go_on(*std::move(state));
        }
    }
    EXPECT_GT(read, 100U);
    EXPECT_GT(refused, 1'000U);
}

TEST(Damage, Snapshot_OfAnyKind_IsReadOrRefused) {
    std::size_t read = 0, refused = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        auto const sample = testing::story(seed, 30);
        std::string const text = write_state(sample.state);
        Chance chance(seed);
        for (int i = 0; i < 60; ++i) {
            SCOPED_TRACE(std::to_string(seed) + "." + std::to_string(i));
            std::string bytes = text;
            for (std::size_t n = chance() % 3 + 1; n > 0; --n) bytes = bent(bytes, chance);
            if (i % 5 == 0) bytes[chance() % bytes.size()] = 'x';
            auto state = read_state(sample.id, bytes);
            bool const sound = state && check_sound(*state);
            ++(sound ? read : refused);
            if (sound) go_on(*std::move(state));
        }
    }
    EXPECT_GT(read, 100U);
    EXPECT_GT(refused, 500U);
}

// As stored by a release that did not check a model's arguments.
TEST(Damage, Journal_WithTruncatedArguments_IsRefused) {
    auto const sample = testing::story(3, 30);
    std::string frame = pack(sample.id, testing::records_of(sample));
    std::size_t const at = frame.find("\"input\":{");
    ASSERT_NE(at, std::string::npos);
    frame.insert(at + 9, "{\"what\":\"a\"");
    auto const state = fold(sample.id, frame);
    ASSERT_FALSE(state);
    EXPECT_EQ(state.error().code, Code::internal);
    EXPECT_TRUE(state.error().detail.contains(sample.id.text())) << state.error().detail;
}

TEST(Damage, Journal_WithValuesOfAnOlderRelease_IsRead) {
    auto const sample = testing::story(3, 30);
    std::string frame = pack(sample.id, testing::records_of(sample));
    std::size_t const at = frame.find("\"parts\":[{");
    ASSERT_NE(at, std::string::npos);
    frame.insert(at + 10, "\"k\":\"\xff\",\"k\":1e999,");
    EXPECT_TRUE(fold(sample.id, frame));
}

TEST(Damage, OutboxMessages_OfAnyKind_AreReadOrRefused) {
    for (std::string const text : {"", "{", "[]", "{\"kind\":7}", "{\"kind\":\"start_run\"",
                                   "{\"kind\":\"start_run\",\"parts\":[}"})
        EXPECT_FALSE(read_outbox_body(text)) << text;
}

}  // namespace
}  // namespace dormouse::wire
