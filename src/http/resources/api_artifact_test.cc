#include "http/resources/testing/api_fixture.h"

#include "base/text/text.h"
#include "json/json.h"

// Tests artifacts through the whole API: outputs too long for a record, and their copies in forks.
namespace dormouse::http {
namespace {

class ArtifactTest : public ApiTest {
protected:
    // Returns the id of the artifact that the newest large result was stored in.
    std::string put_aside(std::string const& pending, std::string const& output) {
        EXPECT_EQ(result(pending, output).status, 200);
        effects.reply();
        loop.run();
        session_path = "/api/sessions/" + PendingId::parse(pending)->session.text();
        return member(send("GET", session_path + "/messages"), "/items/1/parts/1/state/artifactID");
    }
    HttpReply fetch(std::string const& artifact, Headers headers = {}) {
        return send("GET", "/api/artifacts/" + artifact, "", std::move(headers));
    }
    std::string const text = std::string(std::size_t{1} << 20, 'x');
    std::string session_path;
};

TEST_F(ArtifactTest, LargeResult_ReadWhole_RepeatReturnsReceipt) {
    std::string const pending = waiting_call();
    std::string const artifact = put_aside(pending, json::quote(text));
    HttpReply const whole = fetch(artifact);
    EXPECT_EQ(whole.status, 200);
    EXPECT_EQ(whole.body, text);
    EXPECT_EQ(whole.content_type, "text/plain; charset=utf-8");
    EXPECT_EQ(header(whole, "Content-Disposition"), "inline; filename=\"output.txt\"");
    EXPECT_EQ(header(whole, "ETag"), "\"" + hex(sha256(text)) + "\"");
    HttpReply const messages = send("GET", session_path + "/messages");
    EXPECT_EQ(member(messages, "/items/1/parts/1/state/output/artifactID"), artifact);
    EXPECT_EQ(member(messages, "/items/1/parts/1/state/output/bytes"), "1048576");
    HttpReply const again = result(pending, json::quote(text));
    EXPECT_EQ(member(again, "/outcome"), "duplicate");
    std::string const digest =
        digest_text(sha256(json::canonical_object("output", Json::trusted(json::quote(text)))));
    EXPECT_EQ(member(again, "/receipt/digest"), digest);
    HttpReply const other = result(pending, json::quote(text + "y"));
    EXPECT_EQ(code(other), "conflict");
    EXPECT_EQ(member(other, "/digest"), digest);
}

TEST_F(ArtifactTest, ActiveContent_IsForDownloadOnly) {
    std::string const artifact = put_aside(waiting_call(), "[" + json::quote(text) + "]");
    HttpReply const whole = fetch(artifact);
    EXPECT_EQ(whole.content_type, "application/json");
    EXPECT_EQ(header(whole, "Content-Disposition"), "attachment; filename=\"output.json\"");
    EXPECT_EQ(header(whole, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(whole, "Content-Security-Policy"), "default-src 'none'; sandbox");
}

TEST_F(ArtifactTest, IfNoneMatch_Digest_ReturnsNotModified) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    std::string const tag = header(fetch(artifact), "ETag");
    HttpReply const known = fetch(artifact, {{"if-none-match", tag}});
    EXPECT_EQ(known.status, 304);
    EXPECT_EQ(known.body, "");
    EXPECT_EQ(header(known, "ETag"), tag);
    EXPECT_EQ(fetch(artifact, {{"if-none-match", "\"other\""}}).status, 200);
}

TEST_F(ArtifactTest, OtherIds_AreNotFound) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    std::string const before = artifact.substr(0, artifact.rfind('_') + 1);
    for (std::string const& id : {std::string("art_1"), artifact + "0", before + "1", before + "0",
                                  before + "18446744073709551615", "msg" + artifact.substr(3)}) {
        EXPECT_EQ(code(fetch(id)), "not_found") << id;
    }
    (void)send("DELETE", session_path);
    EXPECT_EQ(code(fetch(artifact)), "not_found");
}

TEST_F(ArtifactTest, MissingBytes_AreReportedAsDamage) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    for (auto& [id, kept] : journal.disk->sessions) kept.artifacts.clear();
    HttpReply const damaged = fetch(artifact);
    EXPECT_EQ(damaged.status, 500);
    EXPECT_TRUE(member(damaged, "/detail").contains(artifact));
    EXPECT_EQ(send("POST", session_path + "/fork", "{}").status, 500);
}

