#include "trainer/summary/checkpoint_weights.h"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/checkpoint/checkpoint_list.h"
#include "trainer/summary/histogram.h"

namespace taas {
namespace {

// Between two looks at the directory: one listing each.
constexpr std::chrono::seconds kLook{2};
// A variable is read whole; larger ones are left out rather than their memory taken from training.
constexpr int64_t kVariableBytesMax = 256 << 20;
// State of the trainer itself, which is no weight.
constexpr std::string_view kOwn = "taas/";

}  // namespace

CheckpointWeights::CheckpointWeights(const Clock& clock, FileSystem& files, Options options)
    : clock_(clock), files_(files), options_(std::move(options)) {}

CheckpointWeights::~CheckpointWeights() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void CheckpointWeights::Follow() {
  thread_ = std::thread([this] { Run(); });
}

void CheckpointWeights::Run() {
  for (bool last = false; !last;) {
    {
      std::unique_lock lock(mutex_);
      last = changed_.wait_for(lock, kLook, [this] { return closing_; });
    }
    Look();
  }
}

void CheckpointWeights::Look() {
  const auto steps = ListCheckpoints(files_, options_.checkpoints);
  if (!steps.ok()) return;  // It is still to come, or its disk is away.
  const absl::Status status = TakeNew(*steps);
  if (status.ok()) {
    told_ = false;
  } else if (!std::exchange(told_, true)) {
    Log(LogLevel::kWarning, "the weights of a checkpoint are not among the event files",
        {{"why", std::string(status.message())}});
  }
}

// The first that is wrong; one that is damaged does not keep the others back.
absl::Status CheckpointWeights::TakeNew(const std::vector<int64_t>& steps) {
  RETURN_IF_ERROR(ReadBack());
  absl::Status first;
  for (const int64_t step : steps) {
    if (taken_.count(step) != 0) continue;
    const absl::Status taken = Take(step);
    // Retired since, or being replaced: the next look tells.
    if (!absl::IsNotFound(taken)) first.Update(taken);
  }
  return first;
}

// What an earlier life of this process took, as TensorBoard reads it: a start drops what stands at
// its step and later.
absl::Status CheckpointWeights::ReadBack() {
  if (read_back_) return absl::OkStatus();
  taken_.clear();
  RETURN_IF_ERROR(ReadEvents(files_, options_.events, std::numeric_limits<uint64_t>::max(),
                             [this](const summary::Event& event) {
                               if (event.has_session_log()) {
                                 taken_.erase(taken_.lower_bound(event.step()), taken_.end());
                               } else if (event.has_summary()) {
                                 taken_.insert(event.step());
                               }
                             },
                             options_.job));
  read_back_ = true;
  return absl::OkStatus();
}

absl::Status CheckpointWeights::Take(int64_t step) {
  ASSIGN_OR_RETURN(summary::Summary summary, SummaryOf(step));
  // Training went back: the later ones are of a life that was given up.
  bool start = taken_.upper_bound(step) != taken_.end();
  if (writer_ == nullptr) {
    ASSIGN_OR_RETURN(writer_, EventWriter::Open(files_, clock_, options_.events, options_.job));
    start = true;
  }
  const Clock::WallTime now = clock_.WallNow();
  absl::Status written = start ? writer_->Start(now, step) : absl::OkStatus();
  if (written.ok()) written = writer_->Write(now, step, std::move(summary));
  if (!written.ok()) {
    writer_.reset();
    read_back_ = false;
    return written;
  }
  taken_.erase(taken_.lower_bound(step), taken_.end());
  taken_.insert(step);
  return absl::OkStatus();
}

absl::StatusOr<summary::Summary> CheckpointWeights::SummaryOf(int64_t step) const {
  ASSIGN_OR_RETURN(const auto reader,
                   BundleReader::Open(files_, CheckpointPrefix(options_.checkpoints, step)));
  summary::Summary summary;
  std::vector<float> values;
  for (const auto& [name, entry] : reader->entries()) {
    const bool is_weight = entry.type == ElementType::kFloat32 && !entry.partitioned &&
                           name.rfind(kOwn, 0) != 0;
    if (!is_weight || entry.size > kVariableBytesMax) continue;
    values.resize(static_cast<size_t>(entry.size) / sizeof(float));
    RETURN_IF_ERROR(reader->ReadFloats(name, entry.shape, values));
    Histogram histogram;
    histogram.Add(values);
    summary::Summary::Value* const value = summary.add_value();
    value->set_tag(name);
    *value->mutable_histo() = histogram.ToProto();
  }
  return summary;
}

}  // namespace taas
