#include "trainer/ring/ring_core.h"

#include <cmath>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/loops/loops.h"

namespace taas {
namespace {

using collective::Exchange;
using collective::PlanAllReduce;
using collective::PlanBroadcast;
using collective::Way;

// Which vector of a step an exchange is of. Those of a model that is given follow.
constexpr uint64_t kRest = 0;
constexpr uint64_t kGradients = 1;
constexpr uint64_t kGiven = 2;

}  // namespace

RingCore::RingCore(ModelState& model, Options options) : model_(model), options_(options) {
  size_t moved_elements = 0;
  for (size_t i = 0; i < model.variables().size(); ++i) {
    if (!model.variables()[i].decay) continue;
    moved_.push_back(i);
    moved_elements += model.variables()[i].count;
  }
  rest_values_.resize(1 + moved_elements);
  moments_.resize(moved_elements);
}

void RingCore::Enter(const Epoch& epoch) {
  epoch_ = epoch;
  step_ = epoch.start.step;
  place_ = {epoch.ranks(), epoch.rank};
  gradients_.emplace(SumOf(model_.trained_elements()));
  rest_.emplace(SumOf(rest_values_.size()));
  stage_ = Stage::kGiven;
  next_given_ = 0;
  given_.reset();
  received_.clear();
}

absl::Status RingCore::BeginStep(int64_t step) {
  step_ = step;
  stage_ = Stage::kNone;
  float* before = moments_.data();
  for (const size_t i : moved_) {
    const TensorRef moment = model_.value(i);
    RETURN_IF_ERROR(moment.Read(std::span(before, moment.count())));
    // A step of the graph leaves decay * moment + (1 - decay) * batch in it.
    RETURN_IF_ERROR(moment.Fill(0));
    before += moment.count();
  }
  return absl::OkStatus();
}

absl::Status RingCore::BeginMean(float loss) {
  CHECK(gradients_.has_value()) << "a step in no epoch";
  rest_values_[0] = loss;
  float* added = rest_values_.data() + 1;
  for (const size_t i : moved_) {
    const TensorRef moment = model_.value(i);
    RETURN_IF_ERROR(moment.Read(std::span(added, moment.count())));
    added += moment.count();
  }
  stage_ = Stage::kRest;
  seen_ = {};
  return absl::OkStatus();
}

absl::StatusOr<Exchange*> RingCore::Next() {
  switch (stage_) {
    case Stage::kNone: return nullptr;
    case Stage::kGiven: return NextGiven();
    case Stage::kRest:
      if (seen_.empty()) return Begin(*rest_, kRest, rest_values_);
      CHECK(rest_->done()) << "the losses have not come";
      if (std::isfinite(rest_values_[0])) return BeginGradients();
      break;
    case Stage::kGradients: RETURN_IF_ERROR(EndGradients()); break;
  }
  stage_ = Stage::kNone;
  return nullptr;
}

absl::StatusOr<Exchange*> RingCore::NextGiven() {
  if (given_) {
    CHECK(given_->done()) << "a part of the model has not come";
    ++next_given_;
  }
  for (; next_given_ < given(); ++next_given_) {
    const TensorRef tensor = Given(next_given_);
    given_.emplace(PlanBroadcast(place_, epoch_.root, epoch_.receivers, tensor.count(),
                                 options_.chunk_elements));
    if (given_->peers().empty()) continue;
    if (epoch_.rank != epoch_.root) {
      received_.resize(next_given_ + 1);
      received_.back().resize(tensor.count());
      return Begin(*given_, kGiven + next_given_, received_.back());
    }
    const std::span<float> values = See(tensor);
    if (!tensor.host_sees()) {
      RETURN_IF_ERROR(tensor.Read(values));
    }
    return Begin(*given_, kGiven + next_given_, values);
  }
  given_.reset();
  stage_ = Stage::kNone;
  RETURN_IF_ERROR(TakeReceived());
  return nullptr;
}

absl::Status RingCore::TakeReceived() {
  const std::vector<std::vector<float>> received = std::exchange(received_, {});
  for (size_t i = 0; i < received.size(); ++i) {
    if (received[i].empty()) continue;
    RETURN_IF_ERROR(Given(i).Write(std::span(received[i])));
  }
  return absl::OkStatus();
}

TensorRef RingCore::Given(size_t i) const {
  if (i == 0) return model_.trained_values();
  return i == 1 ? model_.other_values() : model_.slot(i - 2);
}

absl::StatusOr<Exchange*> RingCore::BeginGradients() {
  const TensorRef gradients = model_.trained_gradients();
  const std::span<float> values = See(gradients);
  if (!gradients.host_sees()) {
    RETURN_IF_ERROR(gradients.Read(values));
  }
  stage_ = Stage::kGradients;
  return Begin(*gradients_, kGradients, values);
}

absl::Status RingCore::EndGradients() {
  CHECK(gradients_->done()) << "the gradients have not come";
  BestLoops().scale(seen_.data(), 1 / static_cast<float>(place_.ranks), seen_.data(),
                    static_cast<int64_t>(seen_.size()));
  const TensorRef gradients = model_.trained_gradients();
  return gradients.host_sees() ? absl::OkStatus() : gradients.Write(seen_);
}

absl::StatusOr<float> RingCore::EndMean(const absl::Status& exchanged) {
  const bool made = exchanged.ok();
  const auto ranks = static_cast<float>(place_.ranks);
  size_t at = 0;
  for (const size_t i : moved_) {
    const auto decay = static_cast<float>(*model_.variables()[i].decay);
    const std::span<float> moment(moments_.data() + at, model_.variables()[i].count);
    for (float& value : moment) {
      ++at;
      if (made) value = decay * value + rest_values_[at] / ranks;
    }
    RETURN_IF_ERROR(model_.value(i).Write(moment));
  }
  stage_ = Stage::kNone;
  RETURN_IF_ERROR(exchanged);
  return rest_values_[0] / ranks;
}

Exchange* RingCore::Begin(Exchange& exchange, uint64_t number, std::span<float> values) {
  seen_ = values;
  exchange.Begin({.epoch = epoch_.number, .step = step_, .vector = number}, values);
  return &exchange;
}

collective::Plan RingCore::SumOf(size_t elements) const {
  return PlanAllReduce(elements <= options_.direct_elements_max ? Way::kDirect : Way::kRing,
                       place_, elements, options_.chunk_elements);
}

std::span<float> RingCore::See(const TensorRef& tensor) {
  if (tensor.host_sees()) return tensor.host();
  room_.resize(tensor.count());
  return room_;
}

}  // namespace taas
