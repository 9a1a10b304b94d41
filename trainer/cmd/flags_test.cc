#include "third_party/json.h"
#include "trainer/cmd/flags.h"

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/command_line.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using nlohmann::json;

class FlagsTest : public testing::Test {
 protected:
  // What the command line `args` says.
  static Flags Parse(const std::vector<std::string>& args) {
    CommandLine app;
    Flags flags;
    AddFlags(app, &flags);
    EXPECT_EQ(app.Parse(args), std::nullopt);
    return flags;
  }
  // What is said of a command line that is refused.
  static std::string Complaint(const std::vector<std::string>& args) {
    CommandLine app;
    Flags flags;
    AddFlags(app, &flags);
    std::ostringstream out, err;
    EXPECT_EQ(app.Parse(args, {.out = out, .err = err}), kExitWrongUsage);
    return err.str();
  }
  std::optional<std::string> Env(const char* name) const {
    const auto found = environment_.find(name);
    return found == environment_.end() ? std::nullopt : std::optional(found->second);
  }
  absl::StatusOr<std::optional<ClusterSpec>> Cluster(const std::vector<std::string>& args) {
    return ReadCluster(Parse(args), [this](const char* name) { return Env(name); });
  }
  json Trainer(const std::vector<std::string>& args) {
    const auto text =
        TrainerJson(Parse(args), [this](const char* name) { return Env(name); }, files_);
    EXPECT_THAT(text, IsOk());
    return text.ok() ? json::parse(*text) : json();
  }
  std::string DataDir(const std::vector<std::string>& names) {
    const std::string dir = std::string(std::getenv("TEST_TMPDIR")) + "/" +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
    EXPECT_THAT(files_.MakeDirs(dir), IsOk());
    for (const std::string& name : names) {
      EXPECT_THAT(files_.WriteAtomically(dir + "/" + name, ""), IsOk());
    }
    return dir;
  }

  std::map<std::string, std::string> environment_;
  PosixFileSystem files_;
};

constexpr char kTfConfig[] =
    R"({"cluster":{"ps":["p:1"],"worker":["t:1"]},"task":{"type":"worker","index":0}})";

TEST_F(FlagsTest, FlagsGoOverTfConfigAndThatOverTheClassicEnvironment) {
  environment_ = {{"PS_HOSTS", "p:1"},    {"WORKER_HOSTS", "e:1"}, {"JOB_NAME", "worker"},
                  {"TASK_INDEX", "0"}};
  EXPECT_EQ((**Cluster({})).self_address(), "e:1");
  environment_["TAAS_WORKER_HOSTS"] = "a:1,b:1";
  environment_["TAAS_TASK_INDEX"] = "1";
  EXPECT_EQ((**Cluster({})).self_address(), "b:1");
  environment_["TF_CONFIG"] = kTfConfig;
  EXPECT_EQ((**Cluster({})).self_address(), "t:1");
  const std::vector<std::string> flags = {"--ps_hosts=p:1", "--worker_hosts=f:1,g:1",
                                          "--job_name=worker", "--task_index=1"};
  EXPECT_EQ((**Cluster(flags)).self_address(), "g:1");
}

