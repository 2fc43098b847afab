#pragma once
// Requests to models, and prompts to external agents: how long they took and the tokens of their
// replies, as the GenAI conventions of OpenTelemetry define both. On the loop.

#include "http/resources/operations/metrics/exposition.h"
#include "session/event.h"
#include "session/state.h"

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::http {

class ModelWork {
public:
    // The model of an agent, as its provider names it.
    struct Name {
        std::string provider = {};
        std::string model = {};
    };
    std::function<Name(std::string const& agent)> name_of = [](std::string const&) {
        return Name();
    };

    // Counts an event of this session; the state may be a later one.
    void note(session::State const& state, session::Event const& event);
    void write(Exposition& out) const;

    static constexpr std::size_t open_max = 16'384;  // requests; the oldest is forgotten

private:
    enum class Asked : std::uint8_t { model, external_agent };
    struct Open {
        Time since{};
        Asked asked = Asked::model;
        std::list<SessionId>::iterator place;
    };
    // The labels of a request.
    struct Whom {
        std::string_view operation;
        Name name;
    };

    void begin(SessionId session, Time since, Asked asked);
    [[nodiscard]] std::optional<Open> end(SessionId session);
    [[nodiscard]] Whom whom(session::State const& state, Asked asked) const;
    void replied(session::State const& state, Time at, Asked asked, session::Usage const& usage);
    // Ends the open request, if there is one. `why`: the failure, or empty.
    void ended(session::State const& state, Time at, std::string_view why);
    void spent(Whom const& whom, std::string_view type, std::int64_t tokens);

    // Bounds that the conventions recommend.
    static constexpr std::array<double, 14> seconds_bounds{
        .01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92};
    static constexpr std::array<double, 14> tokens_bounds{
        1,      4,      16,      64,        256,       1'024,      4'096,
        16'384, 65'536, 262'144, 1'048'576, 4'194'304, 16'777'216, 67'108'864};

    std::map<SessionId, Open> open_;
    std::list<SessionId> order_;  // of `open_`, the oldest first
    HistogramFamily seconds_{seconds_bounds};
    HistogramFamily tokens_{tokens_bounds};
};

}  // namespace dormouse::http
