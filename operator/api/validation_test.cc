#include "operator/api/validation.h"

#include <fstream>
#include <ostream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/manifest.h"
#include "operator/api/manifest_cases.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {

// Names the case where gtest would print its bytes.
void PrintTo(const ManifestCase& one, std::ostream* out) { *out << one.name; }

namespace {

using Json = nlohmann::json;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<ManifestCase> Cases(const std::string& file) {
  return ParseManifestCases(ReadFile("operator/api/testdata/" + file)).value();
}

Json Example() {
  return Json::parse(ManifestDocuments(ReadFile("examples/mnist.yaml")).value().at(0));
}

std::vector<std::string> PathsOf(const std::vector<FieldError>& errors) {
  std::vector<std::string> paths;
  for (const FieldError& error : errors) paths.push_back(error.path);
  return paths;
}

// Whether operator/api says what the case says.
void ExpectVerdict(JobKind kind, const ManifestCase& one) {
  const std::vector<FieldError> errors = one.before.empty()
                                             ? Validate(kind, one.object)
                                             : ValidateUpdate(kind, one.before, one.object);
  const std::string said = FormatFieldErrors(errors);
  const Verdict verdict = errors.empty()              ? Verdict::kAccepted
                          : HasDecodingError(errors) ? Verdict::kUndecodable
                                                     : Verdict::kInvalid;
  EXPECT_EQ(VerdictName(verdict), VerdictName(one.verdict)) << said;
  if (one.verdict != Verdict::kAccepted) {
    EXPECT_THAT(PathsOf(errors), testing::Contains(one.field)) << said;
  }
}

class TrainingJobVerdictTest : public testing::TestWithParam<ManifestCase> {};

TEST_P(TrainingJobVerdictTest, IsAsListed) { ExpectVerdict(JobKind::kTrainingJob, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Table, TrainingJobVerdictTest,
                         testing::ValuesIn(Cases("manifests.yaml")),
                         [](const auto& info) { return info.param.name; });

class TfJobVerdictTest : public testing::TestWithParam<ManifestCase> {};

TEST_P(TfJobVerdictTest, IsAsListed) { ExpectVerdict(JobKind::kTfJob, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Table, TfJobVerdictTest,
                         testing::ValuesIn(Cases("tfjob_manifests.yaml")),
                         [](const auto& info) { return info.param.name; });

TEST(ManifestCasesTest, ThereAreManyBadOnes) {
  for (const auto& [file, least] : {std::pair{"manifests.yaml", 150},
                                    std::pair{"tfjob_manifests.yaml", 50}}) {
    int bad = 0;
    for (const ManifestCase& one : Cases(file)) bad += one.verdict == Verdict::kAccepted ? 0 : 1;
    EXPECT_GE(bad, least) << file;
  }
}

// What a server takes is not refused for what core/v1 says of it, but for a field that it lacks.
TEST(ValidateAllTest, AcceptedManifestsHaveNothingWrongInTheirTemplates) {
  for (const auto& [file, kind] : {std::pair{"manifests.yaml", JobKind::kTrainingJob},
                                   std::pair{"tfjob_manifests.yaml", JobKind::kTfJob}}) {
    for (const ManifestCase& one : Cases(file)) {
      if (one.verdict != Verdict::kAccepted) continue;
      std::vector<FieldError> errors = ValidateAll(kind, one.object);
      std::erase_if(errors, [](const FieldError& error) {
        return error.message.find(".anything\"") != std::string::npos ||
               error.message.find(".whatever\"") != std::string::npos;
      });
      EXPECT_EQ(FormatFieldErrors(errors), "") << one.name;
    }
  }
}

TEST(KindOfManifestTest, IsReadFromTheTextAlone) {
  EXPECT_EQ(KindOfManifest(R"({"kind": "TFJob"})"), JobKind::kTfJob);
  EXPECT_EQ(KindOfManifest(R"({"kind": "TrainingJob"})"), JobKind::kTrainingJob);
  EXPECT_EQ(KindOfManifest(R"({"kind": "Pod"})"), std::nullopt);
  EXPECT_EQ(KindOfManifest(R"({"kind": 3})"), std::nullopt);
  EXPECT_EQ(KindOfManifest("["), std::nullopt);
}

TEST(ValidateTfJobTest, TheRoleThatWasProbablyMeantIsSaid) {
  const char* const kJob = R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
      "metadata": {"name": "j"}, "spec": {"tfReplicaSpecs": {
          "Wroker": {"replicas": 1, "template": {"spec": {"containers": [
              {"name": "tensorflow", "image": "i"}]}}}}}})";
  EXPECT_THAT(FormatFieldErrors(Validate(JobKind::kTfJob, kJob)),
              testing::HasSubstr("the roles are PS, Worker, Chief, Master and Evaluator "
                                 "(\"Wroker\" is none: did you mean \"Worker\"?)"));
}

// The container's name was a second round, the role's a third.
TEST(ValidateTfJobTest, RolesAndContainersAreLookedAtWhateverElseIsWrong) {
  const auto said = [](const std::string& fields) {
    const std::string job = R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
        "metadata": {"name": "j"}, "spec": {)" + fields + R"("tfReplicaSpecs": {
            "Wroker": {"replicas": 1, "template": {"spec": {"containers": [
                {"name": "main", "image": "i"}]}}}}}})";
    return FormatFieldErrors(ValidateAll(JobKind::kTfJob, job));
  };
  for (const char* fields : {R"("runPolcy": {}, )", R"("runPolicy": {"cleanPodPolicy": "Al"}, )",
                             R"("runPolicy": {"backoffLimit": "3"}, )"}) {
    EXPECT_THAT(said(fields),
                testing::AllOf(testing::HasSubstr("\"Wroker\" is none: did you mean \"Worker\"?"),
                               testing::HasSubstr("must have a container named tensorflow")))
        << fields;
  }
  for (const char* roles : {"7", "[]", R"({"a": 1, "Worker": "x", "PS": {"template": []}})"}) {
    ValidateAll(JobKind::kTfJob, std::string(R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
        "metadata": {"name": "j"}, "spec": {"x": 1, "tfReplicaSpecs": )") + roles + "}}");
  }
}

