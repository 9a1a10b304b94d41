#include "trainer/task/gradient_work.h"

#include "operator/base/status.h"
#include "trainer/optimizer/update_ops.h"

namespace taas {

absl::StatusOr<std::unique_ptr<GradientWork>> GradientWork::Make(Session& session,
                                                                 const GradientClip& clip,
                                                                 double loss_scale) {
  std::unique_ptr<GradientWork> work(new GradientWork(session));
  if (loss_scale == 1 && !clip.clips()) return work;
  std::vector<TensorType> types;
  for (size_t i = 0; i < session.variables().size(); ++i) {
    if (session.gradient(i).empty()) continue;
    work->variables_.push_back(i);
    types.push_back({DType::kFloat32, session.variables()[i].shape});
  }
  const Attributes attributes{{"loss_scale", loss_scale},
                              {"clip", clip.clips() ? (clip.by_norm() ? "norm" : "value") : ""},
                              {"clip_limit", double{clip.limit()}}};
  ASSIGN_OR_RETURN(work->kernel_, MakeKernel(session.runtime(), kFinishGradients,
                                            {.attributes = attributes,
                                             .inputs = types,
                                             .outputs = types,
                                             .threads = session.threads()}));
  work->inputs_.resize(3 * types.size());
  work->outputs_.resize(types.size());
  work->stream_ = session.model().device().MakeStream();
  return work;
}

GradientWork::~GradientWork() { session_.Remove(*this); }

absl::Status GradientWork::Launch(Stream& stream) {
  for (size_t at = 0; at < variables_.size(); ++at) {
    const size_t i = variables_[at];
    const Session::DeviceRows rows = session_.device_rows(i);
    inputs_[3 * at] = outputs_[at] = session_.gradient(i).data();
    inputs_[3 * at + 1] = rows.ids;
    inputs_[3 * at + 2] = rows.count;
  }
  return kernel_.Launch(stream, {.inputs = inputs_,
                                 .outputs = outputs_,
                                 .threads = session_.threads(),
                                 .block = session_.device_block(),
                                 .index = Fault::kAfterGraph});
}

absl::Status GradientWork::Run() {
  if (!works()) return absl::OkStatus();
  return Await(*stream_, Launch(*stream_));
}

}  // namespace taas
