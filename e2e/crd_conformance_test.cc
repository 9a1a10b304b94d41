// The CRDs and the lists of manifests, fed to a real kube-apiserver: operator/api must say the
// same.

#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>

#include "e2e/control_plane.h"
#include "e2e/http_client.h"
#include "e2e/process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/job_codec.h"
#include "operator/api/manifest_cases.h"
#include "operator/api/validation.h"
#include "operator/base/clock.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// What happens to fields that the schema does not have.
constexpr char kStrict[] = "?fieldValidation=Strict";
constexpr char kIgnore[] = "?fieldValidation=Ignore";
constexpr Clock::Duration kServedLimit = std::chrono::seconds(60);

struct KindCase {
  JobKind kind;
  const char* name;
  const char* path;
  const char* cases;
};

constexpr KindCase kTrainingJobs{JobKind::kTrainingJob, "TrainingJob",
                                 "/apis/taas.dev/v1/namespaces/default/trainingjobs",
                                 "operator/api/testdata/manifests.yaml"};
constexpr KindCase kTfJobs{JobKind::kTfJob, "TFJob",
                           "/apis/kubeflow.org/v1/namespaces/default/tfjobs",
                           "operator/api/testdata/tfjob_manifests.yaml"};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class CrdConformanceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto plane = ControlPlane::Start(testing::TempDir() + "/plane");
    ASSERT_THAT(plane, IsOk());
    plane_ = *std::move(plane);
    for (const char* file : {"crds/trainingjobs.yaml", "crds/tfjobs.yaml"}) {
      const auto applied = plane_->Kubectl({"apply", "-f", file});
      ASSERT_THAT(applied, IsOk());
      ASSERT_EQ(applied->exit_code, 0) << applied->text;
    }
    const RealClock clock;
    const Clock::Time deadline = clock.Now() + kServedLimit;
    for (const char* path : {kTrainingJobs.path, kTfJobs.path}) {
      while (Ask("GET", path).code != 200) {
        ASSERT_LT(clock.Now(), deadline) << path << " is not served";
        clock.SleepUntil(clock.Now() + std::chrono::milliseconds(50));
      }
    }
  }

  static void TearDownTestSuite() { plane_.reset(); }

  void SetUp() override { ASSERT_NE(plane_, nullptr) << "there is no API server"; }

  static HttpAnswer Ask(const std::string& method, const std::string& target,
                        const std::string& body = "") {
    const auto answer = plane_->client().Do(method, target, body);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? *answer : HttpAnswer{};
  }

  // Creates or replaces, strictly, as the case says.
  static HttpAnswer Submit(const std::string& jobs, const ManifestCase& one) {
    EXPECT_EQ(Ask("DELETE", jobs).code, 200);
    if (one.before.empty()) return Ask("POST", jobs + kStrict, one.object);
    const HttpAnswer stored = Ask("POST", jobs, one.before);
    EXPECT_EQ(stored.code, 201) << stored.body;
    Json metadata = Json::parse(stored.body)["metadata"];
    const std::string path = jobs + "/" + metadata["name"].get<std::string>();
    if (Json before = Json::parse(one.before); before.contains("status")) {
      before["metadata"] = metadata;
      const HttpAnswer told = Ask("PUT", path + "/status", before.dump());
      EXPECT_EQ(told.code, 200) << told.body;
      metadata = Json::parse(told.body)["metadata"];
    }
    Json object = Json::parse(one.object);
    object["metadata"]["resourceVersion"] = metadata["resourceVersion"];
    return Ask("PUT", path + kStrict, object.dump());
  }

  static std::unique_ptr<ControlPlane> plane_;
};

std::unique_ptr<ControlPlane> CrdConformanceTest::plane_;