TEST(ValidateTfJobTest, TheAnnotationOfItsPendingDeadlineIsANumberOfSeconds) {
  Json job = Json::parse(R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
      "metadata": {"name": "a"}, "spec": {"tfReplicaSpecs": {"Worker": {"template": {"spec": {
          "containers": [{"name": "tensorflow", "image": "i"}]}}}}}})");
  Json& text = job["metadata"]["annotations"]["taas.dev/pending-deadline-seconds"];
  text = "900";
  EXPECT_THAT(Validate(JobKind::kTfJob, job.dump()), testing::IsEmpty());
  text = "15m";
  EXPECT_EQ(PathsOf(Validate(JobKind::kTfJob, job.dump())),
            std::vector<std::string>{"metadata.annotations.taas.dev/pending-deadline-seconds"});
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTfJob, job.dump())),
            "metadata.annotations.taas.dev/pending-deadline-seconds: Invalid value: it must "
            "be a whole number of seconds from 1 to 315360000");
}

TEST(ValidateTrainingJobTest, TheExamplesAreAccepted) {
  for (const char* path : {"examples/mnist.yaml", "examples/mnist-local.yaml"}) {
    const auto documents = ManifestDocuments(ReadFile(path));
    ASSERT_THAT(documents, IsOk());
    ASSERT_EQ(documents->size(), 1u) << path;
    EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, documents->at(0))), "") << path;
    EXPECT_EQ(FormatFieldErrors(ValidateTrainer(documents->at(0))), "") << path;
  }
}

TEST(ValidateTrainingJobTest, TheLocalExampleTrainsTheSameModelOnTheSameData) {
  const Json mnist = Example().at("spec").at("trainer");
  Json local = Json::parse(ManifestDocuments(ReadFile("examples/mnist-local.yaml")).value().at(0))
                   .at("spec")
                   .at("trainer");
  EXPECT_EQ(local.at("strategy").at("type"), "Local");
  local["strategy"] = mnist.at("strategy");
  EXPECT_EQ(local, mnist);
}

