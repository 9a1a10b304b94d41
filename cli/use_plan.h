// What a trained model is used for from the command line, and the pod in which that is done.
//
// A verb of `taas` here is one of taas-trainer, run in a pod beside the job (use_pod.h), since only
// a pod sees the volumes with the checkpoints. To add one: its entry in UseVerbs, and its flags.
//
// Ownership: values; the verbs are constants. Threads: any. Errors: FailedPrecondition and
// InvalidArgument say why a job's model cannot be used so, and what to do.
//
//   RETURN_IF_ERROR(CheckUse(verb, job));
//   ASSIGN_OR_RETURN(const UsePlan plan, PlanUse(verb, job, flags, facts));

#ifndef CLI_USE_PLAN_H_
#define CLI_USE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/seen_job.h"
#include "operator/base/command_line.h"

namespace taas {

// What a ConfigMap takes, by Kubernetes' rules, of all its values.
inline constexpr size_t kUseInputBytesMax = 1 << 20;

struct UseFlags {
  std::string checkpoint;  // Empty: the job's directory.
  std::string image;       // Empty: the job's.
  std::string output;
  std::string input;       // A file here, "-", or nothing.
  std::string input_path;  // A path in the pod.
  std::string labels_path;  // Another, of eval.
  std::string format;
  std::string to;
  bool bfloat16 = false;
  // Of generate; what is not given is taas-trainer's to choose.
  std::string prompt;
  std::optional<int64_t> length, top_k, seed, count;
  std::optional<double> temperature;
};

struct UseVerb {
  const char* name;  // Of taas and of taas-trainer.
  const char* about;
  void (*add_flags)(Command& verb, UseFlags* flags);
  // Behind the verb and --checkpoint. `input`: where in the pod the examples are; empty: nowhere.
  std::vector<std::string> (*arguments)(const UseFlags& flags, const std::string& input);
  // Which flag must be given and is not; "" where none is. Null: none is needed.
  std::string (*missing)(const UseFlags& flags) = nullptr;
};
std::span<const UseVerb> UseVerbs();

// Examples that come from this machine.
struct UseInput {
  std::string name;  // Of the file that they are in: a key of a ConfigMap.
  std::string bytes;
};
// `path`: as the user wrote it. InvalidArgument: more than a ConfigMap takes.
absl::StatusOr<UseInput> InputOf(const std::string& path, std::string bytes);

// Whether the job is one whose model can be used at all.
absl::Status CheckUse(const UseVerb& verb, const SeenJob& job);

// True where the job says neither itself nor in its template which image its pods have.
bool LacksImage(const Job& job);

struct UseFacts {
  std::string suffix;  // Of names: what nobody else has.
  std::string image;   // For a job that lacks one.
  std::optional<UseInput> input;
  int64_t deadline_seconds = 3600;
  bool local = false;  // Pods are processes of this machine.
};

struct UsePlan {
  std::string ns;
  std::string name;       // Of the pod, and of the ConfigMap if there is one.
  std::string container;  // Whose log and exit code are the command's.
  std::string pod;        // JSON.
  std::string config_map;  // JSON; empty: none is needed.
};
absl::StatusOr<UsePlan> PlanUse(const UseVerb& verb, const Job& job, const UseFlags& flags,
                                const UseFacts& facts);

}  // namespace taas

#endif  // CLI_USE_PLAN_H_
