#include "operator/plan/role_pod.h"

#include <algorithm>
#include <utility>

#include "operator/api/dialect.h"

namespace taas {
namespace {

bool MountedIn(const VolumeSpec& volume, Role role) {
  return volume.roles.empty() ||
         std::find(volume.roles.begin(), volume.roles.end(), role) != volume.roles.end();
}

}  // namespace

PodSpec RolePod(const Job& job, Role role, std::string name, const PodDefaults& defaults) {
  PodSpec pod{OwnedBy(job, std::move(name))};
  pod.user = job.spec.roles.at(role);
  pod.bundled_trainer = job.spec.bundled_trainer;
  pod.container = DialectOf(job.kind).container;
  pod.image = job.spec.trainer.image;
  if (pod.image.empty()) {
    pod.image = defaults.image;
    pod.cuda_image = defaults.cuda_image;
  }
  for (const VolumeSpec& volume : job.spec.volumes) {
    if (MountedIn(volume, role)) pod.volumes.push_back(volume);
  }
  pod.gpu_resource = defaults.gpu_resource;
  // TFJobs have always seen what their node shows them.
  pod.hide_gpus = job.kind == JobKind::kTrainingJob;
  pod.priority_class = job.spec.scheduling.priority_class;
  pod.node_loss_seconds = job.spec.node_loss_seconds;
  pod.role = role;
  return pod;
}

}  // namespace taas
