#include "trainer/status/status_board.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "third_party/json.h"

namespace taas {
namespace {

using JsonValue = nlohmann::json;

// What Kubernetes keeps of a termination message.
constexpr size_t kTerminationBytesMax = 4'096;
constexpr char kTerminationPath[] = "/dev/termination-log";

std::string Dump(const JsonValue& json) {
  return json.dump(-1, ' ', false, JsonValue::error_handler_t::replace);
}

JsonValue ToJson(const Evaluation& evaluation) {
  JsonValue json = {{"step", evaluation.step},
               {"loss", evaluation.loss},
               {"examples", evaluation.examples}};
  if (evaluation.accuracy) json["accuracy"] = *evaluation.accuracy;
  if (evaluation.perplexity) json["perplexity"] = *evaluation.perplexity;
  return json;
}

JsonValue ToJson(const GpuReading& gpu) {
  JsonValue json = {{"id", gpu.id}, {"index", gpu.index}};
  if (gpu.utilization) json["utilization"] = *gpu.utilization;
  if (gpu.memory_used_mib) json["memoryUsedMiB"] = *gpu.memory_used_mib;
  if (gpu.memory_total_mib) json["memoryTotalMiB"] = *gpu.memory_total_mib;
  if (gpu.power_watts) json["powerWatts"] = *gpu.power_watts;
  if (gpu.power_limit_watts) json["powerLimitWatts"] = *gpu.power_limit_watts;
  if (gpu.temperature_c) json["temperatureC"] = *gpu.temperature_c;
  if (gpu.throttle) json["throttle"] = *gpu.throttle;
  if (gpu.ecc_uncorrected) json["eccUncorrected"] = *gpu.ecc_uncorrected;
  return json;
}

void AddShares(JsonValue& json, const std::optional<RankShares>& shares) {
  if (!shares) return;
  const auto rounded = [](double share) { return std::round(share * 1e3) / 1e3; };
  json["shares"] = {{"compute", rounded(shares->compute)},
                    {"wait", rounded(shares->wait)},
                    {"exchange", rounded(shares->exchange)},
                    {"hiddenExchange", rounded(shares->hidden)},
                    {"bytesPerStep", shares->bytes_per_step}};
}

void AddCheckpoints(JsonValue& json, const std::vector<CheckpointStatus>& checkpoints) {
  for (const CheckpointStatus& checkpoint : checkpoints) {
    JsonValue entry = {{"step", checkpoint.step}, {"bytes", checkpoint.bytes}};
    if (!checkpoint.saved_at.empty()) entry["savedAt"] = checkpoint.saved_at;
    json["checkpoints"].push_back(std::move(entry));
  }
}

void AddGpus(JsonValue& json, const std::vector<GpuReading>& gpus) {
  for (const GpuReading& gpu : gpus) json["gpus"].push_back(ToJson(gpu));
}

// JSON has no NaN.
void SetNumber(JsonValue& json, const char* name, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) json[name] = *value;
}

}  // namespace

const char* RunStateName(RunState state) {
  switch (state) {
    case RunState::kStarting: return "Starting";
    case RunState::kWaitingForPeers: return "WaitingForPeers";
    case RunState::kTraining: return "Training";
    case RunState::kRestoring: return "Restoring";
    case RunState::kEvaluating: return "Evaluating";
    case RunState::kSaving: return "Saving";
    case RunState::kDone: return "Done";
    case RunState::kFailed: return "Failed";
  }
  return "Starting";
}

void StatusBoard::SetState(RunState state, std::string message) {
  std::lock_guard lock(mutex_);
  now_.state = state;
  now_.message = std::move(message);
}

void StatusBoard::SetProgress(const Progress& progress) {
  std::lock_guard lock(mutex_);
  now_.progress = progress;
}

void StatusBoard::SetStep(int64_t step) {
  std::lock_guard lock(mutex_);
  now_.progress.step = step;
}

void StatusBoard::SetResumed(int64_t step) {
  std::lock_guard lock(mutex_);
  // A process that has trained to the end, and its successor, find their own checkpoint.
  const bool first = identity_.attempt <= 1 && identity_.pod <= 1 && now_.progress.step == 0;
  now_.progress.step = step;
  if (!first || identity_.max_steps <= 0 || step < identity_.max_steps) return;
  now_.remark = "nothing was left to train: the checkpoint that was found is of step " +
                std::to_string(step) + ", and maxSteps is " +
                std::to_string(identity_.max_steps) +
                "; to train anew use another checkpoint.dir, to go on a larger maxSteps";
}

void StatusBoard::SetLoss(double loss, double examples_per_second) {
  std::lock_guard lock(mutex_);
  now_.progress.loss = loss;
  now_.progress.examples_per_second = examples_per_second;
}

void StatusBoard::SetEvaluation(const Evaluation& evaluation) {
  std::lock_guard lock(mutex_);
  now_.evaluation = evaluation;
}

void StatusBoard::SetData(std::string source, int64_t examples) {
  std::lock_guard lock(mutex_);
  now_.data_source = std::move(source);
  now_.data_examples = examples;
}

void StatusBoard::SetPeers(std::vector<PeerStatus> peers) {
  std::lock_guard lock(mutex_);
  now_.peers = std::move(peers);
}

void StatusBoard::SetBatchSize(int64_t examples) {
  std::lock_guard lock(mutex_);
  now_.batch_size = examples;
}

void StatusBoard::SetBytes(int64_t bytes) {
  std::lock_guard lock(mutex_);
  now_.bytes = bytes;
}