TEST_F(ArtifactTest, LargeBody_ReadInPieces) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    EXPECT_EQ(fetch(artifact).body, text);
    EXPECT_EQ(pieces, 4);
}

TEST_F(ArtifactTest, DamagedBytes_NeverSentWhole) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    for (auto& [id, kept] : journal.disk->sessions) {
        for (auto& [seq, bytes] : kept.artifacts) {
            std::string other = *bytes;
            other[10] = 'y';
            bytes = std::make_shared<std::string const>(other);
        }
    }
    EXPECT_LT(fetch(artifact).body.size(), text.size());
}

TEST_F(ArtifactTest, Head_ReadsNoBytes) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    for (auto& [id, kept] : journal.disk->sessions) kept.artifacts.clear();
    HttpRequest request;
    request.method = "GET";
    request.head_only = true;
    request.path = "/api/artifacts/" + artifact;
    request.segments = {"api", "artifacts", artifact};
    request.headers = {{"host", "localhost:3676"}, {"authorization", "Bearer s3cret"}};
    api.handle(std::move(request), std::make_shared<FakeResponder>(replies));
    loop.run();
    EXPECT_EQ(replies.back().status, 200);
    EXPECT_EQ(replies.back().source->size(), text.size());
}

TEST_F(ArtifactTest, Fork_OriginalDeleted_KeepsItsArtifacts) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    HttpReply const forked = send("POST", session_path + "/fork", "{}");
    EXPECT_EQ(forked.status, 201);
    std::string const fork = "/api/sessions/" + member(forked, "/id");
    std::string const at = "/items/1/parts/1/state";
    std::string const own = member(send("GET", fork + "/messages"), at + "/artifactID");
    EXPECT_NE(own, artifact);
    EXPECT_EQ(member(send("GET", fork + "/messages"), at + "/output/artifactID"), own);
    HttpReply const second = send("POST", fork + "/fork", "{}");
    EXPECT_EQ(second.status, 201);
    (void)send("DELETE", session_path);
    EXPECT_EQ(fetch(own).body, text);
    (void)send("DELETE", fork);
    std::string const last = "/api/sessions/" + member(second, "/id");
    EXPECT_EQ(fetch(member(send("GET", last + "/messages"), at + "/artifactID")).body, text);
}

// 8 artifacts of 8 MiB are 64 MiB; one byte more is too much for a fork, but not for a session.
TEST_F(ArtifactTest, Fork_CopiesAtMost64MiB) {
    auto const bytes = std::make_shared<std::string const>(std::string(std::size_t{8} << 20, 'x'));
    session::Artifact const large{"x.txt", "text/plain", bytes, sha256(*bytes)};
    session::Artifact const small{"y.txt", "text/plain", std::make_shared<std::string const>("y"),
                                  sha256("y")};
    session_path = "/api/sessions/" + create();
    (void)send("POST", session_path + "/prompt", R"({"text":"please"})");
    effects.reply({session::testing::plain()});
    loop.run();
    session::Done done{Json::trusted("1"), {}, {}, {std::vector(8, large), false}};
    effects.finish(done);
    loop.run();
    effects.reply({session::testing::plain()});
    loop.run();
    EXPECT_EQ(send("POST", session_path + "/fork", "{}").status, 201);
    done.attached.list = {small};
    effects.finish(done);
    loop.run();
    effects.reply();
    loop.run();
    HttpReply const refused = send("POST", session_path + "/fork", "{}");
    EXPECT_EQ(code(refused), "too_large");
    EXPECT_EQ(member(refused, "/limit"), "fork_artifact_bytes");
}

}  // namespace
}  // namespace dormouse::http
