#include "operator/kube/reflector.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/kube_protobuf.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"
#include "operator/kube/pod_decoder.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Object(const std::string& name, int version) {
  return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":"u-)" + name +
         R"(","resourceVersion":")" + std::to_string(version) + R"("}})";
}
std::string Event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
std::string Bookmark(int version) {
  return Event("BOOKMARK",
               R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"("}})");
}
std::string Failure(int code, const std::string& reason) {
  return R"({"kind":"Status","status":"Failure","reason":")" + reason +
         R"(","message":"m","code":)" + std::to_string(code) + "}";
}
// A message with one field, and what a server makes of it.
std::string Message(int number, std::string_view bytes) {
  std::string message;
  AppendField(number, bytes, &message);
  return message;
}
std::string ProtobufObject(std::string_view name, std::string_view version) {
  return Message(1, Message(1, name) + Message(3, "ns") + Message(6, version));
}
std::string Frame(std::string_view type, std::string_view object) {
  const std::string event = Message(1, type) + Message(2, Message(1, WrapKubeProtobuf(object)));
  return std::string("\0\0\0", 3) + static_cast<char>(event.size()) + event;
}
HttpReply List(const std::vector<std::string>& items, int version, const std::string& token = "") {
  std::string body = R"({"metadata":{"resourceVersion":")" + std::to_string(version) +
                     R"(","continue":")" + token + R"("},"items":[)";
  for (size_t i = 0; i < items.size(); ++i) body += (i > 0 ? "," : "") + items[i];
  return {.code = 200, .body = body + "]}"};
}

class ReflectorTest : public testing::Test {
 protected:
  ReflectorTest() { reflector_->Start(); }

