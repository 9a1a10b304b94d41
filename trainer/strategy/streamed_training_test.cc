// Training on streamed data: as good as on data in memory, the same after a restart, and ended by a
// damaged record.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/example.h"
#include "trainer/data/generated/digits.h"
#include "trainer/data/record_file.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/task/model_task.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
using Tensors = std::vector<std::vector<float>>;

constexpr int64_t kImages = 3'000;

struct Outcome {
  absl::Status status;
  Tensors values;
  double accuracy = 0;
};

// A volume that is away until it was asked for some times.
class FilesThatGoAway : public PosixFileSystem {
 public:
  static constexpr int kForEver = 1 << 30;

  void Away(int questions) { questions_ = questions; }
  absl::StatusOr<std::unique_ptr<RandomReadFile>> OpenRead(const std::string& path) override {
    if (path.ends_with("/train") && questions_-- > 0) return ErrnoToStatus(EIO, "read", path);
    return PosixFileSystem::OpenRead(path);
  }

 private:
  std::atomic<int> questions_ = 0;
};

class StreamedTrainingTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = testing::TempDir() + "streamed_XXXXXX";
    ASSERT_NE(mkdtemp(dir_.data()), nullptr);
    WriteDigits("train", 0, kImages);
    WriteDigits("test", kImages, 500);
    null_ = open("/dev/null", O_WRONLY);
  }
  void TearDown() override { close(null_); }

  // All of one class, then all of the next: as bad an order as files can have.
  void WriteDigits(const std::string& name, int64_t first, int64_t count) {
    const DigitImages digits = DrawDigits({.seed = 1, .first = first, .count = count});
    std::vector<size_t> order(digits.labels.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t i) { return digits.labels[i]; });
    auto writer = RecordWriter::Open(files_, dir_ + "/" + name);
    ASSERT_THAT(writer, IsOk());
    for (const size_t i : order) {
      ExampleBuilder builder;
      builder.AddBytes("image", {reinterpret_cast<const char*>(&digits.pixels[i * kDigitPixels]),
                                 kDigitPixels});
      const int64_t label = digits.labels[i];
      builder.AddInts("label", {&label, 1});
      ASSERT_THAT((*writer)->Append(builder.Take()), IsOk());
    }
    ASSERT_THAT((*writer)->Close(), IsOk());
  }

  TrainerConfig Config(const std::string& streaming) const {
    const auto config = ParseTrainerConfig(R"({
        "model": {"name": "softmax"}, "seed": 3, "batchSize": 50, "maxSteps": 180,
        "optimizer": {"name": "sgd", "learningRate": 0.5},
        "data": {"format": "tfrecord", "classes": 10,
          "tfrecord": {"label": "label", "features": [
            {"name": "image", "dtype": "bytes", "decode": "raw", "shape": [28, 28, 1]},
            {"name": "label", "dtype": "int64"}]},
          "train": {"files": [")" + dir_ + R"(/train"]}, "test": {"files": [")" + dir_ +
                                           R"(/test"]})" + streaming + "}}");
    EXPECT_THAT(config, IsOk());
    return *config;
  }

  // Stops after `stop_at` steps, if that is not 0.
  Outcome Train(const TrainerConfig& config, int64_t stop_at = 0) {
    StatusBoard board({.max_steps = config.max_steps});
    StopFlag stop;
    const Tries tries{clock_, board, stop, {.read = read_patience_, .pause = 1ms}};
    ModelTask::Process process;
    process.read_again = [&](const auto& read) {
      return TryOn(tries, ErrorAt::kRead, "read the training data", read);
    };
    auto task = ModelTask::Make(CpuRuntime(), files_, config, process);
    EXPECT_THAT(task, IsOk());
    std::unique_ptr<SnapshotStore> store;
    if (!config.checkpoint_dir.empty()) {
      const auto shape = ShapeOf((*task)->session(), config);
      EXPECT_THAT(shape, IsOk());
      store = *SnapshotStore::Open(
          files_, clock_, {.dir = config.checkpoint_dir, .uid = "uid", .shape = *shape});
    }
    StepLog log(clock_, {.batch_size = ExamplesPerStep(config),
                         .max_steps = config.max_steps,
                         .fd = null_,
                         .also = [&](int64_t step, double, double) {
                           if (step == away_from_) files_.Away(away_for_);
                           if (step == stop_at) stop.Stop();
                         }});
    Outcome outcome;
    outcome.status = RunLocal(config, **task, store.get(), log, tries);
    for (const std::span<float> values : HostSpans(VariablesOf((*task)->session()))) {
      outcome.values.emplace_back(values.begin(), values.end());
    }
    const auto evaluation = board.snapshot().evaluation;
    if (evaluation) outcome.accuracy = evaluation->accuracy.value_or(0);
    return outcome;
  }

  FilesThatGoAway files_;
  RealClock clock_;
  Clock::Duration read_patience_ = kReadPatience;
  int64_t away_from_ = 0;  // The step after which the files are.
  int away_for_ = 0;
  std::string dir_;
  int null_ = -1;
};