class CrdVerdictTest : public CrdConformanceTest, public testing::WithParamInterface<KindCase> {
 protected:
  static std::vector<ManifestCase> Cases() {
    return ParseManifestCases(ReadFile(GetParam().cases)).value();
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, CrdVerdictTest, testing::Values(kTrainingJobs, kTfJobs),
                         [](const auto& info) { return std::string(info.param.name); });

std::string VerdictOf(int code) {
  if (code == 200 || code == 201) return std::string(VerdictName(Verdict::kAccepted));
  if (code == 400) return std::string(VerdictName(Verdict::kUndecodable));
  if (code == 422) return std::string(VerdictName(Verdict::kInvalid));
  return std::to_string(code);
}

// "FIELD: WORDS" of each cause, without what a server has to say beside the schema: that it did not
// look at all rules, what the scale subresource reads, and the form of any object's name.
std::vector<std::string> WordsOf(const Json& status) {
  std::vector<std::string> words;
  for (const Json& cause : status["details"]["causes"]) {
    const std::string field = cause.value("field", "");
    const std::string message = cause.value("message", "");
    const bool beside = field == "<nil>" || field.rfind('.', 0) == 0 ||
                        message.find("RFC 1123") != std::string::npos;
    if (!beside) words.push_back(field + ": " + message);
  }
  return words;
}

TEST_P(CrdVerdictTest, TheServerSaysWhatOperatorApiSaysToEachManifest) {
  for (const ManifestCase& one : Cases()) {
    SCOPED_TRACE(one.name);
    const HttpAnswer answer = Submit(GetParam().path, one);
    EXPECT_EQ(VerdictOf(answer.code), VerdictName(one.verdict)) << answer.body;
    if (one.verdict == Verdict::kAccepted) continue;
    const Json status = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
    ASSERT_FALSE(status.is_discarded()) << answer.body;
    EXPECT_THAT(status.value("message", ""), HasSubstr(one.server));
  }
}

// What is meant by a name that is none is ours alone to say.
std::string WithoutHint(FieldError error) {
  error.hint.clear();
  return FormatFieldError(error);
}

TEST_P(CrdVerdictTest, TheWordsAreTheSameFromTheServerAndFromOperatorApi) {
  int compared = 0;
  for (const ManifestCase& one : Cases()) {
    // With another kind a server evaluates rules on what it has not completed, and says odd things.
    if (one.verdict != Verdict::kInvalid || one.field == "kind") continue;
    SCOPED_TRACE(one.name);
    const Json status = Json::parse(Submit(GetParam().path, one).body);
    const std::vector<FieldError> errors =
        one.before.empty() ? Validate(GetParam().kind, one.object)
                           : ValidateUpdate(GetParam().kind, one.before, one.object);
    std::vector<std::string> ours;
    for (const FieldError& error : errors) ours.push_back(WithoutHint(error));
    EXPECT_THAT(ours, testing::UnorderedElementsAreArray(WordsOf(status)));
    ++compared;
  }
  EXPECT_GE(compared, 50);
}

TEST_P(CrdVerdictTest, TheServerStoresTheSameDefaults) {
  for (const ManifestCase& one : Cases()) {
    if (one.verdict != Verdict::kAccepted || !one.before.empty()) continue;
    SCOPED_TRACE(one.name);
    const HttpAnswer answer = Submit(GetParam().path, one);
    ASSERT_EQ(answer.code, 201) << answer.body;
    const auto completed = ApplyDefaults(GetParam().kind, one.object);
    ASSERT_THAT(completed, IsOk());
    EXPECT_EQ(Json::parse(answer.body)["spec"], Json::parse(*completed)["spec"]);
  }
}

TEST_P(CrdVerdictTest, AServerThatIsNotStrictPrunesTheSameFields) {
  const JobKind kind = GetParam().kind;
  int pruned = 0;
  for (const ManifestCase& one : Cases()) {
    if (one.field.empty() || one.verdict != Verdict::kUndecodable || !one.before.empty()) continue;
    const auto kept = PruneUnknownFields(kind, one.object);
    if (!kept.ok() || !Validate(kind, *kept).empty()) continue;  // Wrong in another way, too.
    SCOPED_TRACE(one.name);
    EXPECT_EQ(Ask("DELETE", GetParam().path).code, 200);
    const HttpAnswer answer = Ask("POST", std::string(GetParam().path) + kIgnore, one.object);
    EXPECT_EQ(answer.code, 201) << answer.body;
    EXPECT_EQ(Json::parse(answer.body)["spec"],
              Json::parse(ApplyDefaults(kind, *kept).value())["spec"]);
    ++pruned;
  }
  EXPECT_GE(pruned, 5);
}

TEST_F(CrdConformanceTest, TheStatusOfATfJobIsTakenAndShownByItsLastCondition) {
  const std::string jobs = kTfJobs.path;
  EXPECT_EQ(Ask("DELETE", jobs).code, 200);
  const ManifestCase base = ParseManifestCases(ReadFile(kTfJobs.cases)).value().at(0);
  const HttpAnswer created = Ask("POST", jobs, base.object);
  ASSERT_EQ(created.code, 201) << created.body;
  Json object = Json::parse(created.body);
  const auto job = DecodeJob(JobKind::kTfJob, created.body);
  ASSERT_THAT(job, IsOk());
  JobStatus status;
  status.conditions = {{.type = "Created", .status = true, .reason = "TFJobCreated"},
                       {.type = "Running", .status = true, .reason = "TFJobRunning"}};
  status.replica_statuses[Role::kPs] = {.active = 1};
  status.message = "all is well";
  object["status"] = Json::parse(EncodeStatus(*job, status));
  const HttpAnswer written = Ask("PUT", jobs + "/case/status" + kStrict, object.dump());
  ASSERT_EQ(written.code, 200) << written.body;
  EXPECT_EQ(Json::parse(written.body)["status"], object["status"]);
  const auto table = plane_->Kubectl({"get", "tfjobs"});
  ASSERT_THAT(table, IsOk());
  EXPECT_THAT(table->text, testing::ContainsRegex("NAME +STATE +AGE"));
  EXPECT_THAT(table->text, testing::ContainsRegex("case +Running"));
}

TEST_F(CrdConformanceTest, StatusAndScaleAreSubresources) {
  const auto applied = plane_->Kubectl({"apply", "-f", "examples/mnist.yaml"});
  ASSERT_THAT(applied, IsOk());
  ASSERT_EQ(applied->exit_code, 0) << applied->text;
  const std::string path = std::string(kTrainingJobs.path) + "/mnist";
  Json object = Json::parse(Ask("GET", path).body);

  JobStatus status;
  status.state = JobState::kRunning;
  status.ready = "5/5";
  status.gpus = 4;
  status.selector = "taas.dev/job-name=mnist,taas.dev/role=worker";
  status.restarts[RestartCause::kKilled] = 2;
  status.replica_statuses[Role::kWorker] = {.desired = 2, .active = 2, .ready = 2};
  status.progress = Progress{.step = 1200,
                             .max_steps = 2000,
                             .percent = 60,
                             .loss = 0.182346,
                             .evaluation = Evaluation{.step = 1000, .accuracy = 0.954}};
  status.message = "all is well";
  object["status"] = Json::parse(EncodeStatus(Job{}, status));
  const HttpAnswer written = Ask("PUT", path + "/status" + kStrict, object.dump());
  ASSERT_EQ(written.code, 200) << written.body;
  const auto job = DecodeJob(JobKind::kTrainingJob, written.body);
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->status, status);

