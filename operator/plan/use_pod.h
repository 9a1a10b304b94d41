// The pod in which a job's trained model is used: `taas-trainer eval` and its like, beside the job.
//
// It is made as the operator makes the pods of the job's chief, or of its workers where there is no
// chief: the same image, volumes, environment, place and rights. What makes a pod a replica is not
// there, so no operator takes it for one: neither its labels, nor a controlling owner, nor
// addresses, ports and the job's token. It asks for no GPUs, since these commands compute on
// processors, but goes where the role's pods may go.
//
// Ownership: values. Threads: any. Errors: InvalidArgument, as of PodJson, for a template that
// cannot be followed.
//
//   ASSIGN_OR_RETURN(const std::string pod, UsePodJson(job, {.name = "mnist-eval-x7k2p", …}));

#ifndef OPERATOR_PLAN_USE_POD_H_
#define OPERATOR_PLAN_USE_POD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/job.h"
#include "third_party/json.h"

namespace taas {

// By these labels such pods, and what is made for them, are found.
inline constexpr std::string_view kUseLabel = "taas.dev/use";       // "eval"
inline constexpr std::string_view kUseOfLabel = "taas.dev/use-of";  // The job's name.

// Where `input_map` is mounted.
inline constexpr std::string_view kUseInputDir = "/taas-input";

struct UsePod {
  std::string name;                    // Of the pod.
  std::string use;                     // "eval": what it is for.
  std::vector<std::string> arguments;  // Of taas-trainer.
  std::string image;      // Of a job that names none, neither itself nor in its template.
  std::string input_map;  // A ConfigMap whose keys are files in kUseInputDir; empty: none.
  int64_t deadline_seconds = 3600;  // From its start; then its node ends it.
};

// Whose pods it is like. The job has a chief or workers.
Role UseRole(const Job& job);

// The name of the container that `arguments` are for, in what UsePodJson made.
std::string UseContainer(const nlohmann::json& pod);

// Of an object that is made for such a use: deleted with the job, if nothing deletes it before.
nlohmann::json UseMetadata(const Job& job, const std::string& name, const std::string& use);

absl::StatusOr<nlohmann::json> UsePodJson(const Job& job, const UsePod& use);

}  // namespace taas

#endif  // OPERATOR_PLAN_USE_POD_H_