constexpr char kStreaming[] = R"(,"streaming":{"shuffleBuffer":640,"readers":2,"prefetch":3})";

TEST_F(StreamedTrainingTest, AWindowOfAFifthOfTheDataTrainsAsWellAsAllOfIt) {
  const Outcome whole = Train(Config(""));
  const Outcome streamed = Train(Config(kStreaming));
  ASSERT_THAT(whole.status, IsOk());
  ASSERT_THAT(streamed.status, IsOk());
  EXPECT_GT(whole.accuracy, 0.75);
  EXPECT_GT(streamed.accuracy, whole.accuracy - 0.03);
}

TEST_F(StreamedTrainingTest, StoppedAndResumedIsAsIfNeverStopped) {
  TrainerConfig config = Config(kStreaming);
  const Outcome whole = Train(config);
  ASSERT_THAT(whole.status, IsOk());
  config.checkpoint_dir = dir_ + "/out";
  // In the middle of a window of the second epoch.
  EXPECT_THAT(Train(config, /*stop_at=*/77).status, StatusIs(absl::StatusCode::kCancelled));
  const Outcome resumed = Train(config);
  ASSERT_THAT(resumed.status, IsOk());
  EXPECT_EQ(resumed.values, whole.values);
}

TEST_F(StreamedTrainingTest, TowersTrainOnTheSameBatchesWithAndWithoutPrefetch) {
  TrainerConfig config = Config(kStreaming);
  config.strategy = StrategyType::kTowers;
  config.towers = 2;
  config.max_steps = 90;
  const Outcome ahead = Train(config);
  config.data = Config(R"(,"streaming":{"shuffleBuffer":640,"readers":1,"prefetch":0})").data;
  const Outcome in_time = Train(config);
  ASSERT_THAT(ahead.status, IsOk());
  ASSERT_THAT(in_time.status, IsOk());
  EXPECT_EQ(ahead.values, in_time.values);
}

// It would take the same numbers of batches for other examples.
TEST_F(StreamedTrainingTest, ACheckpointOfAnotherBufferIsRefused) {
  TrainerConfig config = Config(kStreaming);
  config.max_steps = 3;
  config.checkpoint_dir = dir_ + "/out";
  ASSERT_THAT(Train(config).status, IsOk());
  for (const auto& [streaming, has] :
       {std::pair(R"(,"streaming":{"shuffleBuffer":641})", "641"), std::pair("", "0")}) {
    TrainerConfig other = Config(streaming);
    other.max_steps = 6;
    other.checkpoint_dir = config.checkpoint_dir;
    EXPECT_THAT(Train(other).status,
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("was made with shuffleBuffer 640, the job has " +
                                   std::string(has))));
  }
}

// Six hiccups of a file server failed the job.
TEST_F(StreamedTrainingTest, ReadsThatFailAndComeBackCostNoStep) {
  TrainerConfig config = Config(kStreaming);
  const Outcome undisturbed = Train(config);
  away_from_ = 20;
  away_for_ = 50;
  const Outcome disturbed = Train(config);
  ASSERT_THAT(disturbed.status, IsOk());
  EXPECT_EQ(disturbed.values, undisturbed.values);
}

TEST_F(StreamedTrainingTest, DataThatStaysAwayAsksForAnotherStartAndKeepsWhatIsTrained) {
  TrainerConfig config = Config(kStreaming);
  config.checkpoint_dir = dir_ + "/out";
  away_from_ = 20;
  away_for_ = FilesThatGoAway::kForEver;
  read_patience_ = 20ms;
  EXPECT_THAT(Train(config).status,
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("read the training data, given up after"),
                             HasSubstr("Input/output error"))));
  files_.Away(0);
  away_from_ = 0;
  const auto names = files_.List(config.checkpoint_dir);
  ASSERT_THAT(names, IsOk());
  EXPECT_THAT(*names, testing::Contains(HasSubstr(".index")));
}

TEST_F(StreamedTrainingTest, ADamagedRecordEndsTheTrainingAndIsNamed) {
  const std::string path = dir_ + "/train";
  std::string text = *files_.ReadAll(path);
  const size_t at = text.size() / 2 + 100;
  text[at] = static_cast<char>(text[at] ^ 1);
  ASSERT_THAT(files_.WriteAtomically(path, text), IsOk());
  EXPECT_THAT(Train(Config(kStreaming)).status,
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("read " + path + ": record 1500 at offset"),
                             HasSubstr("the checksum of its data is wrong"))));
}

}  // namespace
}  // namespace taas
