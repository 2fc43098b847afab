#include "runner/transfer/live.h"

#include "base/check.h"
#include "runner/runner.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dormouse::runner {

namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20;

std::size_t size_of(port::Append const& append) {
    std::size_t out = append.frame.bytes.size();
    for (port::ArtifactRow const& artifact : append.artifacts) out += artifact.bytes->size();
    return out;
}

class Live : public std::enable_shared_from_this<Live> {
public:
    using Done = port::Fn<void(Result<std::vector<ImportedSession>>)>;
    Live(Runner& runner, port::Journal& journal, LiveImport import, Done done)
        : runner_(runner), journal_(journal), import_(std::move(import)), done_(std::move(done)) {}

    void next() {
        CHECK(at_ <= import_.sessions.size());
        while (at_ < import_.sessions.size() && !import_.sessions[at_].placing) report();
        bool const wanted = import_.wanted() && !runner_.draining();
        if (at_ == import_.sessions.size() || !wanted) return done_(std::move(results_));
        auto question = [placing = placing(), deleted = import_.options.deleted](
                            port::Store& store) { return placing->find(store, deleted); };
        port::ask(journal_, std::move(question),
                  [self = shared_from_this()](Result<bool> const& there) { self->found(there); });
    }

private:
    [[nodiscard]] std::shared_ptr<Placing> const& placing() {
        return import_.sessions[at_].placing;
    }
    [[nodiscard]] ImportedSession& result() { return import_.sessions[at_].result; }

    void report() {
        CHECK(at_ < import_.sessions.size());
        results_.push_back(result());
        import_.sessions[at_++].placing.reset();
    }

    void refuse(std::string why) {
        result().error = std::move(why);
        report();
        next();
    }

    void failed(Error const& error) {
        if (concerns_session(error.code)) return refuse(error.detail);
        done_(std::unexpected(error));
    }

    void found(Result<bool> const& there) {
        if (!there) return failed(there.error());
        result().before = *there;
        result().holds = placing()->has_work();
        std::string why = *there ? std::string() : why_not();
        if (!why.empty()) return refuse(std::move(why));
        if (*there || import_.options.dry_run) {
            report();
            return next();
        }
        write();
    }

    void write() {
        runner_.skip_number(placing()->id().number());
        appends_ = placing()->appends(runner_.epoch(), import_.options);
        CHECK(!appends_.empty() && appends_.back().row);
        last_ = {0, placing()->id(), appends_.back().row->project, appends_.back().frame};
        write_from(0);
    }

    // Returns why this server cannot import the session: the store cannot know what the server
    // would do for it. Empty: it can.
    [[nodiscard]] std::string why_not() {
        bool const started = import_.work == LiveWork::started || runner_.held();
        if (result().holds && !started)
            return "it has something to do, and this server works: import with --start to let it "
                   "continue here at once, after its original has ended, or import into another "
                   "data directory, which holds";
        auto const epochs = placing()->epochs();
        if (!epochs.empty() && !runner_.outlives(*epochs.rbegin()))
            return "a tool or a model worked for it when it was exported: export it again when it "
                   "waits or rests";
        return {};
    }

    void write_from(std::size_t first) {
        CHECK(first < appends_.size());
        std::vector<port::Append> piece;
        std::size_t bytes = 0;
        std::size_t end = first;
        for (; end < appends_.size() && (bytes == 0 || bytes < piece_bytes); ++end) {
            bytes += size_of(appends_[end]);
            piece.push_back(std::move(appends_[end]));
        }
        journal_.commit(std::move(piece), [self = shared_from_this(),
                                           end](std::vector<port::AppendResult> const& written) {
            self->written(written, end);
        });
    }

    void written(std::vector<port::AppendResult> const& results, std::size_t end) {
        CHECK(end <= appends_.size());
        for (port::AppendResult const& result : results) {
            if (result) continue;
            if (result.error().cause == port::AppendError::Cause::moved)
                return refuse("it or its number was used here meanwhile: import it again");
            return failed(result.error());
        }
        if (end < appends_.size()) return write_from(end);
        appends_.clear();
        runner_.imported(placing()->id(), placing()->rules());
        import_.written(last_);
        report();
        next();
    }

    Runner& runner_;
    port::Journal& journal_;
    LiveImport import_;
    Done done_;
    std::size_t at_ = 0;
    std::vector<port::Append> appends_ = {};  // of the session that is being written
    port::FeedRow last_ = {};
    std::vector<ImportedSession> results_ = {};
};

}  // namespace

void Runner::imported(SessionId session, std::vector<port::RuleRow> const& rules) {
    for (Rules::Entry& rule : Rules(rules).all()) rules_.put(std::move(rule));
    appended_elsewhere(session);
}

void import_live(Runner& runner, port::Journal& journal, LiveImport import,
                 port::Fn<void(Result<std::vector<ImportedSession>>)> done) {
    std::make_shared<Live>(runner, journal, std::move(import), std::move(done))->next();
}

}  // namespace dormouse::runner
