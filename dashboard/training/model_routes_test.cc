#include "dashboard/training/model_routes.h"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dashboard/logs/fake_logs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/fake_transport.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string JobText(const std::string& state, const std::string& start) {
  return R"({"metadata":{"namespace":"ns","name":"j","uid":"uj","resourceVersion":"3"},
      "spec":{"roles":{"worker":{"replicas":1}},
              "trainer":{"checkpoint":{"dir":"/out/ckpt"},
                         "export":{"dir":"/out/export","format":"safetensors"}},
              "volumes":[{"name":"out","mountPath":"/out",
                          "source":{"persistentVolumeClaim":{"claimName":"j-out"}}}]},
      "status":{"startTime":")" + start + R"(","state":")" + state + R"("}})";
}

class ModelRoutesTest : public testing::Test {
 protected:
  explicit ModelRoutesTest(const std::string& state = "Succeeded",
                           const std::string& start = "2020-01-01T00:00:00Z")
      : job_(JobText(state, start)) {
    EXPECT_NE(mkdtemp(top_.data()), nullptr);
    board_.Start();
    AnswerAll();
    Run(200ms);
    routes_.AddTo(&table_);
  }
  void AnswerAll() {
    while (own_.waiting() > 0) {
      const HttpRequest& request = own_.request();
      const bool jobs = request.path.find("/trainingjobs") != std::string::npos;
      const bool review = request.verb == Verb::kPost;
      const std::string allowed = may_see_ ? "true" : "false";
      own_.Reply(HttpReply{
          .code = review ? 201 : 200,
          .body = review ? R"({"status":{"allowed":)" + allowed + "}}"
                         : R"({"metadata":{"resourceVersion":"10"},"items":[)" +
                               (jobs ? job_ : "") + "]}"});
      Run();
    }
  }
  void Run(Clock::Duration time = 0s) { executor_.RunUntil(executor_.clock().Now() + time); }
  void Put(const std::string& name, const std::string& bytes) {
    ASSERT_THAT(files_.MakeDirs(DirName(top_ + "/" + name)), IsOk());
    ASSERT_THAT(files_.WriteAtomically(top_ + "/" + name, bytes), IsOk());
  }
  WebResponse Get() {
    std::optional<WebResponse> response;
    ApiCall call{.request = {.method = "GET",
                             .segments = {"api", "jobs", "ns", "trainingjobs", "j", "model"}},
                 .respond = [&](WebResponse answer) { response = std::move(answer); },
                 .identity = std::make_shared<Identity>(Identity{.user = "ada", .key = "ada"}),
                 .token = "token"};
    (*table_.Find("GET", call.request.segments).handler)(std::move(call));
    Run();
    AnswerAll();
    Run();
    EXPECT_TRUE(response.has_value());
    return *std::move(response);
  }

  const std::string job_;
  std::string top_ = testing::TempDir() + "/volume.XXXXXX";
  PosixFileSystem files_;
  SimExecutor executor_{{.in_order = true}};
  FakeTransport own_{executor_};
  SeededRandom random_{1};
  Access access_{own_, executor_};
  Board board_{own_, executor_, random_, {}};
  bool sees_volumes_ = true;
  ModelSource source_{{.executor = executor_,
                       .disk = executor_,
                       .claim_dir = [this](const std::string& ns, const std::string& claim) {
                         return sees_volumes_ && ns == "ns" && claim == "j-out" ? top_ : "";
                       }}};
  ModelRoutes routes_{{.executor = executor_,
                       .disk = executor_,
                       .board = board_,
                       .access = access_,
                       .source = source_}};
  RouteTable table_;
  bool may_see_ = true;
};

TEST_F(ModelRoutesTest, TheExportOfAJobThatIsOverComesAsAFile) {
  Put("export/model.safetensors", "tensors");
  const WebResponse response = Get();
  ASSERT_EQ(response.code, 200);
  EXPECT_THAT(response.headers,
              Contains(Pair("Content-Disposition", "attachment; filename=\"j.safetensors\"")));
  auto sink = std::make_shared<FakeSink>();
  response.stream.opened(sink);
  Run(1s);
  EXPECT_EQ(sink->text, "tensors");
  EXPECT_TRUE(sink->ended);
}