  const Json scale = Json::parse(Ask("GET", path + "/scale").body);
  EXPECT_EQ(scale["spec"]["replicas"], 2);
  EXPECT_EQ(scale["status"]["replicas"], 2);
  EXPECT_EQ(scale["status"]["selector"], status.selector);
  const auto scaled = plane_->Kubectl({"scale", "trainingjob/mnist", "--replicas=3"});
  ASSERT_THAT(scaled, IsOk());
  EXPECT_EQ(scaled->exit_code, 0) << scaled->text;
  const auto after = DecodeJob(JobKind::kTrainingJob, Ask("GET", path).body);
  ASSERT_THAT(after, IsOk());
  EXPECT_EQ(after->spec.roles.at(Role::kWorker).replicas, 3);

  const auto table = plane_->Kubectl({"get", "tj", "-o", "wide"});
  ASSERT_THAT(table, IsOk());
  EXPECT_THAT(table->text, testing::ContainsRegex(
                               "NAME +STATE +READY +STEP +PROGRESS% +GPUS +RESTARTS +AGE +LOSS "
                               "+ACCURACY +MESSAGE"));
  EXPECT_THAT(table->text,
              testing::ContainsRegex(
                  "mnist +Running +5/5 +1200 +60 +4 +2 +[0-9a-z]+ +0\\.182346 +0\\.954 "
                  "+all is well"));
}

TEST_F(CrdConformanceTest, KubectlShowsTheFieldOfABadManifest) {
  const std::string path = testing::TempDir() + "/bad.yaml";
  std::string yaml = ReadFile("examples/mnist.yaml");
  const size_t at = yaml.find("chief: {replicas: 1}");
  ASSERT_NE(at, std::string::npos);
  yaml.replace(at, 20, "chief: {replicas: 2}");
  std::ofstream(path) << yaml;
  const auto applied = plane_->Kubectl({"create", "-f", path});
  ASSERT_THAT(applied, IsOk());
  EXPECT_EQ(applied->exit_code, 1);
  EXPECT_THAT(applied->text, HasSubstr("spec.roles.chief.replicas"));
}

}  // namespace
}  // namespace taas
