#include "runner/lane/redact/redact.h"

#include "base/enum_words.h"
#include "runner/lane/redact/redact_copies.h"
#include "wire/names.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace dormouse::runner {

namespace {

// So often a plan may be outdated by another redaction or by retention.
constexpr int plans_max = 8;
constexpr std::size_t sessions_max = 1'000;

// It was removed, or never existed.
bool is_gone(Error const& error) {
    return error.code == Code::not_found || error.code == Code::history_gone ||
           error.code == Code::session_gone;
}

Error too_many_sessions() {
    return {Code::too_large, "More than " + std::to_string(sessions_max) +
                                 " sessions have it: delete those that you do not need."};
}

// What was set of a session that a fork began with: "title", "labels" or "label <key>".
void set_of(RedactionAsk& ask, std::string const& item) {
    ask.set = item == "title" ? wire::SetPart::title : wire::SetPart::labels;
    if (item.starts_with("label ")) ask.label = item.substr(6);
}

RedactionAsk ask_for(RedactionCopy const& copy, RedactionAsk const& root, bool ancestor) {
    RedactionAsk out{.reason = root.reason};
    auto const message = parse_numbered("msg_", copy.item);
    auto const call = wire::parse_call(copy.item);
    if (copy.why == CopyKind::alias) {
        out.alias_of = SessionId::parse(copy.item);
    } else if (copy.why == CopyKind::fork && root.set != wire::SetPart::none) {
        set_of(out, copy.item);
        out.at_creation = !ancestor;
    } else if (message && message->session == copy.session) {
        out.message = message->number;
    } else if (call) {
        out.call = *call;
    } else {
        out.item = copy.item;
    }
    return out;
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
    // What forks hold of all parts. Ids that imports gave are those of the first session only.
    [[nodiscard]] CopySearch search_of_forks() const {
        CopySearch out{.root = session(), .names = parts.front().plan->in_forks};
        out.projects = asker.rights.projects;
        bool const inherited = ask.set == wire::SetPart::title || ask.set == wire::SetPart::labels;
        if (inherited) out.set = parts.front().plan->report.what.what;
        for (Part const& part : parts) {
            if (!part.copy || !part.plan) continue;
            out.known.insert(part.session);
            for (ForkName const& name : part.plan->in_forks)
                if (parse_numbered("msg_", name.message)) out.names.push_back(name);
        }
        return out;
    }
    // What mail or a task says is found by links that a redaction removes. So forks of it go with
    // it, or never: a later request would not find them.
    [[nodiscard]] std::optional<Error> forks_left_behind() const {
        bool const linked = std::ranges::any_of(
            parts, [](Part const& part) { return part.copy && !part.is_fork(); });
        if (!linked || ask.forks || copies->found.empty()) return std::nullopt;
        RedactionCopy const& fork = copies->found.front();
        return Error{Code::wrong_state,
                     "A fork holds it, too (" + fork.session.text() + ", " + fork.item +
                         "), and could not be found afterwards: ask for the forks, too "
                         "(--forks, or \"forks\": true)."};
    }
    void fail(Error error) { done(std::unexpected(std::move(error))); }
    void finish() {
        RedactionReport report = std::move(parts.front().plan->report);
        for (Part const& part : parts) {
            if (!part.copy || !part.plan) continue;
            report.copies.push_back(*part.copy);
            report.copies.back().seq = part.plan->report.seq;
        }
        if (!ask.forks && copies)
            report.copies.insert(report.copies.end(), copies->found.begin(), copies->found.end());
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

// Finds forks, once the sessions are known that certainly have it.
void Redactor::search(JobPtr const& job) {
    if (!job->copies) job->copies = job->search_of_forks();
    bool const none = job->copies->names.empty() && job->copies->set.empty();
    if (none || job->copies->done) {
        if (job->ask.dry_run) return job->finish();
        if (auto error = job->forks_left_behind()) return job->fail(*std::move(error));
        return apply(job, job->parts.size());
    }
    auto next = [search = std::move(*job->copies)](port::Store& store) {
        return search_copies(store, search);
    };
    port::ask(journal_, std::move(next), scope_.guard([this, job](Result<CopySearch> found) {
        if (!found) return job->fail(std::move(found.error()));
        job->copies = std::move(*found);
        if (job->copies->found.size() > sessions_max) return job->fail(too_many_sessions());
        std::size_t const known = job->parts.size();
        if (!job->copies->done) return search(job);
        std::erase_if(job->copies->found,
                      [&](RedactionCopy const& copy) { return job->has(copy); });
        if (job->ask.forks)
            for (RedactionCopy const& copy : job->copies->found) job->add(copy);
        plan(job, known);
    }));
}

// Removes the first `left` parts, the last one first.
void Redactor::apply(JobPtr const& job, std::size_t left) {
    if (left == 0) return job->finish();
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

// Once it is done, it is planned again: the answer is read from the event.
void Redactor::again(JobPtr const& job, std::size_t i) {
    ask_plan(job, i, [this, job, i](Result<RedactionPlan> plan) {
        if (!plan) return job->fail(std::move(plan.error()));
        job->parts[i].plan = std::move(*plan);
        apply(job, i + 1);
    });
}

}  // namespace dormouse::runner
