#include "runner/lane/redact/redact.h"

#include "base/check.h"
#include "base/enum_words.h"
#include "runner/lane/redact/redact_copies.h"
#include "wire/names.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace dormouse::runner {

namespace {

// How often another redaction or retention may outdate the plan of a part.
constexpr int plans_max = 8;
constexpr int searches_max = 8;
constexpr std::size_t sessions_max = 1'000;

// Returns true if the content or its session was removed, or never existed.
bool is_gone(Error const& error) {
    return error.code == Code::not_found || error.code == Code::history_gone ||
           error.code == Code::session_gone;
}

Error too_many_sessions() {
    return {Code::too_large, "More than " + std::to_string(sessions_max) +
                                 " sessions have it: delete those that you do not need."};
}

}  // namespace

struct Redactor::Job {
    // A session and what is removed there.
    struct Part {
        SessionId session;
        std::optional<RedactionCopy> copy;  // nullopt: it is what was asked for
        RedactionAsk ask;
        std::optional<RedactionPlan> plan = {};  // nullopt: it does not exist
        int plans = 0;

        [[nodiscard]] bool is_fork() const { return copy && copy->why == CopyKind::fork; }
    };
    RedactionAsk ask;
    Asker asker;
    Done done;
    std::vector<Part> parts;  // the first is what was asked for; it is removed last
    std::optional<CopySearch> copies = {};
    int searches = 0;                            // that are done
    std::vector<RedactionCopy> only_named = {};  // forks in which it stays

    [[nodiscard]] SessionId session() const { return parts.front().session; }
    [[nodiscard]] bool has(RedactionCopy const& copy) const {
        return std::ranges::any_of(parts, [&](Part const& part) {
            if (part.session != copy.session) return false;
            // A session is the other side of mail or a task once; of forks each message counts.
            if (copy.why != CopyKind::fork) return !part.is_fork();
            return part.is_fork() && part.copy->item == copy.item;
        });
    }
    [[nodiscard]] bool may(std::string const& project) const {
        auto const& projects = asker.rights.projects;
        return projects.empty() || std::ranges::find(projects, project) != projects.end();
    }
    void add(RedactionCopy const& copy) {
        bool const ancestor = copies && copies->ancestors.contains(copy.session);
        if (!has(copy)) parts.push_back({copy.session, copy, ask_for(copy, ask, ancestor)});
    }
    // Returns a search for the content of all parts in forks. Ids that imports gave are searched
    // only for the first part.
    [[nodiscard]] CopySearch search_of_forks() const {
        CHECK(parts.front().plan);
        CopySearch out{.root = session(), .names = parts.front().plan->in_forks};
        out.projects = asker.rights.projects;
        bool const inherited =
            ask.set == wire::SessionProperty::title || ask.set == wire::SessionProperty::labels;
        if (inherited) out.set = parts.front().plan->report.what.what;
        for (Part const& part : parts) {
            if (!part.copy || !part.plan) continue;
            out.known.insert(part.session);
            for (ForkName const& name : part.plan->in_forks)
                if (parse_numbered("msg_", name.message)) out.names.push_back(name);
        }
        return out;
    }
    // Returns true if mail or a task holds content. It is found by links that a redaction removes.
    // So its forks are redacted in the same request, or never: a later one would not find them.
    [[nodiscard]] bool is_linked() const {
        return std::ranges::any_of(parts,
                                   [](Part const& part) { return part.copy && !part.is_fork(); });
    }
    [[nodiscard]] std::optional<Error> forks_left_behind() const {
        if (!is_linked() || only_named.empty()) return std::nullopt;
        RedactionCopy const& fork = only_named.front();
        return Error{Code::wrong_state,
                     "A fork holds it, too (" + fork.session.text() + ", " + fork.item +
                         "), and could not be found afterwards: ask for the forks, too "
                         "(--forks, or \"forks\": true)."};
    }
    [[nodiscard]] bool has_names() const { return !copies->names.empty() || !copies->set.empty(); }
    // Takes what a search has found; returns true if there are more sessions to redact. A fork that
    // was made after the check of forks_left_behind() cannot be refused any more.
    [[nodiscard]] bool take_found() {
        CHECK(copies);
        auto found = std::exchange(copies->found, {});
        std::erase_if(found, [this](RedactionCopy const& copy) { return has(copy); });
        bool const first = ++searches == 1;
        bool const goes = ask.forks || (!first && is_linked());
        if (goes)
            for (RedactionCopy const& copy : found) add(copy);
        else
            only_named.insert(only_named.end(), found.begin(), found.end());
        return goes && !found.empty();
    }
    void fail(Error error) { done(std::unexpected(std::move(error))); }
    void finish() {
        CHECK(parts.front().plan);
        RedactionReport report = std::move(parts.front().plan->report);
        for (Part const& part : parts) {
            if (!part.copy || !part.plan) continue;
            report.copies.push_back(*part.copy);
            report.copies.back().seq = part.plan->report.seq;
        }
        report.copies.insert(report.copies.end(), only_named.begin(), only_named.end());
        done(std::move(report));
    }
};