TEST(ValidateTrainingJobTest, MessagesReadAsThoseOfAServer) {
  Json job = Example();
  job["spec"]["roles"]["chief"]["replicas"] = 2;
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, job.dump())),
            "spec.roles.chief.replicas: Invalid value: 2: spec.roles.chief.replicas in body should "
            "be less than or equal to 1");
  job = Example();
  job["spec"]["cleanPodPolicy"] = "Never";
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, job.dump())),
            "spec.cleanPodPolicy: Unsupported value: \"Never\": supported values: \"Running\", "
            "\"All\", \"None\"");
  job = Example();
  job["spec"]["worker"] = 2;
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, job.dump())),
            "unknown field \"spec.worker\" (did you mean \"roles.worker\"?)");
}

TEST(ValidateTrainingJobTest, DepthWithoutEndIsRefusedNotFollowed) {
  const std::string deep(200'000, '[');
  const std::string end(200'000, ']');
  const auto errors = Validate(JobKind::kTrainingJob, "{\"spec\": " + deep + end + "}");
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].message, "the text is nested more than 100 levels deep");
}

TEST(ValidateStoredTest, SaysWhatTheRulesSayAndNothingOfStatusAndUnknownFields) {
  Json job = Example();
  job["status"] = "no status at all";
  job["spec"]["colour"] = "green";
  EXPECT_EQ(FormatFieldErrors(ValidateStored(JobKind::kTrainingJob, job.dump())), "");
  job["spec"]["roles"]["worker"]["replicas"] = -1;
  EXPECT_THAT(PathsOf(ValidateStored(JobKind::kTrainingJob, job.dump())),
              testing::Contains("spec.roles.worker.replicas"));
  EXPECT_FALSE(ValidateStored(JobKind::kTrainingJob, "[]").empty());
}

// A server keeps 10,000 levels; what is recursive here is not to try.
TEST(ValidateStoredTest, RefusesWhatIsNestedWithoutEnd) {
  Json job = Example();
  job["spec"]["roles"]["worker"]["template"]["deep"] = "levels";
  std::string text = job.dump();
  const std::string levels = "\"levels\"";
  text.replace(text.find(levels), levels.size(), std::string(9'990, '[') + std::string(9'990, ']'));
  const auto errors = ValidateStored(JobKind::kTrainingJob, text);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0].message, testing::HasSubstr("nested more than 100 levels deep"));
}

// Symptom: one job with 400,000 empty objects in its template, which a server keeps, held the
// operator for minutes: its parser looked at all of them again after each.
TEST(ValidateStoredTest, WhatIsWideTakesNoLongerThanItsLength) {
  Json job = Example();
  job["spec"]["roles"]["worker"]["template"]["spec"] = {
      {"containers", {{{"name", "trainer"}, {"image", "i"}}}}, {"wide", "objects"}};
  std::string text = job.dump(), objects = "[{}";
  for (int i = 0; i < 400'000; ++i) objects += ",{}";
  const std::string mark = "\"objects\"";
  text.replace(text.find(mark), mark.size(), objects + "]");
  EXPECT_EQ(FormatFieldErrors(ValidateStored(JobKind::kTrainingJob, text)), "");
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, text)), "");
}

TEST(ApplyDefaultsTest, AbsentFieldsGetTheSchemasValues) {
  Json job = Example();
  job["spec"]["trainer"].erase("strategy");
  job["spec"]["trainer"].erase("optimizer");
  job["spec"]["roles"]["worker"] = Json::object();
  const auto text = ApplyDefaults(JobKind::kTrainingJob, job.dump());
  ASSERT_THAT(text, IsOk());
  const Json done = Json::parse(*text);
  const Json& trainer = done["spec"]["trainer"];
  EXPECT_EQ(trainer["strategy"], Json({{"type", "ParameterServer"}, {"mode", "Async"}}));
  EXPECT_EQ(trainer["optimizer"], Json({{"name", "sgd"}, {"learningRate", 0.1}}));
  EXPECT_EQ(trainer["checkpoint"],
            Json({{"dir", "/out/checkpoints"}, {"everySeconds", 600}, {"keep", 5}}));
  EXPECT_EQ(done["spec"]["roles"]["worker"]["replicas"], 1);
  EXPECT_EQ(done["spec"]["backoffLimit"], 6);
  EXPECT_EQ(done["spec"]["cleanPodPolicy"], "Running");
  EXPECT_EQ(done["spec"]["volumes"][1]["readOnly"], false);
}

