#include "store/postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace dormouse::store::postgres {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t retry_ms = 1'000;

Failure unavailable(std::string detail, bool lost) {
    return {.error = {Code::store_unavailable, std::move(detail), {}, retry_ms}, .lost = lost};
}

// Returns false when the time is over.
bool wait_for(int socket, short events, Clock::time_point until) {
    for (;;) {
        auto const left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        if (left <= 0) return false;
        pollfd one{socket, events, 0};
        int const ready = ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return true;  // libpq then reports the error
    }
}

// The payloads of all that libpq has read.
std::vector<std::string> take_notifications(PGconn* raw) {
    std::vector<std::string> out;
    while (PGnotify* const one = PQnotifies(raw)) {
        out.emplace_back(one->extra);
        PQfreemem(one);
    }
    return out;
}

std::string field(PGresult const* result, int name) {
    auto const* const text = PQresultErrorField(result, name);
    return text == nullptr ? std::string() : std::string(text);
}

Failure failure_of(PGresult const* result) {
    Failure out;
    out.state = field(result, PG_DIAG_SQLSTATE);
    out.constraint = field(result, PG_DIAG_CONSTRAINT_NAME);
    auto const text = field(result, PG_DIAG_MESSAGE_PRIMARY);
    out.error.code = code_of(out.state);
    out.error.detail = "PostgreSQL: " + text + " (" + out.state + ")";
    if (out.error.code == Code::store_unavailable) out.error.retry_after_ms = retry_ms;
    return out;
}

void on_notice(void* warned, PGresult const* notice) {
    if (field(notice, PG_DIAG_SEVERITY_NONLOCALIZED) == "WARNING")
        *static_cast<bool*>(warned) = true;
}

}  // namespace

Code code_of(std::string_view state) {
    if (state == "53100") return Code::store_full;
    if (state == "23505") return Code::conflict;
    if (state == "54000" || state == "22001") return Code::too_large;
    if (state == "22021" || state == "22P05") return Code::bad_value;
    constexpr std::array<std::string_view, 6> passing{"08", "40", "53", "55", "57", "58"};
    auto const kind = state.substr(0, 2);
    bool const passes = std::ranges::find(passing, kind) != passing.end() || state == "25006";
    return passes ? Code::store_unavailable : Code::internal;
}

bool is_passing(std::string_view state) {
    return state == "40001" || state == "40P01" || state == "55P03";
}

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

int Rows::size() const { return PQntuples(result_.get()); }

