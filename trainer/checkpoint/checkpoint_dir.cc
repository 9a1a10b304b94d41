#include "trainer/checkpoint/checkpoint_dir.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/checkpoint/checkpoint_list.h"
#include "trainer/checkpoint/owner_record.h"

namespace taas {
namespace {

constexpr char kName[] = "model.ckpt-";
constexpr char kTemporaryPrefix[] = ".tmp-";
constexpr char kOwnerFile[] = ".owner";
constexpr char kStateFile[] = "checkpoint";
// Of lines in it.
constexpr char kPathKey[] = "all_model_checkpoint_paths: ";
constexpr char kTimeKey[] = "all_model_checkpoint_timestamps: ";
// The year 9999: what RFC 3339 can say.
constexpr double kSecondsMax = 253'402'300'799;

// The parts of a name that may hold anything become part of a file name.
std::string Sanitized(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  }
  return text;
}

std::string TemporaryName(const CheckpointOwner& owner) {
  return kTemporaryPrefix + Sanitized(owner.uid) + "-" + std::to_string(owner.attempt) + "-" +
         std::to_string(owner.pod) + "-" + Sanitized(owner.start);
}

// As TensorFlow has it: since 1970.
std::string SecondsText(Clock::WallTime time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f",
                std::chrono::duration<double>(time.time_since_epoch()).count());
  return text;
}

bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status);
}

}  // namespace

CheckpointDir::CheckpointDir(FileSystem& files, const Clock& clock, Options options)
    : files_(files),
      clock_(clock),
      options_(std::move(options)),
      temporary_(TemporaryName(options_.owner)) {}

absl::StatusOr<std::unique_ptr<CheckpointDir>> CheckpointDir::Open(FileSystem& files,
                                                                   const Clock& clock,
                                                                   Options options) {
  CHECK(options.keep >= 1) << "a checkpoint directory keeps at least the newest";
  std::unique_ptr<CheckpointDir> dir(new CheckpointDir(files, clock, std::move(options)));
  const std::string what = "use checkpoint directory " + dir->options_.dir;
  RETURN_IF_ERROR(files.MakeDirs(dir->options_.dir)).With(what);
  RETURN_IF_ERROR(dir->Claim()).With(what);
  RETURN_IF_ERROR(dir->RemoveStaleTemporaries()).With(what);
  dir->ReadTimes();
  return dir;
}

absl::Status CheckpointDir::Claim() {
  const absl::StatusOr<std::string> text = files_.ReadAll(Path(kOwnerFile));
  if (text.ok()) {
    const absl::StatusOr<OwnerRecord> there = ParseOwnerRecord(*text);
    if (there.ok()) {
      RETURN_IF_ERROR(MayClaim(*there, options_.owner, clock_.WallNow(), kOwnerLease));
      if (there->owner.job != options_.owner.job) before_ = DescribeOwner(there->owner);
    } else {
      Log(LogLevel::kWarning, "an owner record is unreadable; it is replaced",
          {{"path", Path(kOwnerFile)}, {"error", std::string(there.status().message())}});
    }
  } else if (!absl::IsNotFound(text.status())) {
    return text.status();
  }
  return WriteOwner(false);
}

absl::Status CheckpointDir::CheckStillOwner() {
  const absl::StatusOr<std::string> text = files_.ReadAll(Path(kOwnerFile));
  if (absl::IsNotFound(text.status())) {  // Somebody emptied the directory.
    const absl::Status claimed = Claim();
    // Another job was faster. This process has written there, so it waits for nobody.
    return absl::IsAborted(claimed) ? absl::FailedPreconditionError(claimed.message()) : claimed;
  }
  if (!text.ok()) return text.status();
  ASSIGN_OR_RETURN(const OwnerRecord there, ParseOwnerRecord(*text));
  if (SameProcess(there.owner, options_.owner)) return absl::OkStatus();
  return absl::FailedPreconditionError("the directory was taken over by " +
                                       DescribeOwner(there.owner) +
                                       "; this process may not write there any more");
}

absl::Status CheckpointDir::WriteOwner(bool released) {
  renewed_ = clock_.Now();
  return files_.WriteAtomically(
      Path(kOwnerFile), EncodeOwnerRecord({options_.owner, clock_.WallNow(), released}));
}

absl::Status CheckpointDir::Renew() {
  RETURN_IF_ERROR(CheckStillOwner()).With("renew checkpoint directory " + options_.dir);
  return WriteOwner(false);
}

absl::Status CheckpointDir::Release() {
  RETURN_IF_ERROR(CheckStillOwner()).With("release checkpoint directory " + options_.dir);
  return WriteOwner(true);
}

std::string CheckpointDir::Prefix(int64_t step) const {
  return CheckpointPrefix(options_.dir, step);
}