TEST(ApplyDefaultsTest, WhatIsThereStaysAndASecondTimeChangesNothing) {
  Json job = Example();
  job["spec"]["backoffLimit"] = 0;
  const std::string once = ApplyDefaults(JobKind::kTrainingJob, job.dump()).value();
  EXPECT_EQ(Json::parse(once)["spec"]["backoffLimit"], 0);
  EXPECT_EQ(ApplyDefaults(JobKind::kTrainingJob, once).value(), once);
}

TEST(ApplyDefaultsTest, TextThatIsNoObjectIsAnError) {
  EXPECT_FALSE(ApplyDefaults(JobKind::kTrainingJob, "[1]").ok());
  EXPECT_FALSE(ApplyDefaults(JobKind::kTrainingJob, "{").ok());
}

// A key of half a megabyte above 80,000 fields that stand twice was 80 GB of paths.
TEST(ValidateTest, LongKeysAreCutAndNotAllThatStandsTwiceIsTold) {
  std::string text =
      R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","metadata":{"name":"a"},")";
  text += std::string(500'000, 'k') + "\":{";
  for (int i = 0; i < 80'000; ++i) text += R"("a":1,)";
  text += R"("b":1}})";
  size_t bytes = 0;
  for (const FieldError& error : Validate(JobKind::kTrainingJob, text)) {
    bytes += error.path.size() + error.message.size();
  }
  EXPECT_GT(bytes, 0u);
  EXPECT_LT(bytes, 200'000u);
}

TEST(PruneUnknownFieldsTest, OnlyUnknownFieldsGo) {
  Json job = Example();
  const Json before = job;
  job["spec"]["gpus"] = 2;
  job["metadata"]["nam"] = "x";
  job["spec"]["volumes"][0]["subPath"] = "x";
  EXPECT_EQ(Json::parse(PruneUnknownFields(JobKind::kTrainingJob, job.dump()).value()), before);
}

struct TrainerCase {
  const char* name;
  const char* model;
  const char* optimizer;
  const char* path;
  const char* words;
};

class ValidateTrainerTest : public testing::TestWithParam<TrainerCase> {};

TEST_P(ValidateTrainerTest, NamesTheFieldAndWhatIsKnown) {
  Json job = Example();
  job["spec"]["trainer"]["model"] = Json::parse(GetParam().model);
  job["spec"]["trainer"]["optimizer"] = Json::parse(GetParam().optimizer);
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, job.dump())), "");
  const std::vector<FieldError> errors = ValidateTrainer(job.dump());
  ASSERT_EQ(errors.size(), 1u) << FormatFieldErrors(errors);
  EXPECT_EQ(errors[0].path, GetParam().path);
  EXPECT_THAT(errors[0].message, testing::HasSubstr(GetParam().words));
}

// Pods found it out, after data was read or, of the export, before the first step.
TEST(ValidateTrainerTest, ModelsThatDoNotFitTargetsOrExportAreTold) {
  Json job = Example();
  Json& trainer = job["spec"]["trainer"];
  trainer["data"] = Json::parse(R"({"format": "csv", "csv": {"labelColumn": "y"}, "classes": 0,
                                    "train": {"files": ["/data/a.csv"]}})");
  trainer["model"] = {{"name", "mlp"}, {"hidden", {5}}};
  EXPECT_THAT(FormatFieldErrors(ValidateTrainer(job.dump())),
              testing::AllOf(testing::HasSubstr("spec.trainer.model.name"),
                             testing::HasSubstr("use linear, layers or wideDeep")));
  trainer["data"]["classes"] = 2;
  EXPECT_EQ(FormatFieldErrors(ValidateTrainer(job.dump())), "");
  trainer["export"] = {{"format", "savedModel"}, {"dir", "/out"}};
  EXPECT_EQ(FormatFieldErrors(ValidateTrainer(job.dump())), "");
  trainer["model"] = {{"name", "lstm"}, {"hidden", {5}}};
  EXPECT_THAT(FormatFieldErrors(ValidateTrainer(job.dump())),
              testing::HasSubstr("spec.trainer.export.format"));
  trainer["model"] = Json::parse(
      R"({"name": "layers", "layers": [{"type": "dense", "units": 3, "activation": "gelu"}]})");
  EXPECT_THAT(FormatFieldErrors(ValidateTrainer(job.dump())),
              testing::HasSubstr("model.layers[0], gelu"));
}

