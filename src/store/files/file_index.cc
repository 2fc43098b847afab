#include "store/files/file_index.h"

#include <algorithm>
#include <utility>

namespace dormouse::store {

using files::Folder;

namespace {

constexpr std::string_view extension = ".json";
constexpr char const* index_name = "index.json";
constexpr std::size_t index_bytes_max = std::size_t{1} << 30;

template <class Id> std::string file_of(Id const& id) { return id.text().append(extension); }

// nullopt: not the name of such a file.
template <class Id> std::optional<Id> id_of(std::string_view file) {
    if (!file.ends_with(extension)) return std::nullopt;
    auto id = Id::parse(file.substr(0, file.size() - extension.size()));
    return id && file_of(*id) == file ? id : std::nullopt;
}

bool is_temporary(std::string_view file) {
    return file.starts_with('.') && file.ends_with(std::string(extension) + ".new");
}

// Removes the files of ids that `stays` does not name, and what a crash left.
template <class Id, class Stays> Result<void> sweep(Folder const& folder, Stays stays) {
    auto const entries = folder.entries();
    if (!entries) return std::unexpected(entries.error());
    for (Folder::Entry const& entry : *entries) {
        auto const id = id_of<Id>(entry.name);
        bool const goes = id ? !stays(*id) : is_temporary(entry.name);
        if (entry.folder || !goes) continue;
        if (auto removed = folder.remove(entry.name); !removed) return removed;
    }
    return folder.sync();
}

}  // namespace

Result<std::string> FileIndex::open() {
    contents_ = {};
    unflushed_ = false;
    rebuilding_ = false;
    if (auto opened = open_folders(); !opened) return std::unexpected(opened.error());
    auto const stored = folders_->calls.read(index_name, index_bytes_max);
    if (!stored) return std::unexpected(stored.error());
    auto contents = files::parse_contents(stored->value_or(""));
    if (!contents) return std::string();
    contents_ = *std::move(contents);
    auto const complete = is_complete();
    if (!complete) return std::unexpected(complete.error());
    return *complete ? contents_.position : std::string();
}

Result<void> FileIndex::open_folders() {
    folders_.reset();
    auto const top = Folder::open(directory_);
    if (!top) return std::unexpected(top.error());
    auto const storage = top->inner("storage");
    if (!storage) return std::unexpected(storage.error());
    auto calls = storage->inner("pending_tool");
    if (!calls) return std::unexpected(calls.error());
    auto sessions = storage->inner("session");
    if (!sessions) return std::unexpected(sessions.error());
    folders_.emplace(*std::move(calls), *std::move(sessions));
    return {};
}

// Returns true if each call in the index, and its session, has a file.
Result<bool> FileIndex::is_complete() const {
    auto const entries = folders_->calls.entries();
    if (!entries) return std::unexpected(entries.error());
    std::set<PendingId> calls;
    for (Folder::Entry const& entry : *entries)
        if (auto const id = id_of<PendingId>(entry.name); id && !entry.folder) calls.insert(*id);
    auto const sessions = stored_sessions();
    if (!sessions) return std::unexpected(sessions.error());
    return std::ranges::all_of(contents_.calls, [&](auto const& call) {
        return calls.contains(call.first) && sessions->contains(call.first.session);
    });
}

Result<std::set<SessionId>> FileIndex::stored_sessions() const {
    auto const projects = folders_->sessions.entries();
    if (!projects) return std::unexpected(projects.error());
    std::set<SessionId> out;
    for (Folder::Entry const& project : *projects) {
        if (!project.folder) continue;
        auto const folder = folders_->sessions.inner(project.name);
        if (!folder) return std::unexpected(folder.error());
        auto const entries = folder->entries();
        if (!entries) return std::unexpected(entries.error());
        for (Folder::Entry const& entry : *entries)
            if (auto const id = id_of<SessionId>(entry.name); id && !entry.folder) out.insert(*id);
    }
    return out;
}

// The files stay until the end, so that readers find something meanwhile.
Result<void> FileIndex::begin_rebuild() {
    contents_ = {};
    rebuilt_.clear();
    rebuilding_ = true;
    return {};
}

Result<void> FileIndex::apply(port::IndexBatch const& batch) {
    if (auto written = write_calls(batch.calls); !written) return written;
    if (auto written = write_sessions(batch.sessions); !written) return written;
    if (auto removed = remove(batch.deleted); !removed) return removed;
    contents_.position = batch.position;
    if (batch.position.empty()) return {};
    unflushed_ = true;
    return rebuilding_ ? end_rebuild() : Result<void>();
}

Result<void> FileIndex::write_calls(std::vector<port::CallDocument> const& calls) {
    std::vector<Folder::File> out;
    for (port::CallDocument const& call : calls) out.emplace_back(file_of(call.id), call.text);
    if (auto written = folders_->calls.replace(out); !written) return written;
    for (port::CallDocument const& call : calls)
        contents_.calls[call.id] = {call.status, call.expires};
    return {};
}

Result<void> FileIndex::write_sessions(std::vector<port::SessionDocument> const& sessions) {
    std::map<std::string, std::vector<Folder::File>> projects;
    for (port::SessionDocument const& one : sessions)
        projects[files::folder_of(one.project)].emplace_back(file_of(one.id), one.text);
    for (auto const& [name, out] : projects) {
        auto const folder = folders_->sessions.inner(name);
        if (!folder) return std::unexpected(folder.error());
        if (auto written = folder->replace(out); !written) return written;
    }
    if (rebuilding_)
        for (port::SessionDocument const& one : sessions) rebuilt_.insert(one.id);
    return {};
}

Result<void> FileIndex::remove(std::vector<port::DeletedSession> const& deleted) {
    for (port::DeletedSession const& one : deleted) {
        auto call = contents_.calls.lower_bound({.session = one.id});
        while (call != contents_.calls.end() && call->first.session == one.id) {
            auto removed = folders_->calls.remove(file_of(call->first));
            if (!removed) return removed;
            call = contents_.calls.erase(call);
        }
        auto const folder = folders_->sessions.inner(files::folder_of(one.project));
        if (!folder) return std::unexpected(folder.error());
        if (auto removed = folder->remove(file_of(one.id)); !removed) return removed;
    }
    return {};
}

Result<void> FileIndex::end_rebuild() {
    auto const known = [this](PendingId const& id) { return contents_.calls.contains(id); };
    if (auto swept = sweep<PendingId>(folders_->calls, known); !swept) return swept;
    if (auto removed = remove_other_sessions(); !removed) return removed;
    rebuilding_ = false;
    rebuilt_.clear();
    return flush();
}

Result<void> FileIndex::remove_other_sessions() const {
    auto const projects = folders_->sessions.entries();
    if (!projects) return std::unexpected(projects.error());
    auto const known = [this](SessionId const& id) { return rebuilt_.contains(id); };
    for (Folder::Entry const& project : *projects) {
        if (!project.folder) continue;
        auto const folder = folders_->sessions.inner(project.name);
        if (!folder) return std::unexpected(folder.error());
        if (auto swept = sweep<SessionId>(*folder, known); !swept) return swept;
    }
    return {};
}

std::optional<Duration> FileIndex::flush_within() const {
    return unflushed_ ? std::optional(files::write_within(contents_)) : std::nullopt;
}

Result<void> FileIndex::flush() {
    if (!unflushed_) return {};
    std::string const text = files::text_of(contents_);
    auto written = folders_->calls.replace({{index_name, text}});
    unflushed_ = !written;
    return written;
}

}  // namespace dormouse::store