bool Rows::is_null(int row, int column) const {
    return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view Rows::text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Rows::integer(int row, int column) const { return integer_of(text(row, column)); }

std::optional<std::int64_t> Rows::maybe_integer(int row, int column) const {
    if (is_null(row, column)) return std::nullopt;
    return integer(row, column);
}

void Connection::Finish::operator()(pg_conn* connection) const { PQfinish(connection); }

namespace {

// libpq quotes an option's value that it does not understand, which may be part of a password.
void hide_value(std::string& text, std::string_view before) {
    auto const at = text.find(before);
    if (at == std::string::npos) return;
    auto const begin = at + before.size();
    text.replace(begin, std::min(text.find('"', begin), text.size()) - begin, "***");
}

}  // namespace

// libpq's messages name host, database and user. A password is removed, should one ever occur.
std::string Connection::message() const {
    std::string text = PQerrorMessage(connection_.get());
    char const* const password = PQpass(connection_.get());
    std::string const secret = password == nullptr ? "" : password;
    for (std::size_t at = 0; !secret.empty() && (at = text.find(secret, at)) != std::string::npos;)
        text.replace(at, secret.size(), "***");
    hide_value(text, " value \"");
    hide_value(text, " value: \"");
    while (text.ends_with('\n')) text.pop_back();
    std::ranges::replace(text, '\n', ' ');
    return text;
}

Answer<Connection> Connection::open(Address const& address, std::string const& name, Wait wait) {
    Connection out;
    auto const started = out.start(address, name, Clock::now() + wait);
    if (!started) return std::unexpected(started.error());
    PQsetNoticeReceiver(out.connection_.get(), on_notice, out.warned_.get());
    if (PQsetnonblocking(out.connection_.get(), 1) != 0)
        return std::unexpected(unavailable(out.message(), false));
    return out;
}

Answer<void> Connection::start(Address const& address, std::string const& name,
                               Clock::time_point until) {
    // A later parameter wins over the URL, a fallback does not.
    std::array<char const*, 7> const names{"dbname",
                                           "fallback_application_name",
                                           "client_encoding",
                                           "keepalives_idle",
                                           "keepalives_interval",
                                           "tcp_user_timeout",
                                           nullptr};
    std::array<char const*, 7> const values{
        address.url.c_str(), name.c_str(), "UTF8", "5", "2", "8000", nullptr};
    connection_.reset(PQconnectStartParams(names.data(), values.data(), 1));
    if (!connection_) return std::unexpected(unavailable("There is not enough memory.", false));
    while (PQstatus(connection_.get()) != CONNECTION_BAD) {
        auto const next = PQconnectPoll(connection_.get());
        if (next == PGRES_POLLING_OK) return {};
        if (next == PGRES_POLLING_FAILED) break;
        short const events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        if (!wait_for(PQsocket(connection_.get()), events, until))
            return std::unexpected(unavailable("PostgreSQL did not answer in time.", false));
    }
    return std::unexpected(unavailable("PostgreSQL cannot be reached: " + message(), false));
}

Failure Connection::lose(Progress why) {
    auto out = why == Progress::late
                   ? unavailable("PostgreSQL did not answer in time.", true)
                   : unavailable("The connection to PostgreSQL was lost: " + message(), true);
    connection_.reset();
    prepared_.clear();
    return out;
}

// `preparing`: for each command that was sent, the statement that it prepares; null: it runs one.
bool Connection::send(Call const& call, std::vector<char const*>& preparing) {
    auto* const raw = connection_.get();
    auto const [known, fresh] = prepared_.try_emplace(call.sql);
    auto& name = known->second;
    if (fresh) {
        name = "s" + std::to_string(names_++);
        preparing.push_back(call.sql);
        if (PQsendPrepare(raw, name.c_str(), call.sql, 0, nullptr) == 0) return false;
    }
    auto const& parameters = call.parameters.values();
    std::vector<char const*> values;
    std::vector<int> sizes;
    std::vector<int> const formats(parameters.size(), 1);
    for (auto const& one : parameters) {
        values.push_back(one ? one->data() : nullptr);
        sizes.push_back(one ? static_cast<int>(one->size()) : 0);
    }
    preparing.push_back(nullptr);
    return PQsendQueryPrepared(raw, name.c_str(), static_cast<int>(values.size()), values.data(),
                               sizes.data(), formats.data(), 1) != 0;
}

// Sends what libpq holds, and receives meanwhile: the server may wait for that.
Connection::Progress Connection::flush(Clock::time_point until) {
    auto* const raw = connection_.get();
    for (;;) {
        int const left = PQflush(raw);
        if (left == 0) return Progress::ready;
        if (left < 0) return Progress::failed;
        if (!wait_for(PQsocket(raw), POLLIN | POLLOUT, until)) return Progress::late;
        if (PQconsumeInput(raw) == 0) return Progress::failed;
    }
}

// Waits until PQgetResult() does not block.
Connection::Progress Connection::receive(Clock::time_point until) {
    auto* const raw = connection_.get();
    while (PQisBusy(raw) != 0) {
        if (!wait_for(PQsocket(raw), POLLIN, until)) return Progress::late;
        if (PQconsumeInput(raw) == 0) return Progress::failed;
    }
    return PQstatus(raw) == CONNECTION_OK ? Progress::ready : Progress::failed;
}

Answer<std::vector<Rows>> Connection::collect(std::vector<char const*> const& preparing,
                                              Clock::time_point until) {
    auto* const raw = connection_.get();
    std::vector<Rows> out;
    std::optional<Failure> failure;
    for (std::size_t next = 0;;) {
        if (auto const progress = receive(until); progress != Progress::ready)
            return std::unexpected(lose(progress));
        PGresult* const result = PQgetResult(raw);
        if (result == nullptr) continue;  // between the results of two commands
        Rows rows(result);
        auto const status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC) break;
        char const* const prepared = next < preparing.size() ? preparing[next++] : nullptr;
        if (prepared != nullptr && status != PGRES_COMMAND_OK) prepared_.erase(prepared);
        if (status == PGRES_FATAL_ERROR && !failure) failure = failure_of(result);
        if (status == PGRES_TUPLES_OK || (status == PGRES_COMMAND_OK && prepared == nullptr))
            out.push_back(std::move(rows));
    }
    if (PQexitPipelineMode(raw) == 0) return std::unexpected(lose(Progress::failed));
    if (failure) return std::unexpected(std::move(*failure));
    return out;
}