TEST(ValidateTrainerTest, TheNameThatWasProbablyMeantIsSaid) {
  Json job = Example();
  job["spec"]["trainer"]["model"]["name"] = "mpl";
  job["spec"]["trainer"]["optimizer"]["name"] = "adm";
  const std::vector<FieldError> errors = ValidateTrainer(job.dump());
  ASSERT_EQ(errors.size(), 2u) << FormatFieldErrors(errors);
  EXPECT_EQ(errors[0].hint, "did you mean \"mlp\"?");
  EXPECT_EQ(errors[1].hint, "did you mean \"adam\"?");
}

// What follows from other mistakes is not told beside them, names are.
TEST(ValidateTrainerTest, NamesAreToldOfAJobThatIsWrongElsewhere) {
  Json job = Example();
  job["spec"]["trainer"]["optimizer"] = {{"name", "adm"}, {"learningRate", "fast"}};
  job["spec"]["trainer"]["model"] = {{"name", "mlp"}, {"hiden", {5}}};
  const std::vector<FieldError> errors = ValidateTrainerNames(job.dump());
  ASSERT_EQ(errors.size(), 1u) << FormatFieldErrors(errors);
  EXPECT_EQ(errors[0].path, "spec.trainer.optimizer.name");
  for (const char* broken : {"[]", "{", R"({"spec": {"trainer": 1}})",
                             R"({"spec": {"trainer": {"model": [], "optimizer": 7}}})"}) {
    ValidateTrainerNames(broken);
  }
}

TEST(ValidateTrainerTest, AnImageOfOnesOwnMayHaveModelsOfItsOwn) {
  Json job = Example();
  job["spec"]["trainer"]["model"] = {{"name", "highway"}, {"hidden", {64}}};
  EXPECT_EQ(ValidateTrainer(job.dump()).size(), 1u);
  job["spec"]["trainer"]["image"] = "registry.example/highway:1";
  EXPECT_EQ(FormatFieldErrors(ValidateTrainer(job.dump())), "");
}

TEST(ValidateTrainerTest, ColumnsThatDoNotFitAreNamed) {
  Json job = Example();
  Json& trainer = job["spec"]["trainer"];
  trainer["data"] = Json::parse(R"({"format": "csv", "train": {"files": ["/d/a"]},
      "csv": {"labelColumn": "click"},
      "columns": [{"name": "age", "type": "bucketized", "boundaries": [18, 35]},
                  {"name": "job", "type": "hashed", "buckets": 9}]})");
  trainer["model"] = Json::parse(R"({"name": "wideDeep", "hidden": [4], "wide": ["age", "job"],
                                     "deep": [{"column": "job"}]})");
  EXPECT_EQ(FormatFieldErrors(ValidateTrainer(job.dump())), "");
  trainer["data"]["columns"][0]["boundaries"] = {35, 18};
  trainer["model"]["wide"][1] = "town";
  trainer["model"]["deep"][0]["column"] = "jobs";
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, job.dump())), "");
  const std::vector<FieldError> errors = ValidateTrainer(job.dump());
  ASSERT_EQ(errors.size(), 3u) << FormatFieldErrors(errors);
  EXPECT_EQ(errors[0].path, "spec.trainer.data.columns[0].boundaries");
  EXPECT_EQ(errors[1].path, "spec.trainer.model.wide[1]");
  EXPECT_EQ(errors[2].path, "spec.trainer.model.deep[0].column");
  trainer["data"]["columns"][0]["boundaries"] = {18, 35};
  trainer["model"] = {{"name", "wideDeep"}};
  EXPECT_THAT(FormatFieldErrors(ValidateTrainer(job.dump())),
              testing::HasSubstr("wideDeep needs the size of at least one hidden layer"));
}

