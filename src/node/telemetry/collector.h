#pragma once
// Requests to a collector of OpenTelemetry (OTLP/HTTP with JSON), one at a time. On the loop.

#include "base/scope.h"
#include "port/exports.h"
#include "port/http.h"

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::telemetry {

// Returns the endpoint for people: without user, password and query. Empty: `url` is invalid.
[[nodiscard]] std::string shown_endpoint(std::string_view url);

struct CollectorReply {
    port::HttpHead head = {};  // status 0: none came
    std::string body = {};
    std::string failure = {};  // why none came

    [[nodiscard]] bool accepted() const { return head.status >= 200 && head.status < 300; }
    // Returns why it was not accepted. REQUIRES: !accepted().
    [[nodiscard]] std::string refusal() const;
};

class Collector {
public:
    using Done = port::Fn<void(CollectorReply const&)>;

    // `http` outlives this.
    Collector(port::HttpClient& http, std::string url, std::vector<port::HttpHeader> headers);
    ~Collector() { stop(); }
    Collector(Collector const&) = delete;
    Collector& operator=(Collector const&) = delete;

    // `done` is called once, unless stop() comes first. REQUIRES: no request is under way.
    void post(std::string body, Done done);
    void stop();

    static constexpr Duration time_limit{10'000};

private:
    port::HttpClient& http_;
    std::string url_;
    std::vector<port::HttpHeader> headers_;
    CollectorReply reply_ = {};
    port::HttpId request_ = 0;
    Scope scope_;
};

// Notes the result of the newest attempt.
void note_success(port::ExportStatus& status);
void note_failure(port::ExportStatus& status, std::string_view why, Time now);

}  // namespace dormouse::telemetry