TEST_F(FlagsTest, AManifestOfAJobIsAConfiguration) {
  const std::string path = DataDir({}) + "/job.yaml";
  ASSERT_THAT(files_.WriteAtomically(path, R"(
kind: TrainingJob
spec:
  trainer: {maxSteps: 7, model: {name: softmax}, checkpoint: {dir: /out/c}}
  volumes: [{name: out, mountPath: /out}, {name: data, mountPath: /data}]
)"),
              IsOk());
  const json got = Trainer({"--config", path, "--volume", "out=o", "--volume=data=d",
                            "--train_steps=9"});
  EXPECT_EQ(got, json({{"maxSteps", 9},
                       {"model", {{"name", "softmax"}}},
                       {"checkpoint", {{"dir", "o/c"}}}}));
  const auto env = [this](const char* name) { return Env(name); };
  const Flags flags = Parse({"--config", path});
  EXPECT_THAT(TrainerJson(flags, env, files_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--volume out=DIR is missing: checkpoint.dir")));
  EXPECT_THAT(TrainerJson(flags, env, files_, {.checkpoint = false}), IsOk());
  EXPECT_THAT(Complaint({"--volume", "out"}), HasSubstr("\"out\" is not NAME=DIR"));
}

TEST_F(FlagsTest, WithoutAnyOfThemThereIsNoCluster) {
  EXPECT_FALSE(Cluster({})->has_value());
  // Build servers set this one for themselves.
  environment_["JOB_NAME"] = "nightly";
  EXPECT_FALSE(Cluster({})->has_value());
}

TEST_F(FlagsTest, MistakesAreNamed) {
  EXPECT_THAT(Cluster({"--worker_hosts=a:1"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--job_name is missing")));
  environment_ = {{"WORKER_HOSTS", "a:1"}, {"JOB_NAME", "worker"}, {"TASK_INDEX", "one"}};
  EXPECT_THAT(Cluster({}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"one\"")));
  const auto nothing =
      TrainerJson(Parse({}), [this](const char* name) { return Env(name); }, files_);
  EXPECT_THAT(nothing, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nothing to train")));
}

TEST_F(FlagsTest, ArgumentsOfTheClassicScriptsAreAWholeConfiguration) {
  const std::string dir =
      DataDir({"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
               "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"});
  const json got = Trainer({"--data_dir=" + dir, "--hidden_units=100", "--train_steps=200",
                            "--batch_size=100", "--learning_rate=0.01", "--sync_replicas",
                            "--replicas_to_aggregate=2", "--log_dir=/logs"});
  const json want = {
      {"model", {{"name", "mlp"}, {"hidden", {100}}}},
      {"data",
       {{"format", "idx"},
        {"train",
         {{"images", dir + "/train-images-idx3-ubyte.gz"},
          {"labels", dir + "/train-labels-idx1-ubyte.gz"}}},
        {"test",
         {{"images", dir + "/t10k-images-idx3-ubyte.gz"},
          {"labels", dir + "/t10k-labels-idx1-ubyte.gz"}}}}},
      {"maxSteps", 200},
      {"batchSize", 100},
      {"optimizer", {{"learningRate", 0.01}}},
      {"strategy", {{"mode", "Sync"}, {"replicasToAggregate", 2}}},
      {"checkpoint", {{"dir", "/logs"}}},
      {"summaries", {{"dir", "/logs"}}}};
  EXPECT_EQ(got, want) << got.dump(1);
}

TEST_F(FlagsTest, EveryFlagBecomesItsField) {
  const json got = Trainer(
      {"--config={\"data\":{},\"optimizer\":{\"name\":\"sgd\"},\"maxSteps\":7}",
       "--model=softmax", "--optimizer=momentum", "--momentum=0.5", "--l2=0.1",
       "--moving_average_decay=0.99", "--seed=3", "--nosync_replicas", "--num_towers=2",
       "--backup_workers=5%", "--max_staleness=2", "--checkpoint_dir=/c",
       "--save_checkpoints_secs=5",
       "--save_checkpoints_steps=6", "--save_deadline_secs=7", "--save_summaries_steps=8",
       "--log_steps=9", "--json-logs",
       "--log_device_placement", "--soft-placement", "--inter-op-threads=2",
       "--intra_op_parallelism_threads=4", "--deterministic", "--precision=bfloat16",
       "--trace=/t.json", "--trace-steps=5:7"});
  const json want = {{"model", {{"name", "softmax"}}},
                     {"data", json::object()},
                     {"maxSteps", 7},
                     {"optimizer", {{"name", "momentum"}, {"momentum", 0.5}}},
                     {"regularization", {{"l2", 0.1}}},
                     {"movingAverage", {{"decay", 0.99}}},
                     {"seed", 3},
                     {"strategy",
                      {{"mode", "Async"}, {"type", "Towers"}, {"towers", 2},
                       {"maxStaleness", 2}, {"backupWorkers", "5%"}}},
                     {"checkpoint",
                      {{"dir", "/c"}, {"everySeconds", 5}, {"everySteps", 6},
                       {"saveDeadlineSeconds", 7}}},
                     {"summaries", {{"everySteps", 8}}},
                     {"logSteps", 9},
                     {"jsonLogs", true},
                     {"engine",
                      {{"logDevicePlacement", true},
                       {"softPlacement", true},
                       {"interOpThreads", 2},
                       {"intraOpThreads", 4},
                       {"deterministic", true},
                       {"precision", "bfloat16"},
                       {"trace", {{"file", "/t.json"}, {"fromStep", 5}, {"steps", 3}}}}}};
  EXPECT_EQ(got, want) << got.dump(1);
}

TEST_F(FlagsTest, TracedStepsAreARangeOrOne) {
  const std::string config = "--config={\"maxSteps\":1}";
  EXPECT_EQ(Trainer({config, "--trace=a", "--trace-steps=9"})["engine"]["trace"],
            (json{{"file", "a"}, {"fromStep", 9}, {"steps", 1}}));
  for (const char* text : {"0:1", "3:2", "1:", ":2", "1-2", "1:2:3", "x"}) {
    EXPECT_THAT(Complaint({config, std::string("--trace-steps=") + text}),
                HasSubstr("--trace-steps: \"" + std::string(text) + "\" is not FROM:TO"));
  }
}

// JSON has no NaN: what stands for it is no number to whoever reads the configuration.
TEST_F(FlagsTest, ARateThatIsNoNumberIsRefused) {
  for (const char* text : {"nan", "-nan", "inf"}) {
    EXPECT_THAT(Complaint({std::string("--learning_rate=") + text}),
                HasSubstr("--learning_rate: " + std::string(text) + " is not a number above 0"));
  }
}

// They were told by names of fields, or not before the data was read, with exit code 1 or CLI11's.
TEST_F(FlagsTest, ANameThatThereIsNotIsToldWithTheOneThatWasMeant) {
  const struct {
    const char* word;
    const char* said;
  } kCases[] = {
      {"--larning_rate=1", "there is no option --larning_rate; did you mean --learning_rate?"},
      {"--learning-rat=1", "there is no option --learning-rat; did you mean --learning_rate?"},
      {"--model=lent", "--model: \"lent\" is none of gpt2, layers, lenet, linear, lstm, mlp, "
                       "resnet20, resnet50, softmax, wideDeep; did you mean \"lenet\"?"},
      {"--optimizer=adm", "; did you mean \"adam\"?"},
      {"--strategy=local", "; did you mean \"Local\"?"},
      {"--precision=float23", "; did you mean \"float32\"?"},
      {"--job_name=wroker", "; did you mean \"worker\"?"},
      {"--train_steps=many", "--train_steps: \"many\" is not a whole number"},
  };
  for (const auto& [word, said] : kCases) EXPECT_THAT(Complaint({word}), HasSubstr(said));
}

// A job of mode Sync trained asynchronously: a flag that was not given went over its configuration.
TEST_F(FlagsTest, WithoutFlagsTheConfigurationIsTakenAsItIs) {
  const json config = {{"model", {{"name", "mlp"}, {"hidden", {500}}}},
                       {"strategy", {{"mode", "Sync"}, {"backupWorkers", 1}}}};
  environment_["TAAS_TRAINER"] = config.dump();
  EXPECT_EQ(Trainer({}), config);
  EXPECT_EQ(Trainer({"--nosync_replicas"})["strategy"]["mode"], "Async");
  EXPECT_EQ(Trainer({"--issync"})["strategy"]["mode"], "Sync");
}

TEST_F(FlagsTest, FlagsGoOverTheConfigurationAndThatOverTheEnvironment) {
  environment_["TAAS_TRAINER"] = R"({"model":{"name":"linear"},"maxSteps":1})";
  EXPECT_EQ(Trainer({})["maxSteps"], 1);
  EXPECT_EQ(Trainer({"--train_steps=5"})["maxSteps"], 5);
  const json got = Trainer({"--config={\"maxSteps\":2}", "--sync_replicas=true"});
  EXPECT_EQ(got["maxSteps"], 2);
  EXPECT_FALSE(got.contains("model"));
  EXPECT_EQ(got["strategy"]["mode"], "Sync");
}

TEST_F(FlagsTest, TokenIsOfTheFlagsFileElseOfTheEnvironmentAndInNoMessage) {
  const auto read = [this](const std::vector<std::string>& arguments) {
    return ReadToken(Parse(arguments), [this](const char* name) { return Env(name); }, files_);
  };
  EXPECT_EQ(*read({}), "");
  environment_["TAAS_JOB_TOKEN"] = "0123456789abcdef";
  EXPECT_EQ(*read({}), "0123456789abcdef");
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/token";
  ASSERT_THAT(files_.WriteAtomically(path, "of-the-file\r\n"), IsOk());
  EXPECT_EQ(*read({"--job-token-file=" + path}), "of-the-file");
  EXPECT_EQ(*read({"--job_token_file=" + path}), "of-the-file");
  for (const char* wrong : {"", "\n", "two words"}) {
    ASSERT_THAT(files_.WriteAtomically(path, wrong), IsOk());
    EXPECT_THAT(read({"--job_token_file=" + path}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(path), Not(HasSubstr("two words")))));
  }
  environment_["TAAS_JOB_TOKEN"] = "two words";
  EXPECT_THAT(read({}), StatusIs(absl::StatusCode::kInvalidArgument,
                                 AllOf(HasSubstr("TAAS_JOB_TOKEN"), Not(HasSubstr("words")))));
}

TEST_F(FlagsTest, DataDirectoryWithoutImagesIsNamed) {
  const std::string dir = DataDir({});
  const auto missing = TrainerJson(Parse({"--data_dir=" + dir}),
                                   [this](const char* name) { return Env(name); }, files_);
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound, HasSubstr(dir)));
}

TEST_F(FlagsTest, FilesAsTheDataCommandNamesThemAreFoundToo) {
  const std::string dir = DataDir({"train-images.gz", "train-labels.gz"});
  const json got = Trainer({"--data_dir=" + dir, "--train_steps=1"});
  EXPECT_EQ(got["data"]["train"]["labels"], dir + "/train-labels.gz");
  EXPECT_FALSE(got["data"].contains("test"));
}

}  // namespace
}  // namespace taas
