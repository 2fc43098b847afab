#include "http/resources/sessions/handlers.h"

#include "json/json.h"

#include <algorithm>
#include <array>

// The paths and spelling of ACP session managers (agentId, createdAt, …): converts requests and
// replies of the handlers of /api/sessions.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

// Converts a name: sessionID → sessionId, pendingIDs → pendingIds, webhookURL → webhookUrl.
std::string spelled(std::string_view name) {
    if (name == "cwd") return "workingDirectory";
    std::string out(name);
    for (auto const& [ours, theirs] :
         {std::pair("IDs", "Ids"), std::pair("ID", "Id"), std::pair("URL", "Url")}) {
        if (name.ends_with(ours))
            return out.replace(out.rfind(ours), std::string_view::npos, theirs);
    }
    return out;
}

// Converts only the server's own names; values of agents and people stay unchanged.
void write_spelled(json::Writer& out, json::View object) {
    out.begin_object();
    object.members([&](std::string_view name, json::View value) {
        if (name == "time") {
            value.members([&](std::string_view what, json::View at) {
                out.key(std::string(what) + "At").raw(at.raw());
            });
        } else if (name == "activity") {
            write_spelled(out.key(name), value);
        } else {
            out.key(spelled(name)).raw(value.raw());
        }
    });
    out.end_object();
}

std::string respelled(json::View answer) {
    json::Writer out;
    if (!answer["items"].exists()) {
        write_spelled(out, answer);
        return out.take();
    }
    out.begin_object().key("items").begin_array();
    answer["items"].elements([&](json::View item) { write_spelled(out, item); });
    out.end_array().member_raw("next", answer["next"].raw()).end_object();
    return out.take();
}

constexpr std::array renamed{
    std::pair<std::string_view, std::string_view>{"agentId", "agentID"},
    std::pair<std::string_view, std::string_view>{"pendingId", "pendingID"},
    std::pair<std::string_view, std::string_view>{"workingDirectory", "cwd"}};

// Converts the pointer of a problem to the request as it was received.
std::string respelled_problem(json::View problem) {
    json::Writer out;
    out.begin_object();
    problem.members([&](std::string_view name, json::View value) {
        auto text = value.string();
        bool const points = name == "pointer" || name == "field" || name == "detail";
        if (!points || !text) {
            out.member_raw(name, value.raw());
            return;
        }
        for (auto const& [theirs, ours] : renamed) {
            std::string const place = "/" + std::string(ours);
            if (auto const at = text->find(place); at != std::string::npos)
                text->replace(at, place.size(), "/" + std::string(theirs));
        }
        out.member(name, *text);
    });
    return out.end_object().take();
}

class RespellingResponder final : public Responder {
public:
    RespellingResponder(std::shared_ptr<Responder> inner, std::string project)
        : inner_(std::move(inner)), project_(std::move(project)) {}

    void reply(HttpReply reply) override {
        bool const problem = reply.status >= 400;
        if (!reply.body.empty()) {
            json::View const body(reply.body);
            reply.body = problem ? respelled_problem(body) : respelled(body);
        }
        for (auto& [name, value] : reply.headers) {
            if (name != "Location") continue;
            value = "/api/projects/" + project_ + "/acp/session" + value.substr(value.rfind('/'));
        }
        inner_->reply(std::move(reply));
    }
    std::shared_ptr<EventStream> stream(
        std::vector<std::pair<std::string, std::string>> headers) override {
        return inner_->stream(std::move(headers));
    }
    [[nodiscard]] bool gone() const override { return inner_->gone(); }
    void body_freed() override { inner_->body_freed(); }

private:
    std::shared_ptr<Responder> const inner_;
    std::string const project_;
};

// Returns the members of a body in the spelling of these paths.
std::vector<std::string_view> spelled_names(Request const& request) {
    std::vector<std::string_view> out;
    for (Member const& member : request.members) {
        auto const place = std::ranges::find(
            renamed, member.name, &std::pair<std::string_view, std::string_view>::second);
        out.push_back(place == renamed.end() ? member.name : place->first);
    }
    return out;
}

// Returns the body with the server's names.
Result<Json> spelled_body(ExchangePtr const& x, Request const& request) {
    json::View const came(x->body);
    Body const body(came, "", spelled_names(request));
    if (body.error()) return std::unexpected(*body.error());
    json::Writer out;
    out.begin_object();
    came.members([&](std::string_view name, json::View value) {
        auto const place =
            std::ranges::find(renamed, name, &std::pair<std::string_view, std::string_view>::first);
        out.member_raw(place == renamed.end() ? name : place->second, value.raw());
    });
    return out.end_object().json();
}

void respell(ExchangePtr const& x) {
    x->responder = std::make_shared<RespellingResponder>(std::move(x->responder), x->params[0]);
}

// Calls the handler of /api/sessions/{id}…, if the session belongs to this project.
void hand_on(Api& api, ExchangePtr const& x, Handler handler) {
    respell(x);
    auto const id = SessionId::parse(x->params[1]);
    if (!id) return x->fail(not_found());
    api.services().runner.read_lane(*id,
                                    [&api, x, handler](Result<std::shared_ptr<runner::Lane>> lane) {
                                        if (!lane) return x->fail(lane.error());
                                        if ((*lane)->state().project != x->params[0])
                                            return x->fail(not_found());
                                        x->params.erase(x->params.begin());
                                        handler(api, x);
                                    });
}

}  // namespace

void acp_create(Api& api, ExchangePtr const& x) {
    respell(x);
    read_aside<Json>(
        api, x, [x] { return spelled_body(x, create_request); },
        [&api, x](Json body) {
            x->body = std::move(body);
            create_session(api, x);
        });
}

void acp_list(Api& api, ExchangePtr const& x) {
    respell(x);
    list_sessions(api, x);
}

void acp_get(Api& api, ExchangePtr const& x) { hand_on(api, x, get_session); }

void acp_delete(Api& api, ExchangePtr const& x) { hand_on(api, x, delete_session); }

void acp_prompt(Api& api, ExchangePtr const& x) { hand_on(api, x, post_prompt); }

void acp_resume(Api& api, ExchangePtr const& x) { hand_on(api, x, resume_session); }

void acp_cancel(Api& api, ExchangePtr const& x) {
    auto body = spelled_body(x, cancel_request);
    if (!body) return x->fail(body.error());
    x->body = std::move(*body);
    hand_on(api, x, cancel_session);
}

}  // namespace dormouse::http
