#include "tool/run.h"

#include "tool/names.h"

#include "base/media.h"
#include "base/url.h"
#include "json/stored.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace dormouse::tools {

namespace {

// Longer than any wait; after some centuries the clock's arithmetic would overflow.
constexpr Duration longest_wait = std::chrono::years(1);

RawOutcome guarded(Tool const& tool, Call const& call) {
    try {
        return tool.execute(call);
    } catch (std::exception const& error) {
        return Failed{std::string("the tool threw: ") + error.what()};
    } catch (...) {
        return Failed{"the tool threw a value that is not an exception"};
    }
}

std::string too_large(std::size_t size, std::size_t limit) {
    return "response_too_large: the output has " + std::to_string(size) +
           " bytes, and this tool's limit is " + std::to_string(limit) +
           "; nothing was stored. Request a smaller result.";
}

// Returns what is wrong with an artifact; empty: nothing.
std::string wrong(Artifact const& artifact) {
    if (!is_file_name(artifact.name))
        return "the name of an artifact must be that of a file: 1 to 255 bytes, without / and \\";
    if (!artifact.mime.empty() && !is_media_type(artifact.mime))
        return "the mime of an artifact must be a media type such as text/csv or image/png";
    return {};
}

// Replaces bytes that are not UTF-8 with U+FFFD. Returns what is wrong; nullopt: `value` is JSON.
std::optional<std::string> unusable(std::string_view what, Json& value) {
    auto read = json::repaired(value);
    if (!read) return "the tool's " + std::string(what) + " is not JSON: " + read.error().detail;
    value = std::move(*read);
    return std::nullopt;
}

RawOutcome checked(Prepared const& prepared, Done<Json> done) {
    Declaration const& declared = prepared.tool->declaration();
    if (auto why = unusable("output", done.value)) return Failed{*std::move(why)};
    if (auto why = unusable("metadata", done.metadata)) return Failed{*std::move(why)};
    for (Artifact const& artifact : done.artifacts) {
        if (auto why = wrong(artifact); !why.empty()) return Failed{std::move(why)};
    }
    if (done.value.size() > declared.output_limit)
        return Failed{too_large(done.value.size(), declared.output_limit)};
    if (prepared.result) {
        if (auto const found = prepared.result->violations(done.value); !found.empty())
            return Failed{"the tool's output does not fit its result schema:" + describe(found)};
    }
    if (auto why = refusal_of(declared, done.value))
        return Failed{"the tool's output is refused: " + *why};
    return done;
}

// Returns which part of a pause is too large; empty: none.
std::string_view oversized(PauseOptions const& options) {
    for (auto const& [name, size] :
         {std::pair("ref", options.ref.size()), std::pair("message", options.message.size()),
          std::pair("form", options.form.size()), std::pair("state", options.state.size()),
          std::pair("metadata", options.metadata.size()),
          std::pair("webhook_secret", options.webhook_secret.size())}) {
        if (size > pause_part_max) return name;
    }
    return {};
}

RawOutcome checked(Prepared const& prepared, Paused paused) {
    Declaration const& declared = prepared.tool->declaration();
    PauseReason const why = reason(paused.await);
    if (!declared.may_pause.has(why))
        return Failed{"the tool paused for " + std::string(text(why)) +
                      " without having declared it"};
    if (auto const name = oversized(paused.options); !name.empty())
        return Failed{"the tool paused with a " + std::string(name) + " of more than " +
                      std::to_string(pause_part_max) + " bytes"};
    if (paused.options.within && *paused.options.within <= Duration())
        return Failed{"the tool paused with a deadline that has passed"};
    if (auto const& url = paused.options.webhook_url; !url.empty()) {
        if (auto const why = wrong_url(url); !why.empty())
            return Failed{"the tool paused with a webhook_url that " + std::string(why)};
    }
    for (auto const& [name, value] :
         {std::pair("placeholder", &paused.placeholder), std::pair("form", &paused.options.form),
          std::pair("state", &paused.options.state),
          std::pair("metadata", &paused.options.metadata)}) {
        if (auto why = unusable(name, *value)) return Failed{*std::move(why)};
    }
    if (paused.options.need == 0) return Failed{"the tool paused for zero answers"};
    if (paused.placeholder.size() > declared.output_limit) paused.placeholder = {};
    return paused;
}

}  // namespace

Prepared::Prepared(ToolPtr of) : tool(std::move(of)), input(tool->declaration().input_schema) {
    if (auto const& schema = tool->declaration().result_schema; !schema.is_null())
        result.emplace(schema);
}

RawOutcome run(Prepared const& prepared, Call const& call) {
    if (auto const read = json::check(call.input().text()); !read)
        return Failed{"the arguments are not JSON: " + read.error().detail};
    if (auto const found = prepared.input.violations(call.input()); !found.empty())
        return Failed{"the arguments do not fit:" + describe(found)};
    RawOutcome outcome = guarded(*prepared.tool, call);
    if (auto* done = std::get_if<Done<Json>>(&outcome)) return checked(prepared, std::move(*done));
    if (auto* paused = std::get_if<Paused>(&outcome)) return checked(prepared, std::move(*paused));
    return outcome;
}

RawOutcome run_in_time(std::shared_ptr<Prepared const> prepared, Call const& call) {
    struct Shared {
        std::mutex mutex;
        std::condition_variable ended;
        std::optional<RawOutcome> outcome;
    };
    auto const shared = std::make_shared<Shared>();
    std::stop_source stop;
    std::stop_callback const passed_on(call.stop(), [&] { stop.request_stop(); });
    Call::Facts facts = call.facts();
    facts.stop = stop.get_token();
    Duration const limit = std::min(prepared->tool->declaration().time_limit, longest_wait);
    auto work = [prepared = std::move(prepared), shared, own = Call(std::move(facts))] {
        RawOutcome outcome = run(*prepared, own);
        std::lock_guard const lock(shared->mutex);
        shared->outcome = std::move(outcome);
        shared->ended.notify_one();
    };
    try {
        std::thread(std::move(work)).detach();
    } catch (std::system_error const& error) {
        return Failed{std::string("no thread is available to run the tool: ") + error.what(), true};
    }
    std::unique_lock lock(shared->mutex);
    if (shared->ended.wait_for(lock, limit, [&] { return shared->outcome.has_value(); }))
        return std::move(*shared->outcome);
    stop.request_stop();
    return InDoubt{"the tool took longer than its time limit of " + std::to_string(limit.count()) +
                   " ms"};
}

}  // namespace dormouse::tools
