#include "trainer/summary/recorder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/summary/histogram.h"

namespace taas {
namespace {

// Samples of numbers that may wait: a disk that hangs costs what comes after them.
constexpr size_t kWaitingMax = 1'000;
// A disk that failed is tried again after this.
constexpr std::chrono::seconds kDiskRetry{5};
// Events that are read back at a start hold numbers only; one with histograms is larger.
constexpr uint64_t kNumbersBytesMax = 4'096;

constexpr char kLoss[] = "loss";
constexpr char kAccuracy[] = "accuracy";
constexpr char kPerplexity[] = "perplexity";
constexpr char kLearningRate[] = "learning_rate";
constexpr char kExamplesPerSecond[] = "examples_per_second";
constexpr char kStepsPerSecond[] = "global_step/sec";  // TensorFlow's tag.

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Recorder::Recorder(const Clock& clock, FileSystem& files, Options options, Series& series)
    : clock_(clock), files_(files), options_(std::move(options)), series_(series) {
  thread_ = std::thread([this] { Run(); });
}

Recorder::~Recorder() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
  if (left_out_ > 0) {
    Log(LogLevel::kWarning, "samples were not recorded because the disk was too slow",
        {{"samples", std::to_string(left_out_)}});
  }
}

bool Recorder::Due(int64_t step) const {
  return last_due_ < 0 || step < last_due_ || step / options_.every > last_due_ / options_.every;
}

bool Recorder::WantsHistograms() const {
  if (!options_.histograms || options_.dir.empty()) return false;
  std::lock_guard lock(mutex_);
  return !has_copy_;
}

void Recorder::Record(Sample sample) {
  last_due_ = sample.step;
  std::lock_guard lock(mutex_);
  if (queue_.size() >= kWaitingMax) {
    ++left_out_;
    return;
  }
  has_copy_ = has_copy_ || !sample.histograms.empty();
  queue_.push_back({std::move(sample), std::nullopt, clock_.Now(), clock_.WallNow()});
  changed_.notify_all();
}

void Recorder::End(int64_t step, summary::Summary summary) {
  std::lock_guard lock(mutex_);
  queue_.push_back({Sample{.step = step}, std::move(summary), clock_.Now(), clock_.WallNow()});
  changed_.notify_all();
}

void Recorder::Run() {
  Restore();
  for (;;) {
    Waiting next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      next = std::move(queue_.front());
      queue_.pop_front();
    }
    Take(next);
    if (next.sample.histograms.empty()) continue;
    next.sample.histograms = {};
    std::lock_guard lock(mutex_);
    has_copy_ = false;
  }
}

void Recorder::Restore() {
  if (options_.dir.empty()) return;
  WarnOfOtherJobs();
  const auto add = [this](const summary::Event& event) {
    if (event.session_log().status() == summary::SessionLog::START) {
      series_.DropFrom(event.step());
    }
    for (const summary::Summary::Value& value : event.summary().value()) {
      // What an end says besides is no curve.
      const bool is_point = value.value_case() == summary::Summary::Value::kSimpleValue &&
                            value.tag().find("eval/") != 0;
      if (!is_point) continue;
      series_.Add(value.tag(), {event.step(), event.wall_time(), value.simple_value()});
    }
  };
  const absl::Status status =
      ReadEvents(files_, options_.dir, kNumbersBytesMax, add, options_.job);
  if (!status.ok()) {
    Log(LogLevel::kWarning, "what was recorded before this start cannot be read",
        {{"dir", options_.dir}, {"why", std::string(status.message())}});
  }
}

void Recorder::WarnOfOtherJobs() const {
  std::string others;
  for (const std::string& job : OtherJobsIn(files_, options_.dir, options_.job)) {
    others += (others.empty() ? "" : ", ") + job;
  }
  if (others.empty()) return;
  Log(LogLevel::kWarning,
      "there are event files of another job here, which TensorBoard shows as one run with those of "
      "this one; give each a summaries.dir of its own",
      {{"dir", options_.dir}, {"made by", others}});
}