void StatusBoard::SetBuffers(const Buffers& buffers) {
  std::lock_guard lock(mutex_);
  now_.buffers = buffers;
}

void StatusBoard::SetGpus(std::vector<GpuReading> gpus) {
  std::lock_guard lock(mutex_);
  now_.gpus = std::move(gpus);
}

void StatusBoard::SetShares(const RankShares& shares) {
  std::lock_guard lock(mutex_);
  now_.shares = shares;
}

void StatusBoard::SetCheckpoints(std::vector<CheckpointStatus> checkpoints) {
  std::lock_guard lock(mutex_);
  now_.checkpoints = std::move(checkpoints);
}

StatusBoard::Snapshot StatusBoard::snapshot() const {
  std::lock_guard lock(mutex_);
  return now_;
}

std::string SlowestRank(const std::string& own_name, const RankShares& own,
                        const std::vector<PeerStatus>& peers) {
  // Of less nobody would say that one is slow.
  constexpr double kNotable = 0.1;
  std::string slowest = own_name;
  double least = own.wait, most = own.wait;
  for (const PeerStatus& peer : peers) {
    if (!peer.shares) continue;
    most = std::max(most, peer.shares->wait);
    if (peer.shares->wait >= least) continue;
    least = peer.shares->wait;
    slowest = peer.role + "-" + std::to_string(peer.index);
  }
  return most - least >= kNotable ? slowest : "";
}

std::string StatusBoard::Json() const {
  const Snapshot now = snapshot();
  // The last rate stays known for the termination message, but it is no rate of what happens now.
  const double rate =
      now.state == RunState::kTraining ? now.progress.examples_per_second : 0;
  JsonValue json = {
      {"job", identity_.job},
      {"uid", identity_.uid},
      {"role", identity_.role},
      {"index", identity_.index},
      {"attempt", identity_.attempt},
      {"incarnation", {{"pod", identity_.pod}, {"start", identity_.start}}},
      {"state", RunStateName(now.state)},
      {"message", now.message.empty() ? now.remark : now.message},
      {"step", now.progress.step},
      {"maxSteps", identity_.max_steps},
      {"examplesPerSecond", rate},
  };
  SetNumber(json, "loss", now.progress.loss);
  if (rate > 0) {
    const double left = static_cast<double>(
        (identity_.max_steps - now.progress.step) * now.batch_size);
    json["etaSeconds"] = static_cast<int64_t>(std::ceil(left / rate));
  }
  if (now.evaluation) json["evaluation"] = ToJson(*now.evaluation);
  if (!now.data_source.empty()) {
    json["data"] = {{"source", now.data_source}, {"examples", now.data_examples}};
  }
  if (now.bytes > 0) json["bytes"] = now.bytes;
  if (now.buffers) {
    json["buffers"] = {{"staged", now.buffers->staged},
                       {"stagedBytes", now.buffers->staged_bytes},
                       {"spareBytes", now.buffers->spare_bytes},
                       {"versions", now.buffers->versions}};
  }
  AddGpus(json, now.gpus);
  AddCheckpoints(json, now.checkpoints);
  if (now.shares) {
    AddShares(json, now.shares);
    const std::string slowest = SlowestRank(
        identity_.role + "-" + std::to_string(identity_.index), *now.shares, now.peers);
    if (!slowest.empty()) json["slowest"] = slowest;
  }
  for (const PeerStatus& peer : now.peers) {
    JsonValue entry = {{"role", peer.role},   {"index", peer.index}, {"state", peer.state},
                          {"address", peer.address}, {"error", peer.error}, {"since", peer.since}};
    if (peer.bytes > 0) entry["bytes"] = peer.bytes;
    AddGpus(entry, peer.gpus);
    AddShares(entry, peer.shares);
    json["peers"].push_back(std::move(entry));
  }
  return Dump(json);
}

std::string StatusBoard::TerminationJson(const std::string& message) const {
  const Snapshot now = snapshot();
  JsonValue json = {{"message", message}, {"step", now.progress.step}};
  SetNumber(json, "loss", now.progress.loss);
  if (now.progress.examples_per_second > 0) {
    json["examplesPerSecond"] = now.progress.examples_per_second;
  }
  if (now.evaluation) json["evaluation"] = ToJson(*now.evaluation);
  if (!now.data_source.empty()) json["data"] = {{"source", now.data_source}};
  std::string text = Dump(json);
  for (size_t keep = message.size(); text.size() > kTerminationBytesMax && keep > 0;) {
    // Escapes make a byte up to six: shorten until it fits.
    keep -= std::min(keep, std::max<size_t>(1, (text.size() - kTerminationBytesMax + 5) / 6));
    json["message"] = message.substr(0, keep) + "…";
    text = Dump(json);
  }
  return text;
}

std::string StatusBoard::DoneMessage() const {
  const std::string remark = snapshot().remark;
  return remark.empty() ? "done" : remark;
}

void WriteTermination(const std::optional<std::string>& path, const std::string& json) {
  const std::string target = path && !path->empty() ? *path : kTerminationPath;
  // Plain calls: this also runs when the process is being ended by a signal.
  const int flags = O_WRONLY | O_TRUNC | O_CLOEXEC | (target == kTerminationPath ? 0 : O_CREAT);
  const int fd = open(target.c_str(), flags, 0644);
  if (fd < 0) return;
  size_t at = 0;
  while (at < json.size()) {
    const ssize_t written = write(fd, json.data() + at, json.size() - at);
    if (written <= 0) break;
    at += static_cast<size_t>(written);
  }
  close(fd);
}

}  // namespace taas