  void Run(Clock::Duration time = 0s) { executor_.RunUntil(executor_.clock().Now() + time); }
  // Another one, in place of the first.
  void Restart(ReflectorOptions options) {
    reflector_->Stop();
    transport_.Reply(List({}, 1));  // Of the one that was stopped.
    Run();
    reflector_ = std::make_unique<Reflector<OwnedObject>>(transport_, executor_, random_, store_,
                                                          DecodeOwnedObject, std::move(options));
    reflector_->Start();
  }
  void Answer(absl::StatusOr<HttpReply> reply) {
    transport_.Reply(std::move(reply));
    Run();
  }
  // Lists `items` and opens the watch.
  void Sync(const std::vector<std::string>& items, int version) {
    Answer(List(items, version));
    transport_.stream().Open(200);
    Run();
  }
  void Send(const std::string& text) {
    transport_.stream().Send(text);
    Run();
  }
  void End(const absl::Status& status = absl::OkStatus()) {
    transport_.stream().End(status);
    Run();
  }
  std::vector<std::string> Names() {
    std::vector<std::string> out;
    for (const auto& [key, object] : store_.objects()) {
      out.push_back(object->meta.name + "@" + object->meta.resource_version);
    }
    return out;
  }
  // What is asked next within a minute: "list", "watch" or "nothing".
  std::string Next() {
    const size_t streams = transport_.streams();
    executor_.RunUntil(executor_.clock().Now() + 61s, [&] {
      return transport_.waiting() > 0 || transport_.streams() > streams;
    });
    return transport_.waiting() > 0 ? "list" : transport_.streams() > streams ? "watch" : "nothing";
  }
  std::string WatchedFrom() {
    const std::string& path = transport_.stream().request.path;
    const size_t at = path.find("resourceVersion=") + 16;
    return path.substr(at, path.find('&', at) - at);
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  SeededRandom random_{1};
  Store<OwnedObject> store_;
  int decoded_ = 0;
  std::unique_ptr<Reflector<OwnedObject>> reflector_ = std::make_unique<Reflector<OwnedObject>>(
      transport_, executor_, random_, store_,
      [this](std::string_view raw) {
        ++decoded_;
        return DecodeOwnedObject(raw);
      },
      ReflectorOptions{.path = "/api/v1/pods", .label_selector = "a=b"});
};

class AbsentKindTest : public ReflectorTest {
 protected:
  AbsentKindTest() { Restart({.path = "/apis/kubeflow.org/v1/tfjobs", .may_be_absent = true}); }
};

TEST_F(AbsentKindTest, AKindThatTheServerDoesNotHaveIsSyncedAndLookedForAgain) {
  Answer(HttpReply{.code = 404, .body = "404 page not found\n"});
  EXPECT_TRUE(reflector_->synced());
  EXPECT_THAT(Names(), IsEmpty());
  ASSERT_EQ(Next(), "list");
  Answer(HttpReply{.code = 404, .body = "404 page not found\n"});
  ASSERT_EQ(Next(), "list");
  Sync({Object("a", 3)}, 10);
  EXPECT_THAT(Names(), ElementsAre("a@3"));
}

TEST_F(AbsentKindTest, IsLookedForSoonAndThenEverMoreRarely) {
  std::vector<Clock::Duration> waits;
  for (int i = 0; i < 6; ++i) {
    Answer(HttpReply{.code = 404, .body = "404 page not found\n"});
    const Clock::Time start = executor_.clock().Now();
    ASSERT_EQ(Next(), "list");
    waits.push_back(executor_.clock().Now() - start);
  }
  EXPECT_THAT(waits, ElementsAre(1s, 2s, 4s, 8s, 16s, 30s));
}

TEST_F(AbsentKindTest, ObjectsOfAKindThatIsRemovedAreGoneAndThoseOfItsReturnAreSeen) {
  Sync({Object("a", 3)}, 10);
  Send(Event("ERROR", Failure(410, "Expired")));
  ASSERT_EQ(Next(), "list");
  Answer(HttpReply{.code = 404, .body = Failure(404, "NotFound")});
  EXPECT_THAT(Names(), IsEmpty());
  ASSERT_EQ(Next(), "list");
  Sync({Object("b", 2)}, 5);  // Of another server, whose versions begin anew.
  EXPECT_THAT(Names(), ElementsAre("b@2"));
}

TEST_F(ReflectorTest, A404IsAFailureWhereTheKindMustExist) {
  Answer(HttpReply{.code = 404, .body = Failure(404, "NotFound")});
  EXPECT_FALSE(reflector_->synced());
}

TEST_F(ReflectorTest, TheFirstListIsAQuorumReadInPagesAndTheWatchGoesOnFromIt) {
  EXPECT_EQ(transport_.request().path, "/api/v1/pods?labelSelector=a%3Db&limit=500");
  Answer(List({Object("a", 3)}, 10, "more"));
  EXPECT_FALSE(reflector_->synced());
  EXPECT_THAT(Names(), IsEmpty());  // Half a list is no state of the world.
  EXPECT_EQ(transport_.request().path, "/api/v1/pods?labelSelector=a%3Db&limit=500&continue=more");
  Answer(List({Object("b", 5)}, 10));
  EXPECT_TRUE(reflector_->synced());
  EXPECT_THAT(Names(), ElementsAre("a@3", "b@5"));
  EXPECT_THAT(transport_.stream().request.path,
              AllOf(HasSubstr("watch=true"), HasSubstr("allowWatchBookmarks=true"),
                    HasSubstr("resourceVersion=10&"), HasSubstr("labelSelector=a%3Db")));
}

// Symptom: one user's jobs of 1.2 MB made the first page of all jobs longer than what is read, so
// that the operator asked for the same page for ever and nobody's jobs got pods.
TEST_F(ReflectorTest, APageThatIsTooLongIsAskedForInSmallerOnes) {
  const auto too_long = absl::ResourceExhaustedError("the reply is longer than 16777216 bytes");
  EXPECT_EQ(transport_.request().body_bytes_max, kPageBytesMax);
  Answer(too_long);
  EXPECT_THAT(transport_.request().path, HasSubstr("&limit=250"));
  Answer(too_long);
  EXPECT_THAT(transport_.request().path, HasSubstr("&limit=125"));
  Answer(List({Object("a", 3)}, 10, "more"));
  EXPECT_THAT(transport_.request().path, HasSubstr("&limit=250&continue=more"));
  Answer(too_long);
  EXPECT_THAT(transport_.request().path, HasSubstr("&limit=125&continue=more"));
  Answer(List({Object("b", 5)}, 10));
  EXPECT_TRUE(reflector_->synced());
  EXPECT_THAT(Names(), ElementsAre("a@3", "b@5"));
  EXPECT_EQ(reflector_->counts().lists, 1u);
}

TEST_F(ReflectorTest, AnObjectThatIsLongerThanAPageIsLeftOutAndTheOthersAreSeen) {
  Sync({Object("a", 3), Object("b", 4), Object("c", 5)}, 10);
  Send(Event("ERROR", Failure(410, "Expired")));
  ASSERT_EQ(Next(), "list");
  Answer(List({Object("a", 3)}, 20, "b"));
  const auto too_long = absl::ResourceExhaustedError("the reply is longer than 16777216 bytes");
  while (transport_.waiting() > 0) Answer(too_long);
  EXPECT_THAT(transport_.stream().request.path, HasSubstr("&limit=1&continue=b"));
  transport_.stream().Open(200);
  std::string body = List({Object("b", 15)}, 20, "c").body;
  body.insert(body.find("\"uid\""), "\"x\":\"" + std::string(20 << 20, 'x') + "\",");
  Send(body);
  End();
  EXPECT_THAT(transport_.request().path, HasSubstr("&continue=c"));
  Answer(List({Object("c", 16)}, 20));
  EXPECT_THAT(Names(), ElementsAre("a@3", "b@4", "c@16")) << "what was known of it stays";
  EXPECT_EQ(reflector_->counts().skipped, 1u);
  EXPECT_THAT(transport_.stream().request.path, HasSubstr("watch=true"));
}

TEST_F(ReflectorTest, AnObjectThatIsTooLongAndCannotBeSkimmedIsTriedAgainLater) {
  while (transport_.waiting() > 0) {
    Answer(absl::ResourceExhaustedError("the reply is longer than 16777216 bytes"));
  }
  transport_.stream().Open(410);
  Send(Failure(410, "Expired"));
  End();
  EXPECT_FALSE(reflector_->synced());
  EXPECT_EQ(Next(), "list");
  EXPECT_THAT(transport_.request().path, HasSubstr("&limit=1"));
  Sync({Object("a", 3)}, 10);
  EXPECT_THAT(Names(), ElementsAre("a@3"));
}

// Symptom to prevent: one object in which a reader of it finds what it never thought of ends the
// process that watches all objects.
TEST_F(ReflectorTest, ADecoderThatThrowsCostsItsObjectOnly) {
  transport_.Reply(List({}, 1));
  Run();
  reflector_ = std::make_unique<Reflector<OwnedObject>>(
      transport_, executor_, random_, store_,
      [](std::string_view raw) -> absl::StatusOr<OwnedObject> {
        if (raw.find("\"bad\"") != std::string_view::npos) throw std::out_of_range("no such key");
        return DecodeOwnedObject(raw);
      },
      ReflectorOptions{.path = "/api/v1/pods"});
  reflector_->Start();
  Sync({Object("a", 3), Object("bad", 4)}, 10);
  Send(Event("ADDED", Object("bad", 11)) + Event("ADDED", Object("b", 12)));
  EXPECT_THAT(Names(), ElementsAre("a@3", "b@12"));
  EXPECT_EQ(reflector_->counts().skipped, 2u);
}

TEST_F(ReflectorTest, APageThatTakesTooLongIsSmallerNextTime) {
  Answer(absl::DeadlineExceededError("no reply within 60000 ms"));
  ASSERT_EQ(Next(), "list");
  EXPECT_THAT(transport_.request().path, HasSubstr("&limit=250"));
}

TEST_F(ReflectorTest, EventsChangeTheStore) {
  Sync({Object("a", 3)}, 10);
  Send(Event("ADDED", Object("b", 11)) + Event("MODIFIED", Object("a", 12)));  // C2
  EXPECT_THAT(Names(), ElementsAre("a@12", "b@11"));
  Send(Event("DELETED", Object("b", 13)));
  EXPECT_THAT(Names(), ElementsAre("a@12"));
  EXPECT_EQ(reflector_->counts().events, 3u);
}

TEST_F(ReflectorTest, TheEventOfAnOwnWriteIsCountedAndNotDecodedOnceMore) {
  Sync({}, 10);
  store_.Observe(*DecodeOwnedObject(Object("a", 11)));
  Send(Event("ADDED", Object("a", 11)));
  EXPECT_EQ(decoded_, 0);
  EXPECT_EQ(reflector_->counts().events, 1u);
  store_.Observe(*DecodeOwnedObject(Object("late", 11)));
  EXPECT_THAT(Names(), ElementsAre("a@11")) << "that the watch is as far was forgotten";
  Send(Event("MODIFIED", Object("a", 12)));
  EXPECT_EQ(decoded_, 1);
  EXPECT_THAT(Names(), ElementsAre("a@12"));
}

TEST_F(ReflectorTest, AServerThatHasProtobufIsListedAndWatchedInIt) {
  EXPECT_THAT(transport_.request().accept, IsEmpty());
  Restart({.path = "/api/v1/pods", .protobuf = true});
  EXPECT_THAT(transport_.request().accept, HasSubstr("protobuf"));
  Answer(HttpReply{.code = 200,
                   .body = WrapKubeProtobuf(Message(1, Message(2, "10")) +
                                            Message(2, ProtobufObject("a", "3")))});
  EXPECT_THAT(transport_.stream().request.accept, HasSubstr("protobuf"));
  transport_.stream().Open(200);
  Send(Frame("MODIFIED", ProtobufObject("a", "12")) + Frame("ADDED", ProtobufObject("b", "13")));
  EXPECT_THAT(Names(), ElementsAre("a@12", "b@13"));
  Send(Frame("DELETED", ProtobufObject("a", "14")));
  Send(Frame("BOOKMARK", Message(1, Message(6, "20"))));
  EXPECT_THAT(Names(), ElementsAre("b@13"));
  End();
  EXPECT_EQ(WatchedFrom(), "20");
  transport_.stream().Open(200);
  std::string expired = Message(4, "Expired");
  AppendField(6, uint64_t{410}, &expired);
  Send(Frame("ERROR", expired));
  EXPECT_EQ(Next(), "list");
}

TEST_F(ReflectorTest, C1LineSplitAtEachByte) {
  const std::string text = Event("ADDED", Object("b", 11));
  Sync({}, 10);
  for (const char c : text) Send(std::string(1, c));
  EXPECT_THAT(Names(), ElementsAre("b@11"));
}

TEST_F(ReflectorTest, C3AStreamCutInsideALineResumesBeforeThatLine) {
  Sync({}, 10);
  Send(Event("ADDED", Object("a", 11)) + R"({"type":"ADDED","obj)");
  End(absl::UnavailableError("reset"));
  EXPECT_EQ(WatchedFrom(), "11");
  transport_.stream().Open(200);
  Send(Event("ADDED", Object("b", 12)));
  EXPECT_THAT(Names(), ElementsAre("a@11", "b@12"));
  EXPECT_EQ(reflector_->counts().lists, 1u);
}

TEST_F(ReflectorTest, C4ALineThatIsTooLongLeadsToAList) {
  Sync({}, 10);
  Send(std::string(9 << 20, 'x'));
  EXPECT_TRUE(transport_.stream().gone());
  EXPECT_EQ(Next(), "list");
}

TEST_F(ReflectorTest, C6AnUnknownTypeIsSkipped) {
  Sync({}, 10);
  Send(Event("SPARKLE", Object("a", 11)) + Event("ADDED", Object("b", 12)));
  EXPECT_THAT(Names(), ElementsAre("b@12"));
  EXPECT_EQ(reflector_->counts().skipped, 1u);
}

TEST_F(ReflectorTest, C7ALineThatIsNoJsonLeadsToAList) {
  Sync({}, 10);
  Send("<html>proxy</html>\n");
  EXPECT_EQ(Next(), "list");
}

TEST_F(ReflectorTest, C8ABookmarkMovesTheVersionAndNothingElse) {
  Sync({Object("a", 3)}, 10);
  Send(Bookmark(40));
  EXPECT_THAT(Names(), ElementsAre("a@3"));
  End();
  EXPECT_EQ(WatchedFrom(), "40");
}

TEST_F(ReflectorTest, C10AWatchRefusedWith410LeadsToAList) {
  Answer(List({Object("a", 3)}, 10));
  transport_.stream().Open(410);
  transport_.stream().Send(Failure(410, "Expired"));
  End();
  EXPECT_EQ(Next(), "list");
  // Until the list has come, the old view is the best there is.
  EXPECT_THAT(Names(), ElementsAre("a@3"));
}

TEST_F(ReflectorTest, C11AnErrorEventWith410LeadsToAListAndVanishedObjectsAreToldC25) {
  Sync({Object("a", 3), Object("b", 4)}, 10);
  std::vector<std::string> gone;
  store_.set_on_change([&](const auto& before, const auto& after) {
    if (after == nullptr) gone.push_back(before->meta.name);
  });
  Send(Event("ERROR", Failure(410, "Expired")));
  ASSERT_EQ(Next(), "list");
  Answer(List({Object("b", 4)}, 50));
  EXPECT_THAT(gone, ElementsAre("a"));
  EXPECT_EQ(WatchedFrom(), "50");
}

TEST_F(ReflectorTest, C12A410OnAContinueTokenStartsTheListAgain) {
  Answer(List({Object("a", 3)}, 10, "more"));
  Answer(HttpReply{.code = 410, .body = Failure(410, "Expired")});
  ASSERT_EQ(Next(), "list");
  EXPECT_THAT(transport_.request().path, Not(HasSubstr("continue")));
  Answer(List({Object("b", 5)}, 20));
  EXPECT_THAT(Names(), ElementsAre("b@5"));  // Nothing of the list that was given up.
}

TEST_F(ReflectorTest, C14EachListIsAQuorumReadHoweverOftenTheVersionExpires) {
  Answer(List({}, 10));
  for (int i = 0; i < 3; ++i) {
    transport_.stream().Open(410);
    End();
    ASSERT_EQ(Next(), "list");
    EXPECT_THAT(transport_.request().path, Not(HasSubstr("resourceVersion")));
    Answer(List({}, 20 + i));
  }
}

TEST_F(ReflectorTest, C15NoReplyIsNoReasonToListAgain) {
  Sync({}, 10);
  Send(Bookmark(11));
  End(absl::UnavailableError("reset"));
  for (int i = 0; i < 5; ++i) {
    End(absl::UnavailableError("connection refused"));
    ASSERT_EQ(Next(), "watch");
    EXPECT_EQ(WatchedFrom(), "11");
  }
  EXPECT_EQ(reflector_->counts().lists, 1u);
}

TEST_F(ReflectorTest, C16A429OnAWatchWaitsAsLongAsItSaysAndListsNotAgain) {
  Answer(List({}, 10));
  transport_.stream().Open(429);
  transport_.stream().Send(
      R"({"kind":"Status","reason":"TooManyRequests","details":{"retryAfterSeconds":20},)"
      R"("code":429})");
  End();
  Run(19s);
  EXPECT_EQ(transport_.streams(), 1u);
  Run(1s);
  EXPECT_EQ(transport_.streams(), 2u);
  EXPECT_EQ(transport_.waiting(), 0u);
}

TEST_F(ReflectorTest, C17InternalErrorsAreTriedAgainAndThenListed) {
  Sync({}, 10);
  for (const char* want : {"watch", "watch", "list"}) {
    Send(Event("ERROR", Failure(500, "InternalError")));
    ASSERT_EQ(Next(), want);
    if (std::string(want) == "watch") transport_.stream().Open(200);
  }
}

TEST_F(ReflectorTest, C18AWatchThatEndsEachSecondGoesOnWithoutLists) {
  Sync({}, 10);
  for (int i = 0; i < 20; ++i) {
    Run(1s);
    End();
    transport_.stream().Open(200);
    Run();
  }
  EXPECT_EQ(reflector_->counts().lists, 1u);
  EXPECT_EQ(reflector_->counts().watches, 21u);
}

TEST_F(ReflectorTest, C19WatchesThatEndAtOnceAreAskedForEverMoreSlowly) {
  Sync({}, 10);
  for (int i = 0; i < 200; ++i) {
    End();
    if (Next() == "list") Answer(List({}, 10));
    transport_.stream().Open(200);
    Run();
  }
  // 200 ends at no less than 30 s each, but for the first few.
  EXPECT_GT(executor_.clock().Now() - Clock::Time(), 190 * 10s);
}

TEST_F(ReflectorTest, C21TheIdleLimitIsGivenToTheTransportAndASilentWatchIsResumed) {
  Sync({}, 10);
  EXPECT_EQ(transport_.stream().request.timeout, 150s);
  Run(150s);
  End(absl::DeadlineExceededError("150 s without a byte"));
  EXPECT_EQ(transport_.streams(), 2u);
  EXPECT_EQ(WatchedFrom(), "10");
}

TEST_F(ReflectorTest, C23AWatchAsksForItsEndBeforeTheServerWouldEndItAndResumes) {
  Sync({}, 10);
  const std::string path = transport_.stream().request.path;
  const int seconds = std::stoi(path.substr(path.find("timeoutSeconds=") + 15));
  EXPECT_GE(seconds, 275);
  EXPECT_LE(seconds, 295);
  Send(Event("ADDED", Object("a", 77)));
  Run(290s);
  End();
  EXPECT_EQ(WatchedFrom(), "77");
  EXPECT_EQ(reflector_->counts().lists, 1u);
}

TEST_F(ReflectorTest, AFailedListIsTriedAgainWithAGrowingDelay) {
  for (int i = 0; i < 4; ++i) {
    transport_.Reply(HttpReply{.code = 500, .body = Failure(500, "InternalError")});
    Run();
    const Clock::Time start = executor_.clock().Now();
    ASSERT_EQ(Next(), "list");
    const Clock::Duration waited = executor_.clock().Now() - start;
    EXPECT_GE(waited, 800ms * (1 << i));
    EXPECT_LE(waited, 1600ms * (1 << i));
  }
  EXPECT_FALSE(reflector_->synced());
  Answer(List({}, 1));
  EXPECT_TRUE(reflector_->synced());
}

TEST_F(ReflectorTest, AReplyThatIsNoListNeverEmptiesTheStore) {
  Sync({Object("a", 3)}, 10);
  Send(Event("ERROR", Failure(410, "Expired")));
  for (const char* body : {"", "{}", "{\"items\":[", R"({"kind":"Status","metadata":{}})",
                           R"({"metadata":{},"items":[]})"}) {
    ASSERT_EQ(Next(), "list");
    Answer(HttpReply{.code = 200, .body = body});
    EXPECT_THAT(Names(), ElementsAre("a@3")) << body;
  }
}

TEST_F(ReflectorTest, AnObjectThatCannotBeDecodedIsSkippedAndItsLastGoodStateStays) {
  Sync({Object("a", 3), Object("b", 4)}, 10);
  std::vector<std::string> refused;
  reflector_->set_on_undecodable(
      [&](std::string_view json, const absl::Status&) { refused.emplace_back(json); });
  const std::string bad =
      R"({"metadata":{"namespace":"ns","name":"a","uid":7,"resourceVersion":"11"}})";
  Send(Event("MODIFIED", bad) + Event("MODIFIED", Object("b", 12)));
  EXPECT_THAT(Names(), ElementsAre("a@3", "b@12"));
  Send(Event("ERROR", Failure(410, "Expired")));
  ASSERT_EQ(Next(), "list");
  Answer(List({bad, Object("b", 12)}, 20));
  EXPECT_THAT(Names(), ElementsAre("a@3", "b@12"));
  EXPECT_THAT(refused, ElementsAre(bad, bad));
}

// `taas wait` of a job that was there said "was deleted" when the namespace had other jobs: it
// asked while the first list was put into the store, object by object.
TEST_F(ReflectorTest, ItIsSyncedOnlyWhenTheStoreHoldsTheWholeFirstList) {
  std::vector<std::string> seen;
  store_.set_on_change([&](const auto&, const auto& after) {
    seen.push_back(after->meta.name + (reflector_->synced() ? " of all" : " of some"));
  });
  reflector_->set_on_synced([&] {
    seen.push_back("all " + std::to_string(store_.size()) +
                   (reflector_->synced() ? "" : ", not synced"));
  });
  Sync({Object("a", 3), Object("b", 4), Object("c", 5)}, 10);
  EXPECT_THAT(seen, ElementsAre("a of some", "b of some", "c of some", "all 3"));
  seen.clear();
  Send(Event("MODIFIED", Object("b", 12)));
  EXPECT_THAT(seen, ElementsAre("b of all"));
}

TEST_F(ReflectorTest, WhyItBeginsAgainIsTold) {
  std::vector<std::string> told;
  reflector_->set_on_failure(
      [&](const absl::Status& why) { told.emplace_back(why.message()); });
  Answer(HttpReply{.code = 403, .body = Failure(403, "Forbidden")});
  EXPECT_THAT(told, ElementsAre(HasSubstr("403 Forbidden")));
  ASSERT_EQ(Next(), "list");
  Sync({}, 10);
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(ReflectorTest, AVersionThatGoesBackInAWatchLeadsToAList) {
  Sync({}, 100);
  Send(Event("ADDED", Object("a", 50)));
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_EQ(Next(), "list");
}

TEST_F(ReflectorTest, AfterARestoreOfEtcdTheListCountsWhateverWasKnown) {
  Sync({Object("a", 90)}, 100);
  Send(Event("ERROR", Failure(410, "Expired")));
  ASSERT_EQ(Next(), "list");
  Answer(List({Object("a", 40)}, 60));
  EXPECT_THAT(Names(), ElementsAre("a@40"));
  EXPECT_EQ(WatchedFrom(), "60");
}

TEST_F(ReflectorTest, NothingHappensAfterStop) {
  Sync({}, 10);
  transport_.stream().Send(Event("ADDED", Object("a", 11)));
  reflector_->Stop();
  Run(600s);
  EXPECT_TRUE(transport_.stream().gone());
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_EQ(transport_.streams(), 1u);
}

TEST_F(ReflectorTest, ItMayBeDestroyedWhileAListIsUnderWay) {
  transport_.Reply(List({Object("a", 3)}, 10));
  reflector_.reset();
  Run(600s);
  EXPECT_THAT(Names(), IsEmpty());
}

}  // namespace
}  // namespace taas
