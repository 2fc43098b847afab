#pragma once
// What lanes read from a store, decoded. These run where reading may block; they touch nothing but
// the store.

#include "port/store.h"
#include "session/key.h"
#include "wire/record.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::wire {
class History;
}

namespace dormouse::runner {

// A session as it stands in the store. `state.lifecycle` is none when there is no such session.
struct LoadedSession {
    session::State state;
    Seq snapshot_seq = 0;
    std::vector<wire::RecordPtr>
        tail;  // from the snapshot (or the start) to the head, without gaps
    bool wake_known = false;
    std::optional<Time> wake_at;
    // All of them, made from the journal: set by read_anew.
    struct Rows {
        std::vector<port::PendingRow> pending;
        std::vector<port::KeyRow> keys;
    };
    std::optional<Rows> rows = {};
};
[[nodiscard]] Result<LoadedSession> read_session(port::JournalStore& store, SessionId session);
// From nothing but the journal; no snapshot and no row is believed.
[[nodiscard]] Result<LoadedSession> read_anew(port::JournalStore& store, SessionId session);

// The state that a journal begins with whose older part is gone; nullopt: it is whole. REQUIRES:
// `frames` begin with its first.
[[nodiscard]] Result<std::optional<session::State>> read_base(
    SessionId session, std::vector<port::Frame> const& frames);

// All records with sequence numbers from `from` to `to`, both included, that are in the journal: of
// what retention took (State::base) those that were still to be used.
[[nodiscard]] Result<std::vector<wire::RecordPtr>> read_records(port::JournalStore& store,
                                                                SessionId session, Seq from,
                                                                Seq to);

// The first of them: about `max_bytes`, and at least one if there is one.
[[nodiscard]] Result<std::vector<wire::RecordPtr>> read_some_records(port::JournalStore& store,
                                                                     SessionId session, Seq from,
                                                                     Seq to, std::size_t max_bytes);

// The bytes kept under these events, by artifactID. Bytes that are not there are `internal`.
using FilesById = std::map<std::string, std::shared_ptr<std::string const>, std::less<>>;
[[nodiscard]] Result<FilesById> read_files(port::JournalStore& store, SessionId session,
                                           std::vector<Seq> const& events);

// The beginning of a fork: what the session has said up to its last step at or before `seq`, and
// the artifacts that it names, whose bytes are still to be read. nullopt: nothing yet.
using NamedArtifacts = std::vector<std::pair<Seq, session::ArtifactEmitted>>;
struct ForkDraft {
    session::Create::ForkOf fork;
    NamedArtifacts artifacts;
    std::uint64_t artifact_bytes = 0;
};
// `cut`: of a transcript over `fork_transcript_bytes_max` the newest part.
inline constexpr std::size_t fork_transcript_bytes_max = std::size_t{8} << 20;
[[nodiscard]] std::optional<ForkDraft> draft_fork(session::State const& state,
                                                  wire::History const& history, Seq seq, bool cut);

// The beginning of a fork with its artifacts; without them if they are more than a fork may copy.
// Of a very long transcript the newest part. nullopt: nothing yet, or the session is gone.
[[nodiscard]] Result<std::optional<session::Create::ForkOf>> read_past(port::JournalStore& store,
                                                                       SessionId session, Seq seq);
// The bytes of artifacts, for a fork.
using ArtifactCopies = std::vector<std::pair<Seq, session::Artifact>>;
[[nodiscard]] Result<ArtifactCopies> read_artifacts(port::JournalStore& store, SessionId session,
                                                    NamedArtifacts const& artifacts);

// What was found for a command's Wanted. `base`: the event up to which the journal is gone.
[[nodiscard]] Result<session::Found> read_found(port::JournalStore& store, SessionId session,
                                                session::Wanted const& wanted, Seq base);

}  // namespace dormouse::runner