absl::Status CheckpointDir::Save(int64_t step, const std::vector<TensorView>& tensors) {
  const std::string what = "checkpoint " + Prefix(step);
  RETURN_IF_ERROR(CheckStillOwner()).With(what);
  RETURN_IF_ERROR(Publish(step, tensors)).With(what);
  damaged_.erase(step);
  saved_at_.try_emplace(step, clock_.WallNow());
  RETURN_IF_ERROR(WriteOwner(false)).With(what);

  ASSIGN_OR_RETURN(std::vector<int64_t> steps, ListCheckpoints(files_, options_.dir));
  std::vector<int64_t> dropped;
  // A damaged one takes no good one's place. It stays for a look until training is past it.
  for (const int64_t damaged : damaged_) {
    if (std::erase(steps, damaged) != 0 && damaged < step) dropped.push_back(damaged);
  }
  const size_t spoilt = dropped.size();
  for (const int64_t old : steps) {
    const size_t left = steps.size() - (dropped.size() - spoilt);
    if (left > static_cast<size_t>(options_.keep) && old != step) dropped.push_back(old);
  }
  std::erase_if(steps, [&](int64_t s) { return std::ranges::count(dropped, s) != 0; });
  // TensorFlow's view first: a listed checkpoint must be there.
  RETURN_IF_ERROR(WriteState(step, steps)).With(what);
  for (const int64_t old : dropped) RETURN_IF_ERROR(RemoveStep(old)).With(what);
  return absl::OkStatus();
}

absl::Status CheckpointDir::Publish(int64_t step, const std::vector<TensorView>& tensors) {
  ASSIGN_OR_RETURN(const bool exists, files_.Exists(BundleIndexPath(Prefix(step))));
  if (exists) {
    // Renaming over it would pair a new data file with an old index for a moment.
    if (IsGood(step)) return absl::OkStatus();
    saved_at_.erase(step);
    RETURN_IF_ERROR(RemoveStep(step));
  }
  const std::string temporary_dir = Path(temporary_);
  RETURN_IF_ERROR(files_.RemoveAll(temporary_dir));
  RETURN_IF_ERROR(files_.MakeDirs(temporary_dir));
  const std::string source = temporary_dir + "/" + kName + std::to_string(step);
  const std::vector<int> plan = PlanShards(tensors, options_.shard_bytes);
  const int shards = plan.empty() ? 1 : plan.back() + 1;
  // A model that takes longer to write than the lease is no sign of death.
  const auto renew = [this] {
    return clock_.Now() - renewed_ < kRenewEvery ? absl::OkStatus() : Renew();
  };
  const auto go_on = [&](WritableFile& file) -> absl::Status {
    if (options_.pace == nullptr) return renew();
    // Else all of the file would come to the disk at its end, in one go.
    if (options_.pace->limited()) {
      RETURN_IF_ERROR(file.Sync());
    }
    options_.pace->Pause();
    return renew();
  };
  ASSIGN_OR_RETURN(auto writer,
                   BundleWriter::Open(files_, source, {.shards = shards, .after_piece = go_on}));
  for (size_t i = 0; i < tensors.size(); ++i) {
    RETURN_IF_ERROR(writer->Add(tensors[i], plan[i]));
    RETURN_IF_ERROR(renew());
  }
  RETURN_IF_ERROR(writer->Finish());

  // The write may have taken long: look again before the result becomes visible.
  RETURN_IF_ERROR(CheckStillOwner());
  for (int i = 0; i < shards; ++i) {
    RETURN_IF_ERROR(files_.Rename(BundleDataPath(source, i, shards),
                                  BundleDataPath(Prefix(step), i, shards)));
  }
  // After a power cut there must be no index without its data.
  RETURN_IF_ERROR(files_.SyncDir(options_.dir));
  RETURN_IF_ERROR(files_.Rename(BundleIndexPath(source), BundleIndexPath(Prefix(step))));
  RETURN_IF_ERROR(files_.SyncDir(options_.dir));
  return files_.RemoveAll(temporary_dir);
}

absl::Status CheckpointDir::WriteState(int64_t newest, const std::vector<int64_t>& steps) {
  std::string text = "model_checkpoint_path: \"" + (kName + std::to_string(newest)) + "\"\n";
  for (const int64_t step : steps) {
    text += kPathKey + ("\"" + (kName + std::to_string(step))) + "\"\n";
  }
  std::erase_if(saved_at_, [&](const auto& entry) {
    return std::ranges::count(steps, entry.first) == 0;
  });
  // TensorFlow wants all of them or none.
  if (saved_at_.size() == steps.size()) {
    for (const int64_t step : steps) text += kTimeKey + SecondsText(saved_at_[step]) + "\n";
  }
  return files_.WriteAtomically(Path(kStateFile), text);
}

// Of checkpoints that an earlier process saved. Nothing depends on them: what cannot be read is not
// known.
void CheckpointDir::ReadTimes() {
  const absl::StatusOr<std::string> text = files_.ReadAll(Path(kStateFile));
  if (!text.ok()) return;
  std::vector<int64_t> steps;
  std::vector<double> times;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = std::string(kPathKey) + "\"";
    if (line.rfind(name, 0) == 0) {
      std::string file = line.substr(name.size());
      if (file.ends_with('"')) file.back() = '.';
      steps.push_back(StepOfCheckpointFile(file + "index"));
    } else if (line.rfind(kTimeKey, 0) == 0) {
      times.push_back(std::strtod(line.c_str() + sizeof kTimeKey - 1, nullptr));
    }
  }
  if (steps.size() != times.size()) return;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!(times[i] > 0 && times[i] < kSecondsMax) || steps[i] < 0) continue;
    saved_at_[steps[i]] = Clock::WallTime(std::chrono::microseconds(std::llround(times[i] * 1e6)));
  }
}