// Symptom: `taas validate` let a gpt2 with 5 heads and a width of 64 pass, which the trainer
// refuses in its pod.
TEST(ValidateTrainerTest, SizesOfAGpt2ThatDoNotFitAreNamed) {
  Json job = Example();
  Json& trainer = job["spec"]["trainer"];
  trainer["model"] = {{"name", "gpt2"}, {"heads", 5}, {"width", 64}};
  trainer["data"] = {{"format", "text"}, {"train", {{"files", {"/d/a"}}}}};
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, job.dump())), "");
  EXPECT_EQ(FormatFieldErrors(ValidateTrainer(job.dump())),
            "spec.trainer.model.width: Invalid value: 64: is not a multiple of 5, the number of "
            "heads");
  trainer["model"].erase("heads");  // 12.
  EXPECT_THAT(FormatFieldErrors(ValidateTrainer(job.dump())),
              testing::HasSubstr("64: is not a multiple of 12"));
  trainer["model"]["heads"] = 4;
  EXPECT_EQ(FormatFieldErrors(ValidateTrainer(job.dump())), "");
  trainer["model"] = {{"name", "gpt2"}};
  EXPECT_EQ(FormatFieldErrors(ValidateTrainer(job.dump())), "");
  trainer["data"]["format"] = "csv";
  EXPECT_THAT(FormatFieldErrors(ValidateTrainer(job.dump())),
              testing::HasSubstr("spec.trainer.data.format: Invalid value: \"csv\": gpt2 learns "
                                 "texts: write format: text"));
}

TEST(ValidateTrainerTest, ASourceOfAColumnIsAFeature) {
  Json job = Example();
  Json& trainer = job["spec"]["trainer"];
  trainer["data"] = Json::parse(R"({"format": "tfrecord", "train": {"files": ["/d/a"]},
      "tfrecord": {"label": "click", "features": [{"name": "click"}, {"name": "age"}]},
      "columns": [{"name": "age", "type": "numeric"},
                  {"name": "group", "type": "bucketized", "source": "age", "boundaries": [9]},
                  {"name": "both", "type": "crossed", "sources": ["group", "age"],
                   "buckets": 9}]})");
  trainer["model"] = Json::parse(R"({"name": "wideDeep", "hidden": [4]})");
  EXPECT_EQ(FormatFieldErrors(ValidateTrainer(job.dump())), "");
  trainer["data"]["columns"][0]["name"] = "ages";
  trainer["data"]["columns"][1]["source"] = "years";
  trainer["data"]["columns"][2]["sources"][1] = "town";
  const std::vector<FieldError> errors = ValidateTrainer(job.dump());
  ASSERT_EQ(errors.size(), 3u) << FormatFieldErrors(errors);
  EXPECT_EQ(errors[0].path, "spec.trainer.data.columns[0].name");
  EXPECT_EQ(errors[1].path, "spec.trainer.data.columns[1].source");
  EXPECT_EQ(errors[2].path, "spec.trainer.data.columns[2].sources[1]");
}

TEST(ValidateTrainerTest, CategoriesAreOfWideDeepAndOfUnknownModels) {
  Json job = Example();
  Json& trainer = job["spec"]["trainer"];
  trainer["data"] = Json::parse(R"({"format": "csv", "train": {"files": ["/d/a"]},
      "csv": {"labelColumn": "click"},
      "columns": [{"name": "age", "type": "numeric"},
                  {"name": "job", "type": "hashed", "buckets": 9}]})");
  trainer["model"] = Json::parse(R"({"name": "mlp", "hidden": [4]})");
  const std::vector<FieldError> errors = ValidateTrainer(job.dump());
  ASSERT_EQ(errors.size(), 1u) << FormatFieldErrors(errors);
  EXPECT_EQ(errors[0].path, "spec.trainer.data.columns[1].type");
  trainer["model"] = {{"name", "highway"}};
  trainer["image"] = "registry.example/highway:1";
  EXPECT_EQ(FormatFieldErrors(ValidateTrainer(job.dump())), "");
}

