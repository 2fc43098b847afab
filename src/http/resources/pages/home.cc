#include "http/objects/card_page.h"
#include "http/objects/html.h"
#include "http/resources/calls/inbox.h"
#include "http/resources/pages/handlers.h"
#include "http/resources/pages/page.h"
#include "http/resources/pages/web_page.h"
#include "http/resources/read_part.h"
#include "http/resources/tokens/oidc_sign_in.h"
#include "http/resources/tokens/token_changes.h"

#include "base/text/markdown.h"
#include "base/text/text.h"

#include <algorithm>

// The first page: who is signed in, what waits for that person, the newest sessions. The web page
// shows this in browsers without script; a GET changes nothing.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t calls_max = 1'000;
constexpr std::size_t sessions_read_max = 100;
constexpr std::uint32_t sessions_shown = 20;

// One line of the page.
struct WaitingCall {
    std::string question;
    std::string id;
    std::string tool;
    Time created{};
    std::optional<Time> deadline;
};

struct Home {
    Api& api;
    ExchangePtr x;
    std::vector<SessionId> sessions = {};  // sessions in which a call waits
    std::size_t at = 0;
    bool all = true;  // false: a session could not be read
    std::vector<WaitingCall> waiting = {};
};

void add_waiting(Home& home, Snapshot const& snapshot) {
    if (!home.x->principal->is_for(snapshot.lane->state().project)) return;
    for (auto const& [no, call] : snapshot.history.calls()) {
        for (wire::PauseView const& pause : call.pauses) {
            bool const mine = waits_for(*home.x->principal, pause);
            if (mine)
                home.waiting.push_back({question_of(call, pause), pause.pending.text(),
                                        call.spec.tool, pause.created, pause.deadline});
        }
    }
}

std::string waiting_html(Home const& home, Time now) {
    std::string out = "<h1>Waiting for you: " + std::to_string(home.waiting.size()) +
                      (home.all ? "" : " or more") + "</h1>\n";
    if (home.waiting.empty()) return out + "<p>Nothing waits for your answer.</p>\n";
    out += "<ul>\n";
    for (WaitingCall const& one : home.waiting) {
        out += "<li><a class=\"said\" href=\"/a/" + one.id + "\">" +
               html_text(markdown::plain_text(one.question)) + "</a><br><span class=\"dim\">" +
               html_text(one.tool) + ", since " + time_html(one.created, now);
        if (one.deadline) out += ", deadline " + time_html(*one.deadline, now);
        out += "</span></li>\n";
    }
    return out + "</ul>\n";
}

std::string sessions_html(std::vector<port::SessionRow> const& rows, Time now) {
    if (rows.empty()) return "";
    std::string out = "<h2>Newest sessions</h2>\n<ul>\n";
    for (port::SessionRow const& row : rows) {
        std::string const name = row.title.empty() ? row.id.text() : row.title;
        out += "<li>" + html_text(name) + "<br><span class=\"dim\">" + html_text(row.agent) + ", " +
               html_text(row.status) + ", " + time_html(row.updated, now) + "</span></li>\n";
    }
    return out + "</ul>\n";
}

void answer_home(Home const& home, std::vector<port::SessionRow> const& rows) {
    Principal const& who = *home.x->principal;
    Time const now = home.api.services().runner.now();
    std::string out = "<nav><span>Signed in as <strong>" + html_text(who.row.name) +
                      "</strong> (role " + std::string(text(who.role)) + ")</span>";
    if (who.is_cookie())
        out += "<form method=\"post\" action=\"/sign-out\"><button>Sign out</button></form>";
    out += "</nav>\n" + waiting_html(home, now) + sessions_html(rows, now);
    auto page = home.api.web_page().around("Dormouse", out);
    home.x->responder->reply(page ? *std::move(page) : html_reply(200, "Waiting for you", out));
}

void add_sessions(std::shared_ptr<Home> const& home) {
    auto const& projects = home->x->principal->row.projects;
    std::string project = projects.empty() ? "default" : projects.front();
    auto question = [project = std::move(project)](port::ListStore& store) {
        return store.sessions(project, 0, sessions_shown);
    };
    port::ask(home->api.services().journal, std::move(question),
              [home](Result<std::vector<port::SessionRow>> rows) {
                  if (!rows) return home->x->fail(rows.error());
                  answer_home(*home, *rows);
              });
}

// Reads one session after the other.
void read_next(std::shared_ptr<Home> const& home) {
    if (home->at == home->sessions.size()) {
        std::ranges::stable_sort(home->waiting, std::ranges::greater{}, &WaitingCall::created);
        return add_sessions(home);
    }
    read_open_calls(home->api, home->sessions[home->at++], [home](Result<Snapshot> snapshot) {
        if (snapshot) add_waiting(*home, *snapshot);
        read_next(home);
    });
}

void greet(Api& api, ExchangePtr const& x) {
    CardPage page{.title = "Sign in to Dormouse",
                  .about = "Here you approve what agents ask for, and answer their questions."};
    page.card = ways_to_sign_in(oidc_link(api, target_of(x->request)), sign_in_path(x->request));
    page.notes =
        "<p class=\"note\">No link? Ask your administrator for one, and open it on this "
        "device.</p>\n<details><summary>For administrators</summary><pre>dormouse link NAME "
        "--role answer</pre></details>\n";
    page.host = x->request.header("host");
    x->responder->reply(card_reply(200, page));
}

}  // namespace

void get_home(Api& api, ExchangePtr const& x) {
    if (!x->principal || x->principal->session) return greet(api, x);
    auto const home = std::make_shared<Home>(Home{api, x});
    auto question = [](port::PendingStore& store) {
        return store.waiting_sessions(std::nullopt, calls_max);
    };
    port::ask(api.services().journal, std::move(question),
              [home](Result<std::vector<SessionId>> sessions) {
                  if (!sessions) return home->x->fail(sessions.error());
                  home->sessions = std::move(*sessions);
                  home->all = home->sessions.size() <= sessions_read_max;
                  if (!home->all) home->sessions.resize(sessions_read_max);
                  read_next(home);
              });
}

}  // namespace dormouse::http
