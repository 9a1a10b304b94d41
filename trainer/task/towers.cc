#include "trainer/task/towers.h"

#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/optimizer/update_ops.h"

namespace taas {

absl::StatusOr<std::unique_ptr<Towers>> Towers::Compile(const Runtime& runtime, const Graph& graph,
                                                        const SessionOptions& options, int count) {
  CHECK(count >= 1) << count << " towers";
  const bool apart = count > 1 && runtime.devices.size() > 1;
  if (apart) {
    CHECK(std::ssize(runtime.devices) == count && runtime.collective != nullptr)
        << count << " towers on " << runtime.devices.size() << " devices";
  }
  const Runtime placed_on = apart ? runtime : runtime.Virtual(static_cast<size_t>(count));
  const std::string type(runtime.type());
  std::vector<std::unique_ptr<Session>> sessions;
  for (int tower = 0; tower < count; ++tower) {
    SessionOptions placed = options;
    placed.updates = tower == 0;
    placed.list_rows = options.list_rows && !apart;
    placed.device = "/device:" + type + ":" + std::to_string(tower);
    if (count > 1) placed.trace_name = "tower " + std::to_string(tower);
    ASSIGN_OR_RETURN(auto session, Session::Compile(placed_on, graph, placed));
    for (size_t i = 0; i < session->variables().size() && tower > 0 && !apart; ++i) {
      const TensorRef shared = sessions[0]->variable(i);
      RETURN_IF_ERROR(session->UseVariable(i, shared));
      CHECK(session->variable(i).data() == shared.data()) << "towers of one memory";
    }
    sessions.push_back(std::move(session));
  }
  std::unique_ptr<Towers> towers(new Towers(std::move(sessions)));
  RETURN_IF_ERROR(apart ? towers->MakeMeansApart(*runtime.collective) : towers->MakeMeans());
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
  if (apart()) {
    // All are filled before one runs: it would wait for those that cannot.
    RETURN_IF_ERROR(FillAll(fill));
    return OnEach([&](int tower) {
      collective_->Begin(tower);
      return collective_->End(tower, session(tower).Run(RunKind::kTrain), /*under_way=*/0);
    });
  }
  RETURN_IF_ERROR(OnEach([&](int tower) -> absl::Status {
    RETURN_IF_ERROR(fill(tower, session(tower)));
    return session(tower).Run(RunKind::kTrain);
  }));
  return AverageGradients();
}

absl::Status Towers::FillAll(const Fill& fill) {
  return OnEach([&](int tower) { return fill(tower, session(tower)); });
}

absl::Status Towers::LaunchStep() {
  CHECK(apart() || count() == 1) << "a step of towers that share their variables";
  if (!apart()) return first().LaunchStep();
  for (int tower = 0; tower < count(); ++tower) collective_->Begin(tower);
  return StepOnEach([](Session& session) { return session.LaunchStep(); });
}

absl::Status Towers::AwaitStep() {
  if (!apart()) return first().AwaitStep();
  return StepOnEach([](Session& session) { return session.AwaitStep(); });
}

absl::Status Towers::StepOnEach(absl::FunctionRef<absl::Status(Session& session)> half) {
  // What is under way on a tower that goes on would wait for one that has failed: each has said how
  // it has ended before anybody waits for the rest.
  const auto end = [&](int tower, absl::Status ended) {
    return collective_->End(tower, std::move(ended),
                            static_cast<int64_t>(session(tower).steps_under_way()));
  };
  absl::Status made = OnEach([&](int tower) { return end(tower, half(session(tower))); });
  if (made.ok()) return made;
  // How the rest ends matters to nobody.
  static_cast<void>(OnEach([&](int tower) { return end(tower, session(tower).DropSteps()); }));
  return made;
}

absl::Status Towers::OnEach(absl::FunctionRef<absl::Status(int tower)> work) {
  work_ = &work;
  running_ = count() - 1;
  ++round_;
  round_.notify_all();
  WorkOn(0);
  for (int left = running_; left > 0; left = running_) running_.wait(left);
  for (const absl::Status& result : results_) RETURN_IF_ERROR(result);
  return absl::OkStatus();
}

void Towers::WorkOn(int tower) { results_[static_cast<size_t>(tower)] = (*work_)(tower); }

void Towers::Serve(int tower) {
  for (int64_t seen = 0;;) {
    round_.wait(seen);
    // No round is missed: the next begins only when all have ended this one.
    seen = round_;
    if (closing_) return;
    WorkOn(tower);
    if (--running_ == 0) running_.notify_all();
  }
}

absl::Status Towers::MakeMeans() {
  if (count() == 1) return absl::OkStatus();
  for (size_t i = 0; i < first().variables().size(); ++i) {
    if (first().gradient(i).empty()) continue;
    const std::vector<TensorType> types(sessions_.size(),
                                        {DType::kFloat32, first().variables()[i].shape});
    Mean mean{.variable = i, .kernel = {}, .inputs = {}, .output = first().gradient(i).data()};
    ASSIGN_OR_RETURN(mean.kernel, MakeKernel(first().runtime(), kMeanGradients,
                                             {.attributes = {},
                                              .inputs = types,
                                              .outputs = std::span(types).first(1)}));
    for (const auto& session : sessions_) mean.inputs.push_back(session->gradient(i).data());
    mean.inputs.resize(sessions_.size() + 2);
    means_.push_back(std::move(mean));
  }
  stream_ = first().model().device().MakeStream();
  return absl::OkStatus();
}

absl::Status Towers::MakeMeansApart(Collective& collective) {
  collective_ = &collective;
  for (int tower = 0; tower < count(); ++tower) {
    ASSIGN_OR_RETURN(auto mean, TowerMean::Make(session(tower), collective, tower));
    tower_means_.push_back(std::move(mean));
  }
  return absl::OkStatus();
}

absl::Status Towers::AverageGradients() {
  return means_.empty() ? absl::OkStatus() : Await(*stream_, LaunchMeans());
}

absl::Status Towers::LaunchMeans() {
  for (Mean& mean : means_) {
    if (first().gradient_rows(mean.variable)) {
      UniteRowsOf(mean.variable);
      RETURN_IF_ERROR(first().SetGradientRows(mean.variable, rows_[mean.variable]));
    }
    const Session::DeviceRows rows = first().device_rows(mean.variable);
    mean.inputs[sessions_.size()] = rows.ids;
    mean.inputs[sessions_.size() + 1] = rows.count;
    RETURN_IF_ERROR(mean.kernel.Launch(*stream_, {.inputs = mean.inputs,
                                                  .outputs = {&mean.output, 1},
                                                  .block = first().device_block(),
                                                  .index = Fault::kAfterGraph}));
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