TEST_F(ModelRoutesTest, OfALargeOneNoMoreIsReadThanTheClientTakes) {
  const std::string tensors(5'000'000, 't');
  Put("export/model.safetensors", tensors);
  const WebResponse response = Get();
  auto sink = std::make_shared<FakeSink>();
  sink->slow = true;
  response.stream.opened(sink);
  Run(10s);
  EXPECT_LT(sink->text.size(), ModelRoutes::kUnsentMax + ModelRoutes::kChunkBytes);
  EXPECT_FALSE(sink->ended);
  while (!sink->ended && sink->unsent() > 0) {
    sink->Take(300'000);
    Run(50ms);
  }
  EXPECT_EQ(sink->text, tensors);
  EXPECT_LE(sink->unsent_max, ModelRoutes::kUnsentMax + ModelRoutes::kChunkBytes);
}

TEST_F(ModelRoutesTest, AClientThatGoesAwayEndsItAndMakesRoomForTheNext) {
  Put("ckpt/model.ckpt-3.index", "index");
  std::vector<WebResponse> open;
  for (size_t i = 0; i < ModelRoutes::kDownloadsMax; ++i) open.push_back(Get());
  const WebResponse refused = Get();
  EXPECT_EQ(refused.code, 429);
  EXPECT_THAT(*refused.body, HasSubstr("try again"));
  ASSERT_THAT(files_.RemoveAll(top_ + "/ckpt"), IsOk());
  EXPECT_EQ(Get().code, 429) << "its files are not even looked for";
  Put("ckpt/model.ckpt-3.index", "index");
  auto sink = std::make_shared<FakeSink>();
  sink->gone = true;
  open[0].stream.opened(sink);
  Run(1s);
  open[0].stream.closed();
  Run();
  EXPECT_EQ(Get().code, 200);
}

// Symptom: the browser took what had come for the whole model.
TEST_F(ModelRoutesTest, OneThatCannotBeReadToItsEndBreaksOff) {
  Put("export/model.safetensors", std::string(5'000'000, 't'));
  const WebResponse response = Get();
  EXPECT_EQ(response.stream.bytes, 5'000'000u);
  auto sink = std::make_shared<FakeSink>();
  sink->slow = true;
  response.stream.opened(sink);
  Run(1s);
  ASSERT_EQ(truncate((top_ + "/export/model.safetensors").c_str(), 100), 0);
  sink->slow = false;
  sink->Take(5'000'000);
  Run(1s);
  EXPECT_TRUE(sink->aborted);
  EXPECT_FALSE(sink->ended);
}

TEST_F(ModelRoutesTest, WhatWasRefusedTakesNoPlace) {
  for (size_t i = 0; i <= ModelRoutes::kDownloadsMax; ++i) EXPECT_EQ(Get().code, 404);
}

TEST_F(ModelRoutesTest, WhoMayNotSeeTheJobHearsThatThereIsNone) {
  Put("export/model.safetensors", "tensors");
  may_see_ = false;
  const WebResponse response = Get();
  EXPECT_EQ(response.code, 404);
  EXPECT_THAT(*response.body, HasSubstr("there is none that you may see"));
}

TEST_F(ModelRoutesTest, WhereTheVolumeCannotBeSeenItIsSaidWhatToDo) {
  sees_volumes_ = false;
  const WebResponse response = Get();
  EXPECT_EQ(response.code, 404);
  EXPECT_THAT(*response.body, HasSubstr("download the model of job trainingjobs/ns/j"));
}

class FailedJobTest : public ModelRoutesTest {
 protected:
  FailedJobTest() : ModelRoutesTest("Failed") {}
};

TEST_F(FailedJobTest, WhatLiesInThePlaceOfItsExportIsNotItsOwn) {
  Put("export/model.safetensors", "of another run");
  EXPECT_EQ(Get().code, 404);
  Put("ckpt/model.ckpt-3.index", "index");
  EXPECT_THAT(Get().headers, Contains(Pair("Content-Disposition",
                                           "attachment; filename=\"model.ckpt-3.index\"")));
}

class LateJobTest : public ModelRoutesTest {
 protected:
  LateJobTest() : ModelRoutesTest("Succeeded", "2200-01-01T00:00:00Z") {}
};

TEST_F(LateJobTest, WhatIsOlderThanItsStartIsNotItsOwn) {
  Put("export/model.safetensors", "of another run");
  Put("ckpt/model.ckpt-3.index", "of another run");
  const WebResponse response = Get();
  EXPECT_EQ(response.code, 404);
  EXPECT_THAT(*response.body, HasSubstr("another one wrote it"));
}

class RunningJobTest : public ModelRoutesTest {
 protected:
  RunningJobTest() : ModelRoutesTest("Running") {}
};

TEST_F(RunningJobTest, TheModelOfAJobThatGoesOnIsNotSent) {
  Put("ckpt/model.ckpt-3.index", "index");
  const WebResponse response = Get();
  EXPECT_EQ(response.code, 409);
  EXPECT_THAT(*response.body, HasSubstr("the job goes on"));
}

}  // namespace
}  // namespace taas::dashboard
