#include "http/objects/etag.h"
#include "http/objects/objects.h"
#include "http/resources/sessions/handlers.h"

#include "json/json.h"
#include "runner/read/reading.h"
#include "session/limits.h"

namespace dormouse::http {

using namespace dormouse::session;

namespace {

std::optional<Error> too_large(runner::ForkDraft const& draft) {
    if (draft.fork.messages.text().size() > runner::fork_transcript_bytes_max) {
        return Error{Code::too_large,
                     "A fork copies at most 8 MiB of transcript; fork at an earlier seq.",
                     Json::trusted(R"({"limit":"fork_bytes","max":8388608})"), 0};
    }
    if (draft.artifacts.size() > limits::fork_artifacts_max) {
        return Error{Code::too_large,
                     "A fork copies at most 10,000 artifacts; fork at an earlier seq.",
                     Json::trusted(R"({"limit":"fork_artifacts","max":10000})"), 0};
    }
    if (draft.artifact_bytes <= limits::fork_artifact_bytes_max) return std::nullopt;
    return Error{Code::too_large,
                 "A fork copies at most 64 MiB of artifacts; fork at an earlier seq.",
                 Json::trusted(R"({"limit":"fork_artifact_bytes","max":67108864})"), 0};
}

using Copies = runner::ArtifactCopies;

// So often the original may change between a read of it and the append of the fork.
constexpr int fork_reads_max = 64;

void draft_fork(Api& api, ExchangePtr const& x, int reads);
void create_fork(Api& api, ExchangePtr const& x, Create create, int reads);

// The original changed. The copy is still good unless a redaction is among the changes.
void create_again(Api& api, ExchangePtr const& x, Create create, int reads) {
    if (reads == fork_reads_max)
        return x->fail({Code::overloaded, "The session changes all the time: fork it later."});
    SessionId const from = create.fork->from;
    api.services().runner.read_lane(from, [&api, x, reads, create = std::move(create)](
                                              Result<std::shared_ptr<runner::Lane>> lane) mutable {
        if (!lane) return x->fail(lane.error());
        if ((*lane)->state().redacted != create.fork->redacted)
            return draft_fork(api, x, reads + 1);
        runner::set_source(*create.fork, (*lane)->newest());
        create_fork(api, x, std::move(create), reads + 1);
    });
}

void create_fork(Api& api, ExchangePtr const& x, Create create, int reads) {
    auto const kept = std::make_shared<Create const>(create);
    api.services().runner.create(std::move(create), x->asker(),
                                 [&api, x, reads, kept](Result<runner::Created> created) {
                                     if (created)
                                         return answer_with_session(api, x, created->session, 201);
                                     if (created.error().code != Code::precondition_failed)
                                         return x->fail(created.error());
                                     create_again(api, x, *kept, reads);
                                 });
}

// If the original is deleted meanwhile, the answer is as if it had been deleted before.
void fork_with_artifacts(Api& api, ExchangePtr const& x, Create create,
                         runner::NamedArtifacts artifacts, int reads) {
    if (artifacts.empty()) return create_fork(api, x, std::move(create), reads);
    SessionId const from = create.fork->from;
    port::ask(
        api.services().journal,
        [from, artifacts = std::move(artifacts)](port::JournalStore& store) {
            return runner::read_artifacts(store, from, artifacts);
        },
        [&api, x, from, reads, create = std::move(create)](Result<Copies> copies) mutable {
            if (copies) {
                create.fork->artifacts = *std::move(copies);
                return create_fork(api, x, std::move(create), reads);
            }
            // A redaction may have removed one of them.
            bool const removed = copies.error().code == Code::internal;
            auto const redacted = create.fork->redacted;
            api.services().runner.read_lane(
                from, [&api, x, reads, removed, redacted,
                       error = copies.error()](Result<std::shared_ptr<runner::Lane>> lane) {
                    if (!lane) return x->fail(lane.error());
                    bool const again = removed && (*lane)->state().redacted != redacted;
                    if (!again || reads == fork_reads_max) return x->fail(error);
                    draft_fork(api, x, reads + 1);
                });
        });
}

// Reads the original, and creates the fork.
void draft_fork(Api& api, ExchangePtr const& x, int reads) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    Body body(json::View(x->body), fork_request);
    if (body.error()) return x->fail(*body.error());
    auto const seq = body.integer("seq");
    std::string const title = body.string_or_empty("title");
    read_history(api, *id, [&api, x, seq, title, reads](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        State const& state = snapshot->lane->state();
        Seq const upto = seq ? static_cast<Seq>(*seq) : state.head;
        if (state.agent == no_agent)
            return x->fail({Code::wrong_kind,
                            "This session has no agent: it holds one call that a client made."});
        if (upto > state.head)
            return x->fail(bad_value("/seq", "the session has only " + std::to_string(state.head)));
        if (upto <= state.base.through) return x->fail(history_gone());
        auto draft = runner::draft_fork(state, snapshot->history, upto, false);
        if (!draft) return x->fail(bad_value("/seq", "no step of the model was committed by then"));
        if (auto const error = too_large(*draft)) return x->fail(*error);
        Create create;
        create.project = state.project;
        create.agent = state.agent;
        if (auto const error = refuse_agent(api, *x, create.agent)) return x->fail(*error);
        create.title = title.empty() ? state.title : title;
        create.labels = state.labels;
        create.fork = std::move(draft->fork);
        runner::set_source(*create.fork, snapshot->lane->newest());
        fork_with_artifacts(api, x, std::move(create), std::move(draft->artifacts), reads);
    });
}

}  // namespace

void fork_session(Api& api, ExchangePtr const& x) { draft_fork(api, x, 0); }

}  // namespace dormouse::http