void Redactor::redact(SessionId session, RedactionAsk ask, Asker asker, Done done) {
    asker.idem_key.clear();  // a repeat finds the event
    auto const job = std::make_shared<Job>(Job{ask, std::move(asker), std::move(done), {}});
    job->parts.push_back({session, std::nullopt, std::move(ask)});
    plan(job, 0);
}

// Plans the part i and those after it.
void Redactor::plan(JobPtr const& job, std::size_t i) {
    CHECK(i <= job->parts.size());
    if (i == job->parts.size()) return search(job);
    ask_plan(job, i,
             [this, job, i](Result<RedactionPlan> plan) { planned(job, i, std::move(plan)); });
}

void Redactor::ask_plan(JobPtr const& job, std::size_t i,
                        port::Fn<void(Result<RedactionPlan>)> then) {
    Job::Part const& part = job->parts[i];
    auto make = [session = part.session, ask = part.ask, by = job->asker.by, now = runner_.now()](
                    port::Store& store) { return plan_redaction(store, session, ask, by, now); };
    port::ask(journal_, std::move(make), scope_.guard(std::move(then)));
}

void Redactor::planned(JobPtr const& job, std::size_t i, Result<RedactionPlan> plan) {
    CHECK(i < job->parts.size());
    if (!plan && (i == 0 || !is_gone(plan.error()))) return job->fail(std::move(plan.error()));
    Job::Part const& part = job->parts[i];
    if (plan && i > 0 && !job->may(plan->project)) {
        if (!part.is_fork())
            return job->fail(
                {Code::forbidden, "A session of another project has it, too (" +
                                      std::string(word_of(part.copy->why)) +
                                      "): use a token that may operate both projects."});
        plan = std::unexpected(Error{Code::not_found, ""});
    }
    if (plan) {
        for (RedactionCopy const& copy : plan->elsewhere) job->add(copy);
        job->parts[i].plan = std::move(*plan);
    }
    if (job->parts.size() > sessions_max) return job->fail(too_many_sessions());
    this->plan(job, i + 1);
}

// Searches for forks, once all other sessions that hold the content are known.
void Redactor::search(JobPtr const& job) {
    if (!job->copies) job->copies = job->search_of_forks();
    CHECK(job->copies->root == job->session());
    if (!job->has_names() || job->copies->done) return remove(job);
    auto next = [search = std::move(*job->copies)](port::Store& store) {
        return search_copies(store, search);
    };
    port::ask(journal_, std::move(next), scope_.guard([this, job](Result<CopySearch> found) {
        if (!found) return job->fail(std::move(found.error()));
        job->copies = std::move(*found);
        if (job->copies->found.size() > sessions_max) return job->fail(too_many_sessions());
        std::size_t const known = job->parts.size();
        if (!job->copies->done) return search(job);
        bool const more = job->take_found();
        if (!more && job->searches > 1) return job->finish();
        plan(job, known);
    }));
}

void Redactor::remove(JobPtr const& job) {
    if (job->searches <= 1) {
        if (job->ask.dry_run) return job->finish();
        if (auto error = job->forks_left_behind()) return job->fail(*std::move(error));
    }
    apply(job, job->parts.size());
}

// Searches for forks that were made after the first search and before the redaction was stored:
// they have the content. Later ones do not: their append names the newest frame of what they copy.
void Redactor::search_again(JobPtr const& job) {
    if (!job->has_names()) return job->finish();
    CHECK(job->copies->done);
    if (job->searches == searches_max)
        return job->fail({Code::overloaded, "The session is forked all the time."});
    job->copies->begin_again();
    search(job);
}

// Removes the first `left` parts, the last one first.
void Redactor::apply(JobPtr const& job, std::size_t left) {
    CHECK(left <= job->parts.size());
    if (left == 0) return search_again(job);
    std::size_t const i = left - 1;
    Job::Part& part = job->parts[i];
    if (!part.plan || !part.plan->command) return apply(job, i);
    if (++part.plans > plans_max)
        return job->fail({Code::overloaded, "The session's journal changes all the time."});
    auto applied = scope_.guard([this, job, i](Result<session::Answer> const& answer) {
        bool const outdated = !answer && answer.error().code == Code::precondition_failed;
        if (!answer && !outdated) return job->fail(answer.error());
        again(job, i);
    });
    runner_.command(part.session, *std::move(part.plan->command), job->asker, std::move(applied));
}

// Plans the part again. If it is redacted, the plan reads the report from the event.
void Redactor::again(JobPtr const& job, std::size_t i) {
    ask_plan(job, i, [this, job, i](Result<RedactionPlan> plan) {
        if (!plan) return job->fail(std::move(plan.error()));
        job->parts[i].plan = std::move(*plan);
        apply(job, i + 1);
    });
}

}  // namespace dormouse::runner