void Recorder::Take(const Waiting& waiting) {
  if (waiting.end) return WriteEnd(waiting);
  const bool went_back = last_step_ < 0 || waiting.sample.step <= last_step_;
  if (went_back) {
    series_.DropFrom(waiting.sample.step);
    last_step_ = -1;
  }
  summary::Summary numbers = Numbers(waiting);
  last_step_ = waiting.sample.step;
  last_time_ = waiting.time;
  const double wall = std::chrono::duration<double>(waiting.wall.time_since_epoch()).count();
  for (const summary::Summary::Value& value : numbers.value()) {
    series_.Add(value.tag(), {waiting.sample.step, wall, value.simple_value()});
  }
  if (!options_.dir.empty()) WriteEvents(waiting, std::move(numbers), went_back);
}

summary::Summary Recorder::Numbers(const Waiting& waiting) {
  summary::Summary numbers;
  const auto add = [&](const char* tag, std::optional<double> value) {
    if (!value || !std::isfinite(*value)) return;
    summary::Summary::Value* const entry = numbers.add_value();
    entry->set_tag(tag);
    entry->set_simple_value(static_cast<float>(*value));
  };
  const Sample& sample = waiting.sample;
  add(kLoss, sample.loss);
  add(kAccuracy, sample.accuracy);
  add(kPerplexity, sample.perplexity);
  add(kLearningRate, sample.learning_rate);
  const double seconds = Seconds(waiting.time - last_time_);
  if (options_.examples_per_step > 0 && last_step_ >= 0 && seconds > 0) {
    const double rate = static_cast<double>(sample.step - last_step_) / seconds;
    const int64_t examples = sample.examples_per_step.value_or(options_.examples_per_step);
    add(kExamplesPerSecond, rate * static_cast<double>(examples));
    add(kStepsPerSecond, rate);
  }
  return numbers;
}

void Recorder::WriteEnd(const Waiting& waiting) {
  if (options_.dir.empty()) return;
  absl::Status status = writer_ == nullptr ? OpenWriter(waiting.wall) : absl::OkStatus();
  if (status.ok()) status = writer_->Write(waiting.wall, waiting.sample.step, *waiting.end);
  if (status.ok()) return;
  Log(LogLevel::kError, "the end of the training cannot be written to the event file",
      {{"why", std::string(status.message())}});
}

void Recorder::WriteEvents(const Waiting& waiting, summary::Summary numbers, bool went_back) {
  if (open_again_at_ && waiting.time < *open_again_at_) return;
  const bool was_in_trouble = open_again_at_.has_value();
  const absl::Status status = TryWrite(waiting, std::move(numbers), went_back);
  if (status.ok()) {
    open_again_at_.reset();
    return;
  }
  writer_.reset();
  open_again_at_ = waiting.time + kDiskRetry;
  if (was_in_trouble) return;
  Log(LogLevel::kError, "event files cannot be written; training goes on without them",
      {{"why", std::string(status.message())}});
}

absl::Status Recorder::OpenWriter(Clock::WallTime wall) {
  ASSIGN_OR_RETURN(writer_, EventWriter::Open(files_, clock_, options_.dir, options_.job));
  for (const summary::Event& event : options_.head) RETURN_IF_ERROR(writer_->Add(wall, event));
  return absl::OkStatus();
}

absl::Status Recorder::TryWrite(const Waiting& waiting, summary::Summary numbers, bool went_back) {
  const Sample& sample = waiting.sample;
  if (writer_ == nullptr) {
    RETURN_IF_ERROR(OpenWriter(waiting.wall));
    went_back = true;
  }
  if (went_back) {
    RETURN_IF_ERROR(writer_->Start(waiting.wall, sample.step));
  }
  RETURN_IF_ERROR(writer_->Write(waiting.wall, sample.step, std::move(numbers)));
  if (sample.histograms.empty()) return absl::OkStatus();
  summary::Summary histograms;
  for (const Sample::Tensor& tensor : sample.histograms) {
    Histogram histogram;
    histogram.Add(tensor.values);
    summary::Summary::Value* const entry = histograms.add_value();
    entry->set_tag(tensor.tag);
    *entry->mutable_histo() = histogram.ToProto();
  }
  return writer_->Write(waiting.wall, sample.step, std::move(histograms));
}

}  // namespace taas
