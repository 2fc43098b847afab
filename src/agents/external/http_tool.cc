#include "external/http_tool.h"

#include "base/text/text.h"
#include "external/body_template.h"
#include "external/http_answer.h"
#include "external/url_template.h"
#include "json/json.h"
#include "webhook/signature.h"

#include <algorithm>
#include <array>
#include <memory>

namespace dormouse::external {

using namespace dormouse::session;

namespace {

constexpr std::array<std::string_view, 5> methods{"GET", "POST", "PUT", "PATCH", "DELETE"};

constexpr Duration poll_time_limit{60'000};

// The options of a tool and what was parsed from them once.
struct Ready {
    HttpTool tool;
    UrlTemplate url;
    std::optional<UrlTemplate> poll_url;
};

bool has_body(HttpTool const& tool) {
    return tool.method != "GET" && (tool.method != "DELETE" || !tool.body.is_null());
}

bool same_name(std::string_view a, std::string_view b) { return lower_case(a) == lower_case(b); }

void add_defaults(std::vector<port::HttpHeader>& headers, std::string name, std::string value) {
    bool const given = std::ranges::any_of(
        headers, [&](port::HttpHeader const& header) { return same_name(header.name, name); });
    if (!given) headers.push_back({std::move(name), std::move(value)});
}

void add_trace(port::HttpRequest& request, TraceHeaders const& trace) {
    if (!trace.parent.empty()) add_defaults(request.headers, "traceparent", trace.parent);
    if (!trace.state.empty()) add_defaults(request.headers, "tracestate", trace.state);
}

void sign(port::HttpRequest& request, HttpTool const& tool, std::string const& id, Time now) {
    if (tool.secret.empty()) return;
    std::int64_t const seconds = to_ms(now) / 1000;
    request.headers.push_back({"webhook-id", id});
    request.headers.push_back({"webhook-timestamp", std::to_string(seconds)});
    request.headers.push_back(
        {"webhook-signature", webhook::standard_signature(tool.secret, id, seconds, request.body)});
}

void limit_to(port::HttpRequest& request, Duration limit) {
    request.connect_limit = std::min(request.connect_limit, limit);
    request.idle_limit = limit;
    request.total_limit = limit;
    request.response_max = answer_max;
}

port::HttpRequest request_of(HttpTool const& tool, std::string url, agent::ToolCall const& call,
                             Time now) {
    port::HttpRequest request;
    request.method = tool.method;
    request.url = std::move(url);
    request.headers = tool.headers;
    if (has_body(tool)) {
        Json const body = tool.body.is_null() ? default_body(call) : fill_body(tool.body, call);
        request.body = std::string(body.text());
        add_defaults(request.headers, "Content-Type", "application/json");
    }
    add_defaults(request.headers, "Accept", "application/json");
    request.headers.push_back({"Idempotency-Key", call.idempotency_key()});
    add_trace(request, call.trace);
    sign(request, tool, call.idempotency_key(), now);
    limit_to(request, tool.declared.time_limit);
    request.send_once = tool.declared.crash != CrashPolicy::retry;
    request.may_start = call.may_start.ask();
    return request;
}

port::HttpRequest poll_of(HttpTool const& tool, std::string url, agent::PollCall const& call,
                          Time now) {
    port::HttpRequest request;
    request.url = std::move(url);
    request.headers = tool.headers;
    add_defaults(request.headers, "Accept", "application/json");
    sign(request, tool, call.pending.text(), now);
    limit_to(request, std::min(tool.declared.time_limit, poll_time_limit));
    request.may_start = call.may_start.ask();
    return request;
}

// Sends the request; `done` gets the whole answer, unless the request was stopped.
agent::StopTool exchange(port::HttpClient& client, port::HttpRequest request,
                         port::Fn<void(HttpAnswer const&)> done) {
    auto const answer = std::make_shared<HttpAnswer>();
    port::HttpCallbacks callbacks;
    callbacks.head = [answer](port::HttpHead head) { answer->head = std::move(head); };
    callbacks.data = [answer](std::string_view chunk) { answer->body += chunk; };
    callbacks.done = [answer,
                      done = std::move(done)](std::optional<port::HttpFailure> failure) mutable {
        answer->failure = std::move(failure);
        done(*answer);
    };
    auto const id = client.start(std::move(request), std::move(callbacks));
    return [&client, id] { client.cancel(id); };
}

agent::StopTool start(std::shared_ptr<Ready const> const& ready, port::HttpClient& client,
                      port::Clock const& clock, agent::ToolCall const& call,
                      port::Fn<void(agent::ToolResult)> done) {
    auto url = ready->url.fill(json::View(call.input));
    if (!url) {
        done(agent::Failed{url.error().detail});
        return {};
    }
    return exchange(client, request_of(ready->tool, std::move(*url), call, clock.now()),
                    [ready, &clock, done = std::move(done)](HttpAnswer const& answer) mutable {
                        done(result_of(ready->tool, answer, clock.now()));
                    });
}

Json names_of(agent::PollCall const& call) {
    json::Writer out;
    out.begin_object().member("externalRef", call.external_ref);
    out.member("pendingID", call.pending.text()).member("sessionID", call.pending.session.text());
    return out.member("callID", "call_" + std::to_string(call.pending.call)).end_object().json();
}

agent::StopTool poll(std::shared_ptr<Ready const> const& ready, port::HttpClient& client,
                     port::Clock const& clock, agent::PollCall const& call,
                     port::Fn<void(agent::PollResult)> done) {
    Json const names = names_of(call);
    auto url = ready->poll_url->fill(json::View(call.input), json::View(names));
    if (!url) {
        done(agent::NotYet{"poll.url: " + url.error().detail});
        return {};
    }
    return exchange(client, poll_of(ready->tool, std::move(*url), call, clock.now()),
                    [ready, &clock, done = std::move(done)](HttpAnswer const& answer) mutable {
                        done(poll_result_of(ready->tool, answer, clock.now()));
                    });
}

std::string fault_of(Poll const& poll, Later later) {
    if (later == Later::never)
        return "poll: with later = \"never\" there is nothing to ask for; leave one of them out";
    if (poll.done.empty() || !poll.done.starts_with('/'))
        return "poll.done: \"" + poll.done + "\" is not a JSON pointer: must begin with /";
    if (!poll.output.empty() && !poll.output.starts_with('/'))
        return "poll.output: \"" + poll.output + "\" is not a JSON pointer: must begin with /";
    return {};
}

std::string fault_of(HttpTool const& tool) {
    if (std::ranges::find(methods, tool.method) == methods.end())
        return "method \"" + tool.method + "\": must be GET, POST, PUT, PATCH or DELETE";
    if (tool.method == "GET" && !tool.body.is_null()) return "body: must not be set for GET";
    if (!tool.external_ref.empty() && !tool.external_ref.starts_with('/'))
        return "external_ref: \"" + tool.external_ref +
               "\" is not a JSON pointer: must begin with /";
    if (tool.poll) return fault_of(*tool.poll, tool.later);
    return {};
}

}  // namespace

Result<void> check_http_tool(HttpTool const& options) {
    if (std::string fault = fault_of(options); !fault.empty())
        return fail(Code::bad_value, std::move(fault));
    if (auto url = UrlTemplate::parse(options.url); !url) return std::unexpected(url.error());
    if (options.poll) {
        if (auto url = UrlTemplate::parse(options.poll->url, true); !url)
            return fail(Code::bad_value, "poll." + url.error().detail);
    }
    return check_body(options.body);
}

namespace {

// Without the values of headers, which hold secrets.
Json definition_of(HttpTool const& options) {
    json::Writer out;
    out.begin_object().member("method", options.method).member("url", options.url);
    return out.member("body", options.body).end_object().json();
}

}  // namespace

Result<agent::Tool> make_http_tool(HttpTool options, port::HttpClient& client,
                                   port::Clock const& clock) {
    if (auto checked = check_http_tool(options); !checked) return std::unexpected(checked.error());
    auto url = *UrlTemplate::parse(options.url);
    std::optional<UrlTemplate> poll_url;
    if (options.poll) poll_url = *UrlTemplate::parse(options.poll->url, true);
    options.declared.later = options.later != Later::never;
    agent::Tool tool = declare(options.declared);
    tool.definition = definition_of(options);
    auto const ready = std::make_shared<Ready const>(
        Ready{std::move(options), std::move(url), std::move(poll_url)});
    tool.start = [ready, &client, &clock](agent::ToolCall const& call,
                                          port::Fn<void(agent::ToolResult)> done) {
        return start(ready, client, clock, call, std::move(done));
    };
    if (!ready->poll_url) return tool;
    tool.poll = [ready, &client, &clock](agent::PollCall const& call,
                                         port::Fn<void(agent::PollResult)> done) {
        return poll(ready, client, clock, call, std::move(done));
    };
    return tool;
}

}  // namespace dormouse::external
