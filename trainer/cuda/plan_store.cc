#include "trainer/cuda/plan_store.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/bounded_file.h"
#include "operator/base/crc32c.h"
#include "operator/base/hash.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::cuda {
namespace {

// Of this program, and of this order of lines.
constexpr char kMagic[] = "taas-gpu-plan 1";

// All in front of the plan.
std::string HeadOf(const std::string& key, std::string_view plan) {
  return std::string(kMagic) + "\n" + key + "\n" + std::to_string(Crc32c(plan)) + " " +
         std::to_string(plan.size()) + "\n";
}

// The plan in the text of a file.
absl::StatusOr<std::string> PlanIn(std::string_view text, const std::string& key) {
  const std::string magic = std::string(kMagic) + "\n";
  if (!text.starts_with(magic)) return absl::DataLossError("it is no plan of this program");
  if (!text.substr(magic.size()).starts_with(key + "\n")) {
    return absl::DataLossError("it is a plan of something else");
  }
  const size_t counts = magic.size() + key.size() + 1;
  const size_t end = text.find('\n', counts);
  if (end == std::string_view::npos) return absl::DataLossError("it is cut off");
  const std::string_view plan = text.substr(end + 1);
  if (text.substr(0, end + 1) != HeadOf(key, plan)) return absl::DataLossError("it is damaged");
  return std::string(plan);
}

}  // namespace

std::string PlanStore::PathOf(const std::string& key) const {
  return folder_ + "/" + HexOf(StableHash(key)) + ".plan";
}

std::optional<std::string> PlanStore::Read(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = PathOf(key);
  const auto read = [&]() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(const std::string text, ReadBounded(files_, path, kFileBytesMax));
    return PlanIn(text, key);
  };
  absl::StatusOr<std::string> plan = read();
  if (plan.ok()) return *std::move(plan);
  if (!absl::IsNotFound(plan.status())) {
    Log(LogLevel::kWarning, "a plan that was kept is not used; it is made anew",
        {{"file", path}, {"why", std::string(plan.status().message())}});
  }
  return std::nullopt;
}

void PlanStore::Write(const std::string& key, std::string_view plan) const {
  if (folder_.empty() || plan.empty()) return;
  const std::string path = PathOf(key);
  const auto write = [&]() -> absl::Status {
    const std::string text = HeadOf(key, plan) + std::string(plan);
    if (text.size() > kFileBytesMax) return TooLong(path, kFileBytesMax);
    RETURN_IF_ERROR(files_.MakeDirs(folder_));
    return files_.WriteAtomically(path, text);
  };
  if (const absl::Status written = write(); !written.ok()) {
    Log(LogLevel::kWarning, "a plan cannot be kept; the next process makes it anew",
        {{"file", path}, {"why", std::string(written.message())}});
  }
}

}  // namespace taas::cuda
