#pragma once
// The records of sign-ins of people to MCP servers in a database that several servers use. On the
// loop.

#include "base/scope.h"
#include "mcp_client/sign_in/records.h"
#include "port/shared_store.h"
#include "port/world.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::app {

// The beginning of their names among the shared values.
inline constexpr char const* sign_in_values = "mcp-sign-in:";

class SharedRecords final : public mcp_client::Records {
public:
    static constexpr Duration apart{1'000};  // between two reads

    struct Services {
        port::Loop& loop;
        port::Journal& journal;
        port::SharedValues& values;  // of its store
    };
    // `services` outlive this. `stored`: the values at the start. `lost`: reports that a record was
    // not stored, and why.
    SharedRecords(Services services, std::vector<port::SharedValue> const& stored,
                  std::function<void(std::string const& name, std::string const& why)> lost);

    [[nodiscard]] std::optional<Json> load(std::string const& name) const override;
    void store(std::string const& name, Json const& record, port::Fn<void(bool)> done) override;
    void refresh(port::Fn<void()> done) override;
    void follow(std::function<void()> changed) override;
    [[nodiscard]] bool shared() const override { return true; }

private:
    using Values = Result<std::vector<port::SharedValue>>;

    void read(port::Fn<void(bool changed)> done);
    [[nodiscard]] bool take(std::vector<port::SharedValue> const& found);
    void follow_on();
    void stored(port::SharedValue const& next, Result<bool> const& done,
                port::Fn<void(bool)> reply);

    Services const services_;
    std::function<void(std::string const&, std::string const&)> lost_;
    std::function<void()> changed_;
    std::map<std::string, port::SharedValue> values_;
    Scope scope_;
};

}  // namespace dormouse::app
