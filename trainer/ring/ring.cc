#include "trainer/ring/ring.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/model_state.h"
#include "trainer/loops/loops.h"

namespace taas {
namespace {

using collective::Exchange;
using collective::Group;
using collective::PlanAllReduce;
using collective::PlanBroadcast;
using collective::Way;

// Which vector of a step an exchange is of. Those of a model that is given follow.
constexpr uint64_t kRest = 0;
constexpr uint64_t kGradients = 1;
constexpr uint64_t kGiven = 2;

}  // namespace

Ring::Ring(collective::Meeting& meeting, Session& session, int cores)
    : meeting_(meeting), session_(session), cores_(cores) {
  size_t moved_elements = 0;
  for (size_t i = 0; i < session.variables().size(); ++i) {
    if (!session.variables()[i].decay) continue;
    moved_.push_back(i);
    moved_elements += session.variables()[i].count;
  }
  rest_values_.resize(1 + moved_elements);
  moments_.resize(moved_elements);
}

absl::Status Ring::Enter(const Epoch& epoch) {
  {
    std::lock_guard lock(mutex_);
    group_ = nullptr;
    epoch_ = epoch.number;
  }
  given_.clear();
  step_ = epoch.start.step;
  place_ = {epoch.ranks(), epoch.rank};
  ASSIGN_OR_RETURN(auto links, meeting_.Meet({.epoch = epoch.number,
                                              .rank = epoch.rank,
                                              .addresses = epoch.addresses}));
  auto group = std::make_shared<Group>(Group::Options{
      .place = place_, .links = std::move(links), .spins = place_.ranks <= cores_});
  {
    std::lock_guard lock(mutex_);
    if (epoch.number <= over_) return absl::AbortedError("enter an epoch: it is over");
    group_ = std::move(group);
  }
  gradients_.emplace(SumOf(session_.model().trained_elements()));
  rest_.emplace(SumOf(rest_values_.size()));
  ModelState& model = session_.model();
  uint64_t number = kGiven;
  RETURN_IF_ERROR(Give(epoch, model.trained_values(), number++));
  RETURN_IF_ERROR(Give(epoch, model.other_values(), number++));
  for (size_t slot = 0; slot < model.slots(); ++slot) {
    RETURN_IF_ERROR(Give(epoch, model.slot(slot), number++));
  }
  return absl::OkStatus();
}

absl::Status Ring::Give(const Epoch& epoch, const TensorRef& tensor, uint64_t number) {
  Exchange exchange(PlanBroadcast(place_, epoch.root, epoch.receivers, tensor.count()));
  if (exchange.peers().empty()) return absl::OkStatus();
  if (epoch.rank != epoch.root) {
    given_.push_back({tensor, std::vector<float>(tensor.count())});
    return Run(exchange, number, given_.back().values);
  }
  const std::span<float> values = See(tensor, &room_);
  if (!tensor.host_sees()) {
    RETURN_IF_ERROR(tensor.Read(values));
  }
  return Run(exchange, number, values);
}

absl::Status Ring::TakeGiven() {
  const std::vector<Given> given = std::move(given_);
  given_.clear();
  for (const Given& part : given) {
    RETURN_IF_ERROR(part.tensor.Write(std::span(part.values)));
  }
  return absl::OkStatus();
}

absl::Status Ring::BeginStep(int64_t step) {
  step_ = step;
  float* before = moments_.data();
  for (const size_t i : moved_) {
    const TensorRef moment = session_.variable(i);
    RETURN_IF_ERROR(moment.Read(std::span(before, moment.count())));
    // A step of the graph leaves decay * moment + (1 - decay) * batch in it.
    RETURN_IF_ERROR(moment.Fill(0));
    before += moment.count();
  }
  return absl::OkStatus();
}

absl::StatusOr<float> Ring::Mean(float loss) {
  CHECK(gradients_.has_value()) << "a step in no epoch";
  rest_values_[0] = loss;
  float* added = rest_values_.data() + 1;
  for (const size_t i : moved_) {
    const TensorRef moment = session_.variable(i);
    RETURN_IF_ERROR(moment.Read(std::span(added, moment.count())));
    added += moment.count();
  }
  const absl::Status ran = Run(*rest_, kRest, rest_values_);
  const float mean = rest_values_[0] / static_cast<float>(place_.ranks);
  absl::Status status = ran;
  if (status.ok() && std::isfinite(mean)) status = AverageGradients();
  // As they were, if this step is not to be.
  size_t at = 0;
  for (const size_t i : moved_) {
    const auto decay = static_cast<float>(*session_.variables()[i].decay);
    const std::span<float> moment(moments_.data() + at, session_.variables()[i].count);
    for (float& value : moment) {
      ++at;
      if (status.ok()) value = decay * value + rest_values_[at] / static_cast<float>(place_.ranks);
    }
    RETURN_IF_ERROR(session_.variable(i).Write(moment));
  }
  RETURN_IF_ERROR(status);
  return mean;
}

absl::Status Ring::AverageGradients() {
  const TensorRef gradients = session_.model().trained_gradients();
  const std::span<float> values = See(gradients, &room_);
  if (!gradients.host_sees()) {
    RETURN_IF_ERROR(gradients.Read(values));
  }
  RETURN_IF_ERROR(Run(*gradients_, kGradients, values));
  BestLoops().scale(values.data(), 1 / static_cast<float>(place_.ranks), values.data(),
                    static_cast<int64_t>(values.size()));
  if (!gradients.host_sees()) {
    RETURN_IF_ERROR(gradients.Write(values));
  }
  // Whatever rows the others have looked up, they are among all.
  for (size_t i = 0; i < session_.variables().size(); ++i) {
    if (!session_.gradient_rows(i)) continue;
    const auto rows = static_cast<size_t>(session_.variables()[i].shape.dim(0));
    while (all_rows_.size() < rows) all_rows_.push_back(static_cast<int32_t>(all_rows_.size()));
    RETURN_IF_ERROR(session_.SetGradientRows(i, std::span(all_rows_).first(rows)));
  }
  return absl::OkStatus();
}

absl::Status Ring::Run(Exchange& exchange, uint64_t number, std::span<float> values) {
  exchange.Begin({.epoch = epoch_, .step = step_, .vector = number}, values);
  return group_->Run(exchange);
}

collective::Plan Ring::SumOf(size_t elements) const {
  return PlanAllReduce(elements <= kDirectElementsMax ? Way::kDirect : Way::kRing, place_,
                       elements);
}

std::span<float> Ring::See(const TensorRef& tensor, std::vector<float>* room) {
  if (tensor.host_sees()) return tensor.host();
  room->resize(tensor.count());
  return *room;
}

void Ring::Abort(uint32_t epoch) {
  meeting_.Cancel(epoch);
  std::lock_guard lock(mutex_);
  over_ = std::max(over_, epoch);
  if (group_ != nullptr && epoch_ <= over_) group_->Abort();
}

}  // namespace taas