absl::StatusOr<std::vector<CheckpointDir::Listed>> CheckpointDir::List() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(options_.dir));
  std::vector<int64_t> steps = CheckpointsAmong(names);
  std::erase_if(steps, [this](int64_t step) { return damaged_.count(step) > 0; });
  std::ranges::reverse(steps);
  if (steps.size() > kListedMax) steps.resize(kListedMax);
  std::vector<Listed> out;
  for (const int64_t step : steps) {
    Listed listed{.step = step, .saved_at = {}};
    for (const std::string& name : names) {
      if (StepOfCheckpointFile(name) != step) continue;
      ASSIGN_OR_RETURN(const auto file, files_.OpenRead(Path(name)));
      ASSIGN_OR_RETURN(const uint64_t bytes, file->Size());
      listed.bytes += static_cast<int64_t>(bytes);
    }
    if (const auto at = saved_at_.find(step); at != saved_at_.end()) listed.saved_at = at->second;
    out.push_back(listed);
  }
  return out;
}

absl::Status CheckpointDir::RemoveStep(int64_t step) {
  // Without its index the rest is no checkpoint any more, so a crash in between does no harm.
  RETURN_IF_ERROR(files_.Remove(BundleIndexPath(Prefix(step))));
  RETURN_IF_ERROR(files_.SyncDir(options_.dir));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(options_.dir));
  for (const std::string& name : names) {
    if (StepOfCheckpointFile(name) != step) continue;
    RETURN_IF_ERROR(files_.Remove(Path(name)));
  }
  return absl::OkStatus();
}

absl::Status CheckpointDir::RemoveStaleTemporaries() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(options_.dir));
  std::set<int64_t> complete;
  for (const std::string& name : names) {
    if (IsCheckpointIndex(name)) complete.insert(StepOfCheckpointFile(name));
  }
  for (const std::string& name : names) {
    // Whoever began these lost the directory to this process, or died between two renames.
    const bool temporary = name.rfind(kTemporaryPrefix, 0) == 0;
    const bool orphan =
        StepOfCheckpointFile(name) >= 0 && complete.count(StepOfCheckpointFile(name)) == 0;
    if (temporary) {
      RETURN_IF_ERROR(files_.RemoveAll(Path(name)));
    } else if (orphan) {
      RETURN_IF_ERROR(files_.Remove(Path(name)));
    }
  }
  return absl::OkStatus();
}

// Who lays a model of others there may think that the training begins from it.
void CheckpointDir::TellOfOtherModels() {
  const auto names = files_.List(options_.dir);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!name.ends_with(".safetensors")) continue;
    Log(LogLevel::kWarning,
        "a training begins from checkpoints of its own (model.ckpt-STEP), not from such a file: it "
        "begins at step 0",
        {{"path", Path(name)}});
  }
}

bool CheckpointDir::IsGood(int64_t step) {
  const auto reader = BundleReader::Open(files_, Prefix(step));
  return reader.ok() && (*reader)->VerifyAll().ok();
}

absl::StatusOr<std::optional<CheckpointDir::Checkpoint>> CheckpointDir::Latest() {
  ASSIGN_OR_RETURN(std::vector<int64_t> steps, ListCheckpoints(files_, options_.dir));
  absl::Status newest_damage;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    auto reader = BundleReader::Open(files_, Prefix(*step));
    const absl::Status status = reader.ok() ? (*reader)->VerifyAll() : reader.status();
    if (status.ok()) {
      if (!before_.empty()) {
        Log(LogLevel::kWarning,
            "the checkpoints here are another job's: this one goes on from them; another directory "
            "lets it begin anew",
            {{"checkpoint", Prefix(*step)}, {"made by", before_}});
      }
      return std::optional<Checkpoint>(Checkpoint{*step, Prefix(*step), *std::move(reader)});
    }
    // Only damage justifies going back; a disk that does not answer may do so later.
    if (!IsDamage(status)) return status;
    Log(LogLevel::kWarning, "a checkpoint is damaged; the one before it is tried",
        {{"checkpoint", Prefix(*step)}, {"error", std::string(status.message())}});
    if (newest_damage.ok()) newest_damage = status;
    damaged_.insert(*step);
  }
  if (steps.empty()) {
    TellOfOtherModels();
    return std::optional<Checkpoint>();
  }
  return absl::DataLossError("none of the " + std::to_string(steps.size()) + " checkpoints in " +
                             options_.dir + " is undamaged (" +
                             std::string(newest_damage.message()) +
                             "); remove them to begin again at step 0");
}

}  // namespace taas
