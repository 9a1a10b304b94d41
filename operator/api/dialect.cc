#include "operator/api/dialect.h"

namespace taas {
namespace {

constexpr Dialect kTrainingJobDialect{.kind = JobKind::kTrainingJob,
                                      .group_version = "taas.dev/v1",
                                      .kind_name = "TrainingJob",
                                      .plural = "trainingjobs",
                                      .container = "trainer",
                                      .port_name = "taas"};

constexpr Dialect kTfJobDialect{.kind = JobKind::kTfJob,
                                .group_version = "kubeflow.org/v1",
                                .kind_name = "TFJob",
                                .plural = "tfjobs",
                                .container = "tensorflow",
                                .port_name = "tfjob-port",
                                .status_port = false,
                                .tf_config_of_one = false,
                                .service_per_replica = true};

std::string_view KeyOf(Role role) {
  switch (role) {
    case Role::kChief: return "Chief";
    case Role::kPs: return "PS";
    case Role::kWorker: return "Worker";
    case Role::kEvaluator: return "Evaluator";
  }
  return "unknown";
}

}  // namespace

const Dialect& DialectOf(JobKind kind) {
  return kind == JobKind::kTfJob ? kTfJobDialect : kTrainingJobDialect;
}

std::string_view RoleNameIn(const Job& job, Role role) {
  return role == Role::kChief && job.spec.chief_is_master ? "master" : RoleName(role);
}

std::string_view RoleKeyIn(const Job& job, Role role) {
  if (job.kind == JobKind::kTrainingJob) return RoleName(role);
  return role == Role::kChief && job.spec.chief_is_master ? "Master" : KeyOf(role);
}

std::string PodName(const Job& job, Role role, int32_t index) {
  return job.meta.name + "-" + std::string(RoleNameIn(job, role)) + "-" + std::to_string(index);
}

std::map<std::string, std::string> ForeignLabels(const Job& job, Role role, int32_t index,
                                                 bool legacy) {
  if (job.kind != JobKind::kTfJob) return {};
  const std::string type(RoleNameIn(job, role));
  const std::string number = std::to_string(index);
  const bool has_chief = job.spec.roles.count(Role::kChief) != 0;
  const bool master =
      role == Role::kChief || (role == Role::kWorker && index == 0 && !has_chief);
  std::map<std::string, std::string> labels = {
      {"training.kubeflow.org/operator-name", "tfjob-controller"},
      {"training.kubeflow.org/job-name", job.meta.name},
      {"training.kubeflow.org/replica-type", type},
      {"training.kubeflow.org/replica-index", number},
  };
  if (master) labels["training.kubeflow.org/job-role"] = "master";
  if (legacy) {
    labels.insert({{"group-name", "kubeflow.org"},
                   {"job-name", job.meta.name},
                   {"tf-job-name", job.meta.name},
                   {"controller-name", "tf-operator"},
                   {"replica-type", type},
                   {"tf-replica-type", type},
                   {"replica-index", number},
                   {"tf-replica-index", number}});
    if (master) labels["job-role"] = "master";
  }
  return labels;
}

}  // namespace taas
