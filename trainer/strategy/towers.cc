#include "trainer/strategy/towers.h"

#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/runtime.h"
#include "trainer/optimizer/update_ops.h"

namespace taas {

absl::StatusOr<std::unique_ptr<Towers>> Towers::Compile(const Runtime& runtime, const Graph& graph,
                                                        const SessionOptions& options, int count) {
  CHECK(count >= 1) << count << " towers";
  const Runtime placed_on = runtime.Virtual(static_cast<size_t>(count));
  const std::string type(runtime.type());
  std::vector<std::unique_ptr<Session>> sessions;
  for (int tower = 0; tower < count; ++tower) {
    SessionOptions placed = options;
    placed.updates = tower == 0;
    placed.device = "/device:" + type + ":" + std::to_string(tower);
    if (count > 1) placed.trace_name = "tower " + std::to_string(tower);
    ASSIGN_OR_RETURN(auto session, Session::Compile(placed_on, graph, placed));
    for (size_t i = 0; i < session->variables().size() && tower > 0; ++i) {
      RETURN_IF_ERROR(session->UseVariable(i, sessions[0]->variable(i)));
    }
    sessions.push_back(std::move(session));
  }
  std::unique_ptr<Towers> towers(new Towers(std::move(sessions)));
  RETURN_IF_ERROR(towers->MakeMeans());
  return towers;
}

Towers::Towers(std::vector<std::unique_ptr<Session>> sessions)
    : sessions_(std::move(sessions)),
      results_(sessions_.size()),
      rows_(first().variables().size()) {
  for (int tower = 1; tower < count(); ++tower) {
    threads_.emplace_back([this, tower] { Serve(tower); });
  }
}

Towers::~Towers() {
  closing_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status Towers::Run(const Fill& fill) {
  fill_ = &fill;
  running_ = count() - 1;
  ++round_;
  round_.notify_all();
  RunTower(0);
  for (int left = running_; left > 0; left = running_) running_.wait(left);
  for (const absl::Status& result : results_) RETURN_IF_ERROR(result);
  return AverageGradients();
}

void Towers::RunTower(int tower) {
  absl::Status& result = results_[static_cast<size_t>(tower)];
  result = (*fill_)(tower, session(tower));
  if (result.ok()) result = session(tower).Run(RunKind::kTrain);
}

void Towers::Serve(int tower) {
  for (int64_t seen = 0;;) {
    round_.wait(seen);
    // No round is missed: the next begins only when all have ended this one.
    seen = round_;
    if (closing_) return;
    RunTower(tower);
    if (--running_ == 0) running_.notify_all();
  }
}

absl::Status Towers::MakeMeans() {
  if (count() == 1) return absl::OkStatus();
  means_.resize(first().variables().size());
  for (size_t i = 0; i < means_.size(); ++i) {
    if (first().gradient(i).empty()) continue;
    const std::vector<TensorType> types(sessions_.size(),
                                        {DType::kFloat32, first().variables()[i].shape});
    ASSIGN_OR_RETURN(means_[i], MakeKernel(first().runtime(), kMeanGradients,
                                           {.attributes = {},
                                            .inputs = types,
                                            .outputs = std::span(types).first(1)}));
  }
  inputs_.resize(sessions_.size() + 2);
  stream_ = first().model().device().MakeStream();
  return absl::OkStatus();
}

absl::Status Towers::AverageGradients() {
  for (size_t i = 0; i < means_.size(); ++i) {
    if (!means_[i].run) continue;
    for (size_t tower = 0; tower < sessions_.size(); ++tower) {
      inputs_[tower] = sessions_[tower]->gradient(i).data();
    }
    if (first().gradient_rows(i)) {
      UniteRowsOf(i);
      RETURN_IF_ERROR(first().SetGradientRows(i, rows_[i]));
    }
    const Session::DeviceRows rows = first().device_rows(i);
    inputs_[sessions_.size()] = rows.ids;
    inputs_[sessions_.size() + 1] = rows.count;
    void* const mean = first().gradient(i).data();
    RETURN_IF_ERROR(stream_->Launch(means_[i], {.inputs = inputs_,
                                                .outputs = {&mean, 1},
                                                .block = first().device_block(),
                                                .stream = stream_.get()}));
    RETURN_IF_ERROR(stream_->Synchronize());
  }
  return absl::OkStatus();
}

void Towers::UniteRowsOf(size_t i) {
  lists_.clear();
  for (const auto& session : sessions_) lists_.push_back(session->gradient_rows(i)->ids);
  UniteRows(lists_, &rows_[i]);
}

float Towers::loss() const {
  float sum = 0;
  for (const auto& session : sessions_) sum += session->loss();
  return sum / static_cast<float>(sessions_.size());
}

}  // namespace taas