Answer<std::vector<Rows>> Connection::run(std::span<Call const> calls, Wait wait) {
    if (!connection_) return std::unexpected(unavailable("PostgreSQL is not connected.", false));
    auto* const raw = connection_.get();
    auto const until = Clock::now() + wait;
    *warned_ = false;
    std::vector<char const*> preparing;
    if (PQenterPipelineMode(raw) == 0) return std::unexpected(lose(Progress::failed));
    for (auto const& call : calls)
        if (!send(call, preparing)) return std::unexpected(lose(Progress::failed));
    if (PQpipelineSync(raw) == 0) return std::unexpected(lose(Progress::failed));
    if (auto const progress = flush(until); progress != Progress::ready)
        return std::unexpected(lose(progress));
    return collect(preparing, until);
}

Answer<Rows> Connection::run(Call const& call, Wait wait) {
    auto all = run({&call, 1}, wait);
    if (!all) return std::unexpected(std::move(all.error()));
    return std::move(all->front());
}

Answer<std::vector<std::string>> Connection::notified(Wait wait, int wake) {
    if (!connection_) return std::unexpected(unavailable("PostgreSQL is not connected.", false));
    auto* const raw = connection_.get();
    auto const until = Clock::now() + wait;
    std::array<pollfd, 2> on{{{PQsocket(raw), POLLIN, 0}, {wake, POLLIN, 0}}};
    for (;;) {
        if (auto notifications = take_notifications(raw); !notifications.empty())
            return notifications;
        auto const left = std::max(Wait(0), std::chrono::ceil<Wait>(until - Clock::now()));
        int const ready = ::poll(on.data(), on.size(), static_cast<int>(left.count()));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0 || on[1].revents != 0) return std::vector<std::string>();
        if (PQconsumeInput(raw) == 0) return std::unexpected(lose(Progress::failed));
    }
}

Answer<void> Connection::script(std::string const& sql, Wait wait) {
    if (!connection_) return std::unexpected(unavailable("PostgreSQL is not connected.", false));
    auto* const raw = connection_.get();
    auto const until = Clock::now() + wait;
    *warned_ = false;
    if (PQsendQuery(raw, sql.c_str()) == 0) return std::unexpected(lose(Progress::failed));
    if (auto const progress = flush(until); progress != Progress::ready)
        return std::unexpected(lose(progress));
    std::optional<Failure> failure;
    for (;;) {
        if (auto const progress = receive(until); progress != Progress::ready)
            return std::unexpected(lose(progress));
        PGresult* const result = PQgetResult(raw);
        if (result == nullptr) break;
        Rows const rows(result);
        if (PQresultStatus(result) == PGRES_FATAL_ERROR && !failure) failure = failure_of(result);
    }
    if (failure) return std::unexpected(std::move(*failure));
    return {};
}

}  // namespace dormouse::store::postgres
