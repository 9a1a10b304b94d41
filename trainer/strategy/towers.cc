#include "trainer/strategy/towers.h"

#include <optional>
#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/runtime.h"
#include "trainer/loops/loops.h"

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
      session->BindVariable(i, sessions[0]->variable(i));
    }
    sessions.push_back(std::move(session));
  }
  return std::unique_ptr<Towers>(new Towers(std::move(sessions)));
}

Towers::Towers(std::vector<std::unique_ptr<Session>> sessions)
    : sessions_(std::move(sessions)),
      results_(sessions_.size()),
      rows_(first().variables().size()),
      parts_(sessions_.size()) {
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
  AverageGradients();
  return absl::OkStatus();
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

void Towers::AverageGradients() {
  if (count() == 1) return;
  const float share = 1.0f / static_cast<float>(count());
  for (size_t i = 0; i < first().variables().size(); ++i) {
    const std::span<float> mean = first().gradient(i);
    const auto average = [&](size_t at, size_t elements) {
      for (size_t tower = 0; tower < sessions_.size(); ++tower) {
        parts_[tower] = sessions_[tower]->gradient(i).data() + at;
      }
      BestLoops().scaled_sum(parts_.data(), count(), share, mean.data() + at,
                             static_cast<int64_t>(elements));
    };
    std::optional<GradientRows> rows = first().gradient_rows(i);
    if (!rows) {
      average(0, mean.size());
      continue;
    }
    lists_.clear();
    for (const auto& session : sessions_) lists_.push_back(session->gradient_rows(i)->ids);
    UniteRows(lists_, &rows_[i]);
    rows->ids = rows_[i];
    ForRowRuns(*rows, [&](const RowRun& run) { average(run.at, run.count); });
    first().SetGradientRows(i, rows_[i]);
  }
}

float Towers::loss() const {
  float sum = 0;
  for (const auto& session : sessions_) sum += session->loss();
  return sum / static_cast<float>(sessions_.size());
}

}  // namespace taas