INSTANTIATE_TEST_SUITE_P(
    Table, ValidateTrainerTest,
    testing::Values(
        TrainerCase{"UnknownModel", R"({"name": "resnet"})", R"({})", "spec.trainer.model.name",
                    "knows gpt2, layers, lenet, linear, lstm, mlp, resnet20, resnet50, softmax, "
                    "wideDeep"},
        TrainerCase{"MlpWithoutLayers", R"({"name": "mlp"})", R"({})", "spec.trainer.model.hidden",
                    "at least one hidden layer"},
        TrainerCase{"SoftmaxWithLayers", R"({"name": "softmax", "hidden": [5]})", R"({})",
                    "spec.trainer.model.hidden",
                    "belongs to lenet, lstm, mlp, wideDeep, not to softmax"},
        TrainerCase{"LstmWithoutLayers", R"({"name": "lstm", "hidden": []})", R"({})",
                    "spec.trainer.model.hidden", "lstm needs the size of at least one"},
        TrainerCase{"WideDeepWithoutColumns", R"({"name": "wideDeep", "hidden": [4]})", R"({})",
                    "spec.trainer.data.columns", "wideDeep learns from feature columns"},
        TrainerCase{"WideOfMlp", R"({"name": "mlp", "hidden": [5], "wide": ["a"]})", R"({})",
                    "spec.trainer.model.wide", "belongs to wideDeep, not to mlp"},
        TrainerCase{"BlocksOfLenet", R"({"name": "lenet", "blocks": 2})", R"({})",
                    "spec.trainer.model.blocks", "belongs to gpt2, not to lenet"},
        TrainerCase{"UnknownOptimizer", R"({"name": "linear"})", R"({"name": "lamb"})",
                    "spec.trainer.optimizer.name",
                    "knows sgd, momentum, adam, adamw, adagrad, rmsprop, ftrl"},
        TrainerCase{"PartOfAName", R"({"name": "linear"})", R"({"name": "ada"})",
                    "spec.trainer.optimizer.name", "knows sgd, momentum"},
        TrainerCase{"NesterovOfRmsProp", R"({"name": "linear"})",
                    R"({"name": "rmsprop", "momentum": 0.5, "nesterov": true})",
                    "spec.trainer.optimizer.nesterov", "belongs to momentum, not to rmsprop"},
        TrainerCase{"WeightDecayOfAdam", R"({"name": "linear"})",
                    R"({"name": "adam", "weightDecay": 0.5})",
                    "spec.trainer.optimizer.weightDecay", "belongs to adamw, not to adam"},
        TrainerCase{"StartOfRmsProp", R"({"name": "linear"})",
                    R"({"name": "rmsprop", "initialAccumulator": 1})",
                    "spec.trainer.optimizer.initialAccumulator", "belongs to adagrad, ftrl"},
        TrainerCase{"AdagradFromZero", R"({"name": "linear"})",
                    R"({"name": "adagrad", "initialAccumulator": 0})",
                    "spec.trainer.optimizer.initialAccumulator", "needs one above 0"},
        TrainerCase{"RhoOfFtrl", R"({"name": "linear"})", R"({"name": "ftrl", "rho": 0.5})",
                    "spec.trainer.optimizer.rho", "belongs to rmsprop"},
        TrainerCase{"CenteredOfSgd", R"({"name": "linear"})", R"({"centered": false})",
                    "spec.trainer.optimizer.centered", "belongs to rmsprop"},
        TrainerCase{"PowerOfSgd", R"({"name": "linear"})", R"({"learningRatePower": -0.5})",
                    "spec.trainer.optimizer.learningRatePower", "belongs to ftrl"},
        TrainerCase{"L1OfSgd", R"({"name": "linear"})", R"({"l1": 1})",
                    "spec.trainer.optimizer.l1", "belongs to ftrl"},
        TrainerCase{"L2OfSgd", R"({"name": "linear"})", R"({"l2": 1})",
                    "spec.trainer.optimizer.l2", "belongs to ftrl"},
        TrainerCase{"BoundariesThatStay", R"({"name": "linear"})",
                    R"({"decay": {"type": "step", "boundaries": [5, 5], "rates": [1, 1]}})",
                    "spec.trainer.optimizer.decay.boundaries", "must grow"},
        TrainerCase{"MomentumOfSgd", R"({"name": "linear"})", R"({"momentum": 0.5})",
                    "spec.trainer.optimizer.momentum", "belongs to momentum, rmsprop, not to sgd"},
        TrainerCase{"Beta1OfMomentum", R"({"name": "linear"})",
                    R"({"name": "momentum", "beta1": 0.5})", "spec.trainer.optimizer.beta1",
                    "belongs to adam, adamw, not to momentum"},
        TrainerCase{"Beta2OfSgd", R"({"name": "linear"})", R"({"beta2": 0.5})",
                    "spec.trainer.optimizer.beta2", "belongs to adam"},
        TrainerCase{"EpsilonOfSgd", R"({"name": "linear"})", R"({"epsilon": 0.5})",
                    "spec.trainer.optimizer.epsilon", "belongs to adam"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
