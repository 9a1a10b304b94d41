// Models of each kind, small, and trainings of a few steps of each: in one process, by towers, and
// through parameter servers over loopback, on whatever computes.
//
// Ownership: of a test. Threads: the test's. Errors: EXPECT of gtest.
//
//   runtime_ = FarRuntime;
//   EXPECT_EQ(InOneProcess(Config(kLocal)), near);

#ifndef TRAINER_TESTING_EVERY_MODEL_H_
#define TRAINER_TESTING_EVERY_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/config/trainer_config.h"
#include "trainer/graph/runtime.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/retry/stop_flag.h"
#include "trainer/status/status_board.h"
#include "trainer/task/model_task.h"

namespace taas {

inline constexpr int64_t kModelSteps = 40;
inline constexpr int64_t kModelBatch = 4;  // Of eight examples, which come again and again.

struct ModelCase {
  const char* name;
  const char* model;
  const char* data;  // JSON; or a file that is made: "text", "table".
  const char* optimizer;
  // The moments of a batch are those of the examples of one tower.
  bool normalizes_batches = false;
};
// Linear, Layers, Mlp, LeNet, ResNet20, Lstm, Gpt2, WideDeep.
std::vector<ModelCase> EveryModelCase();

using Losses = std::map<int64_t, double>;  // By batch.
inline constexpr int64_t kEvaluated = -1;  // And, if there is test data, of the end.

inline constexpr char kLocal[] = R"({"type": "Local"})";
inline constexpr char kTwoTowers[] = R"({"type": "Towers", "towers": 2})";
inline constexpr char kInStep[] = R"({"type": "ParameterServer", "mode": "Sync"})";
inline constexpr char kOutOfStep[] = R"({"type": "ParameterServer", "mode": "Async"})";

class EveryModel : public testing::TestWithParam<ModelCase> {
 protected:
  TrainerConfig Config(const std::string& strategy, int64_t batch = kModelBatch);
  Losses InOneProcess(const TrainerConfig& config);
  // Of two parameter servers. The chief trains as well.
  Losses ByParameterServers(const TrainerConfig& config, int workers);

  // Of the first quarter of all batches and of the last, in each of which all examples are.
  static void ExpectFall(const Losses& losses);
  static void ExpectFall(const std::vector<double>& losses);
  // `relative` to each loss.
  static void ExpectNear(const Losses& got, const Losses& wanted, double relative = 1e-3);

  // Of the last training by parameter servers, as they were computed: out of step a replica that
  // stood still may have been lent the first batches, and compute them last.
  std::vector<double> in_time_;
  std::function<Runtime()> runtime_ = CpuRuntime;

 private:
  std::string MakeFile(const std::string& content);
  std::unique_ptr<ModelTask> MakeTask(const TrainerConfig& config);
  static void AddEvaluation(const StatusBoard& board, Losses* losses);

  RealClock clock_;
  PosixFileSystem files_;
  StopFlag stop_;
};

}  // namespace taas

#endif  // TRAINER_TESTING_EVERY_MODEL_H_
