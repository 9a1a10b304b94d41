#include "trainer/ring/ring_core.h"

#include <algorithm>
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

// Which vector of a step an exchange is of: the rest, the buckets, and of a model that is given its
// parts, which come behind them.
constexpr uint64_t kRest = 0;
constexpr uint64_t kBuckets = 1;

std::vector<size_t> EndsOf(std::vector<size_t> asked, size_t elements) {
  if (asked.empty()) asked.push_back(elements);
  CHECK(asked.back() == elements && std::ranges::is_sorted(asked))
      << "buckets of " << asked.back() << " of " << elements << " elements";
  return asked;
}

}  // namespace

RingCore::RingCore(ModelState& model, Options options)
    : model_(model),
      options_(std::move(options)),
      bucket_ends_(EndsOf(options_.bucket_ends, model.trained_elements())) {
  size_t moved_elements = 0;
  for (size_t i = 0; i < model.variables().size(); ++i) {
    if (!model.variables()[i].decay) continue;
    moved_.push_back(i);
    moved_elements += model.variables()[i].count;
  }
  moments_.resize(moved_elements);
}

void RingCore::Enter(const Epoch& epoch) {
  epoch_ = epoch;
  step_ = epoch.start.step;
  place_ = {epoch.ranks(), epoch.rank};
  gradients_.clear();
  under_way_ = nullptr;
  size_t begin = 0;
  for (const size_t end : bucket_ends_) {
    gradients_.emplace_back(SumOf(end - begin));
    begin = end;
  }
  const size_t told = buckets() > 1 ? static_cast<size_t>(place_.ranks) : 0;
  rest_values_.assign(1 + moments_.size() + told, 0);
  rest_.emplace(SumOf(rest_values_.size()));
  stage_ = Stage::kGiven;
  next_given_ = 0;
  given_.reset();
  received_.clear();
}

absl::Status RingCore::BeginStep(int64_t step) {
  step_ = step;
  stage_ = Stage::kStep;
  turn_ = computed_ = 0;
  under_way_ = nullptr;
  mean_begun_ = knows_losses_ = false;
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

absl::Status RingCore::BeginMean(float loss, float took) {
  CHECK(stage_ == Stage::kStep && !gradients_.empty()) << "the mean of no step";
  rest_values_[0] = loss;
  float* added = rest_values_.data() + 1;
  for (const size_t i : moved_) {
    const TensorRef moment = model_.value(i);
    RETURN_IF_ERROR(moment.Read(std::span(added, moment.count())));
    added += moment.count();
  }
  const std::span<float> told = std::span(rest_values_).subspan(1 + moments_.size());
  std::ranges::fill(told, 0.0F);
  if (!told.empty()) told[static_cast<size_t>(place_.rank)] = took;
  mean_begun_ = true;
  return absl::OkStatus();
}

float RingCore::slowest() const {
  const auto told = std::span(rest_values_).subspan(1 + moments_.size());
  return told.empty() ? 0 : *std::ranges::max_element(told);
}

absl::StatusOr<Exchange*> RingCore::Next() {
  switch (stage_) {
    case Stage::kNone: return nullptr;
    case Stage::kGiven: return NextGiven();
    case Stage::kStep: return NextOfStep();
  }
  return nullptr;
}

absl::StatusOr<Exchange*> RingCore::NextOfStep() {
  if (under_way_ != nullptr) {
    CHECK(under_way_->done()) << "what is exchanged before has not come";
    RETURN_IF_ERROR(EndTurn());
  }
  if (!MayBegin(turn_)) return nullptr;
  if (turn_ == rest_turn()) {
    under_way_ = Begin(*rest_, kRest, rest_values_);
    return under_way_;
  }
  const size_t bucket = BucketAt(turn_);
  const TensorRef gradients = model_.trained_gradients();
  if (bucket == 0 && !gradients.host_sees()) {
    RETURN_IF_ERROR(gradients.Read(See(gradients)));
  }
  under_way_ = Begin(gradients_[bucket], kBuckets + bucket, SeeBucket(bucket));
  return under_way_;
}

bool RingCore::MayBegin(size_t turn) const {
  if (turn > buckets()) return false;
  if (turn < rest_turn()) {
    return mean_begun_ || (turn < computed_ && model_.trained_gradients().host_sees());
  }
  return mean_begun_ && (turn == rest_turn() || std::isfinite(rest_values_[0]));
}

absl::Status RingCore::EndTurn() {
  const size_t turn = turn_++;
  under_way_ = nullptr;
  if (turn == rest_turn()) {
    knows_losses_ = true;
    return absl::OkStatus();
  }
  const size_t bucket = BucketAt(turn);
  const std::span<float> sums = SeeBucket(bucket);
  BestLoops().scale(sums.data(), 1 / static_cast<float>(place_.ranks), sums.data(),
                    static_cast<int64_t>(sums.size()));
  const TensorRef gradients = model_.trained_gradients();
  if (bucket + 1 < buckets() || gradients.host_sees()) return absl::OkStatus();
  return gradients.Write(std::span<const float>(room_));
}

std::span<float> RingCore::SeeBucket(size_t bucket) {
  const size_t begin = bucket == 0 ? 0 : bucket_ends_[bucket - 1];
  return See(model_.trained_gradients()).subspan(begin, bucket_ends_[bucket] - begin);
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
      return Begin(*given_, kBuckets + buckets() + next_given_, received_.back());
    }
    const std::span<float> values = See(tensor);
    if (!tensor.host_sees()) {
      RETURN_IF_ERROR(tensor.Read(values));
    }
    return Begin(*given_, kBuckets + buckets() + next_given_, values);
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
