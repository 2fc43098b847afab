#pragma once
// Reads for lanes, decoded. They use nothing but the store, and run where reading may block.

#include "port/store.h"
#include "session/key.h"
#include "wire/journal/record.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dormouse::wire {
class History;
}

namespace dormouse::runner {

// A session as stored. `state.lifecycle` is none if it does not exist.
struct LoadedSession {
    session::State state;
    Seq snapshot_seq = 0;
    std::size_t snapshot_bytes = 0;  // 0: there is none that can be read
    std::size_t tail_bytes = 0;      // of the journal, to which `tail` belongs
    std::vector<wire::RecordPtr>
        tail;             // from the snapshot (or the start) to the head, without gaps
    port::Stamp stamp{};  // of the newest frame
    bool wake_known = false;
    std::optional<Time> wake_at;
    std::optional<port::TurnState> turn = {};  // of the session's row; nullopt: not known
    Epoch driver = 0;                          // 0: none
    bool lost = false;                         // see KnownSession
    // All rows, rebuilt from the journal; set by read_again.
    struct Rows {
        std::vector<port::PendingRow> pending;
        std::vector<port::KeyRow> keys;
    };
    std::optional<Rows> rows = {};
};
// Returns true if the session's journal still has this frame, which was its newest once. False: the
// store fell back to an earlier state, for example as a standby took over that lacked the frame.
[[nodiscard]] Result<bool> holds(port::JournalStore& store, session::State const& now,
                                 port::NewestFrame const& frame);
[[nodiscard]] Result<LoadedSession> read_session(port::JournalStore& store, SessionId session);
// A session, and its newest frame when it was in memory; head 0: it was not. LoadedSession::lost
// says that the store does not hold that frame.
struct KnownSession {
    SessionId id;
    port::NewestFrame known = {};
};
// Reads them in order, by port::load_each().
[[nodiscard]] std::vector<Result<LoadedSession>> read_sessions(
    port::JournalStore& store, std::span<KnownSession const> sessions);
// Sets LoadedSession::lost.
[[nodiscard]] Result<LoadedSession> compared(port::JournalStore& store, Result<LoadedSession> read,
                                             port::NewestFrame const& known);
// Reads the journal only, no snapshot and no rows.
[[nodiscard]] Result<LoadedSession> read_again(port::Store& store, SessionId session);

// The state with which a cut journal begins; nullopt: the journal is complete. REQUIRES: `frames`
// begin with the journal's first.
[[nodiscard]] Result<std::optional<session::State>> read_base(
    SessionId session, std::vector<port::Frame> const& frames);

// Reads all records in the journal from `from` to `to`, inclusive. From the part that retention
// removed (State::base), only the records that were still needed.
[[nodiscard]] Result<std::vector<wire::RecordPtr>> read_records(port::JournalStore& store,
                                                                SessionId session, Seq from,
                                                                Seq to);

// Reads the first of them: about `max_bytes`, at least one if there is one.
[[nodiscard]] Result<std::vector<wire::RecordPtr>> read_some_records(port::JournalStore& store,
                                                                     SessionId session, Seq from,
                                                                     Seq to, std::size_t max_bytes);

// Reads the bytes stored for these events, by artifactID. Missing bytes are an error: `internal`.
using FilesById = std::map<std::string, std::shared_ptr<std::string const>, std::less<>>;
[[nodiscard]] Result<FilesById> read_files(port::JournalStore& store, SessionId session,
                                           std::vector<Seq> const& events);

// The start of a fork: the session's messages up to its last step at or before `seq`, and the
// artifacts that they name, without their bytes. nullopt: nothing yet.
using NamedArtifacts = std::vector<std::pair<Seq, session::ArtifactEmitted>>;
struct ForkDraft {
    session::Create::ForkOf fork;
    NamedArtifacts artifacts;
    std::uint64_t artifact_bytes = 0;
};
// `cut`: only the newest part of a transcript over `fork_transcript_bytes_max`.
inline constexpr std::size_t fork_transcript_bytes_max = std::size_t{8} << 20;
[[nodiscard]] std::optional<ForkDraft> draft_fork(session::State const& state,
                                                  wire::History const& history, Seq seq, bool cut);

// The fork is stored only while this is the newest frame of the original, because a redaction may
// remove what it copies. REQUIRES: its messages were read after that frame was the newest one.
void set_source(session::Create::ForkOf& fork, port::NewestFrame const& newest);

// The start of a fork with its artifacts; without them if they are more than a fork may copy. Only
// the newest part of a very long transcript. nullopt: nothing yet, or the session is gone.
[[nodiscard]] Result<std::optional<session::Create::ForkOf>> read_past(port::JournalStore& store,
                                                                       SessionId session, Seq seq);
// Reads the bytes of artifacts, for a fork.
using ArtifactCopies = std::vector<std::pair<Seq, session::Artifact>>;
[[nodiscard]] Result<ArtifactCopies> read_artifacts(port::JournalStore& store, SessionId session,
                                                    NamedArtifacts const& artifacts);

// Reads what a command's Wanted names. `base`: the journal up to this event is gone.
[[nodiscard]] Result<session::Found> read_found(port::JournalStore& store, SessionId session,
                                                session::Wanted const& wanted, Seq base);

}  // namespace dormouse::runner
