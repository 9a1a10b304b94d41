#include "operator/plan/idle_gpus.h"

#include "operator/plan/pod_template.h"
#include "operator/plan/replicas.h"
#include "operator/plan/tf_config.h"

namespace taas {
namespace {

bool Names(const std::string& env) { return env.find(kGpusVariable) != std::string::npos; }

// Its container asks for GPUs of NVIDIA and gets the trainer's image without them.
bool HoldsInVain(Role role, const RoleSpec& spec) {
  // A parameter server adds on its processors with any image.
  if (role == Role::kPs || spec.GpusHeld() <= 0) return false;
  if (Names(spec.env) || Names(spec.pod_template)) return false;
  return TemplateImage(spec.pod_template, spec.container).empty();
}

}  // namespace

std::string WhyGpusIdle(const Snapshot& snapshot, const Ledger& ledger) {
  const JobSpec& spec = snapshot.job.spec;
  const bool no_image = snapshot.cuda_image.empty() && spec.trainer.image.empty();
  if (!spec.bundled_trainer || !no_image || ledger.outcome.has_value() || ledger.suspended) {
    return "";
  }
  if (snapshot.addresses.scheme == AddressScheme::kLoopback) return "";
  bool any = false;
  for (const auto& [role, role_spec] : spec.roles) any = any || HoldsInVain(role, role_spec);
  if (!any) return "";
  int32_t count = 0;
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    if (!replica.wanted || replica.pod == nullptr || HasStopped(*replica.pod)) continue;
    if (replica.pod->node.empty()) continue;
    if (HoldsInVain(replica.role, spec.roles.at(replica.role))) ++count;
  }
  if (count == 0) return "";
  return std::to_string(count) +
         (count == 1 ? " replica holds GPUs and computes on processors"
                     : " replicas hold GPUs and compute on processors") +
         ": the operator has no image for GPUs (trainer.cudaImage.repository of its chart)";
}

}  // namespace taas
