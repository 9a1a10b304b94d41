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
using collective::Part;
using collective::PlanAllReduce;
using collective::PlanBroadcast;
using collective::Way;

// Which vector of a step an exchange is of: the rest, the buckets, the rows behind them, and of a
// model that is given its parts, which come last.
constexpr uint64_t kRest = 0;
constexpr uint64_t kBuckets = 1;

std::vector<size_t> EndsOf(std::vector<size_t> asked, size_t elements) {
  if (asked.empty()) asked.push_back(elements);
  CHECK(asked.back() == elements && std::ranges::is_sorted(asked))
      << "buckets of " << asked.back() << " of " << elements << " elements";
  return asked;
}

// Where tables begin, which are the end of what is trained.
size_t BeginOf(const std::vector<RowTable>& tables, size_t trained) {
  size_t at = tables.empty() ? trained : tables.front().begin;
  for (const RowTable& table : tables) {
    CHECK(table.begin == at && table.end - at >= table.rows * table.width)
        << table.name << " does not lie behind the gradients before it";
    at = table.end;
  }
  CHECK(at == trained) << "tables end at " << at << " of " << trained << " elements";
  return tables.empty() ? trained : tables.front().begin;
}

}  // namespace

RingCore::RingCore(ModelState& model, Options options)
    : model_(model),
      options_(std::move(options)),
      bucket_ends_(EndsOf(options_.bucket_ends,
                          BeginOf(options_.tables, model.trained_elements()))),
      tables_(options_.tables, options_.rows) {
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
  by_devices_ = false;
  gradients_.clear();
  last_.reset();
  under_way_ = nullptr;
  size_t begin = 0;
  for (size_t i = 0; i + 1 < buckets(); ++i) {
    gradients_.emplace_back(SumOf(bucket_ends_[i] - begin), options_.rows.wire);
    begin = bucket_ends_[i];
  }
  tables_.Enter(place_);
  const size_t told = buckets() > 1 ? static_cast<size_t>(place_.ranks) : 0;
  rest_values_.assign(1 + moments_.size() + told + tables_.counts(), 0);
  added_ = std::span(rest_values_).subspan(1, moments_.size());
  took_ = std::span(rest_values_).subspan(1 + moments_.size(), told);
  counts_ = std::span(rest_values_).last(tables_.counts());
  rest_.emplace(SumOf(rest_values_.size()));
  stage_ = Stage::kGiven;
  next_given_ = 0;
  given_.reset();
  received_.clear();
}

absl::Status RingCore::BeginStep(int64_t step) {
  step_ = step;
  stage_ = Stage::kStep;
  turn_ = by_devices_ ? rest_turn() : 0;
  computed_ = 0;
  under_way_ = nullptr;
  mean_begun_ = knows_losses_ = sees_gradients_ = to_sum_ = false;
  tables_.BeginStep();
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

absl::Status RingCore::BeginMean(float loss, float took, std::span<const TableRows::Ids> rows) {
  CHECK(stage_ == Stage::kStep && rest_) << "the mean of no step";
  rest_values_[0] = loss;
  float* added = added_.data();
  for (const size_t i : moved_) {
    const TensorRef moment = model_.value(i);
    RETURN_IF_ERROR(moment.Read(std::span(added, moment.count())));
    added += moment.count();
  }
  std::ranges::fill(took_, 0.0F);
  if (!took_.empty()) took_[static_cast<size_t>(place_.rank)] = took;
  tables_.Count(rows, counts_);
  mean_begun_ = true;
  return absl::OkStatus();
}

float RingCore::slowest() const {
  return took_.empty() ? 0 : *std::ranges::max_element(took_);
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
  ASSIGN_OR_RETURN(under_way_, BeginTurn());
  return under_way_;
}

RingCore::Vector RingCore::vector() const {
  if (turn_ < rest_turn()) return Vector::kBucket;
  if (turn_ == rest_turn()) return Vector::kRest;
  return turn_ < last_turn() ? Vector::kRows : Vector::kLast;
}

bool RingCore::MayBegin(size_t turn) const {
  if (turn > last_turn()) return false;
  if (turn < rest_turn()) {
    return mean_begun_ || (turn < computed_ && model_.trained_gradients().host_sees());
  }
  return mean_begun_ && (turn == rest_turn() || std::isfinite(rest_values_[0]));
}

absl::StatusOr<Exchange*> RingCore::BeginTurn() {
  if (turn_ == rest_turn()) return Begin(*rest_, kRest, rest_values_);
  ASSIGN_OR_RETURN(const std::span<float> gradients, SeeGradients());
  switch (vector()) {
    case Vector::kBucket: {
      return Begin(gradients_[turn_], kBuckets + turn_, Bucket(turn_, gradients));
    }
    case Vector::kRows: {
      rows_.emplace(tables_.PlanRows(options_.chunk_elements));
      return Begin(*rows_, kBuckets + buckets(), tables_.Pack(gradients));
    }
    default: return BeginLast(gradients);
  }
}

absl::Status RingCore::EndTurn() {
  under_way_ = nullptr;
  const Vector ended = vector();
  const size_t turn = turn_++;
  if (ended == Vector::kRest) return EndRest();
  ASSIGN_OR_RETURN(const std::span<float> gradients, SeeGradients());
  if (ended == Vector::kRows) return tables_.Add(gradients);
  if (ended == Vector::kLast) return EndLast(gradients);
  Scale(Bucket(turn, gradients));
  return absl::OkStatus();
}

absl::Status RingCore::EndRest() {
  knows_losses_ = true;
  if (!std::isfinite(rest_values_[0])) return absl::OkStatus();
  if (by_devices_) {
    turn_ = last_turn() + 1;
    to_sum_ = place_.ranks > 1;
    tables_.BeginWhole();
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(tables_.Decide(counts_));
  if (!tables_.any()) ++turn_;
  return absl::OkStatus();
}

absl::StatusOr<std::span<float>> RingCore::SeeGradients() {
  const TensorRef gradients = model_.trained_gradients();
  const std::span<float> seen = See(gradients);
  if (!gradients.host_sees() && !std::exchange(sees_gradients_, true)) {
    RETURN_IF_ERROR(gradients.Read(seen));
  }
  return seen;
}

std::span<float> RingCore::Bucket(size_t bucket, std::span<float> gradients) const {
  const size_t begin = bucket == 0 ? 0 : bucket_ends_[bucket - 1];
  return gradients.subspan(begin, bucket_ends_[bucket] - begin);
}

Exchange* RingCore::BeginLast(std::span<float> gradients) {
  const size_t begin = buckets() > 1 ? bucket_ends_[buckets() - 2] : 0;
  last_parts_ = {{begin, bucket_ends_.back() - begin}};
  size_t elements = last_parts_[0].count;
  for (const Part& part : tables_.BeginWhole()) {
    elements += part.count;
    if (part.begin == last_parts_.back().end()) {
      last_parts_.back().count += part.count;
    } else {
      last_parts_.push_back(part);
    }
  }
  // Tables that go whole are the same from step to step, mostly.
  if (!last_ || last_->plan().elements != elements) {
    last_.emplace(SumOf(elements), options_.rows.wire);
  }
  std::span<float> values = gradients.subspan(begin, last_parts_[0].count);
  if (last_parts_.size() > 1) {
    last_copy_.clear();
    for (const Part& part : last_parts_) {
      const std::span<const float> from = gradients.subspan(part.begin, part.count);
      last_copy_.insert(last_copy_.end(), from.begin(), from.end());
    }
    values = last_copy_;
  }
  return Begin(*last_, kBuckets + buckets() - 1, values);
}

absl::Status RingCore::EndLast(std::span<float> gradients) {
  if (last_parts_.size() > 1) {
    const float* from = last_copy_.data();
    for (const Part& part : last_parts_) {
      std::copy_n(from, part.count, gradients.data() + part.begin);
      from += part.count;
    }
  }
  for (const Part& part : last_parts_) Scale(gradients.subspan(part.begin, part.count));
  const TensorRef there = model_.trained_gradients();
  return there.host_sees() ? absl::OkStatus() : there.Write(std::span<const float>(gradients));
}

void RingCore::Scale(std::span<float> sums) const {
  BestLoops().scale(sums.data(), 1 / static_cast<float>(place_.ranks), sums.data(),
                    static_cast<int64_t>(sums.size()));
}

absl::StatusOr<Exchange*> RingCore::NextGiven() {
  if (given_) {
    CHECK(given_->done()) << "a part of the model has not come";
    ++next_given_;
  }
  for (; next_given_ < given(); ++next_given_) {
    const TensorRef tensor = Given(next_given_);
    const uint64_t first = kBuckets + buckets() + 1;
    given_.emplace(PlanBroadcast(place_, epoch_.root, epoch_.receivers, tensor.count(),
                                 options_.chunk_elements));
    if (given_->peers().empty()) continue;
    if (epoch_.rank != epoch_.root) {
      received_.resize(next_given_ + 1);
      received_.back().resize(tensor.count());
      return Begin(*given_, first + next_given_, received_.back());
    }
    const std::span<float> values = See(tensor);
    if (!tensor.host_sees()) {
      RETURN_IF_ERROR(tensor.Read(values));
    }
    return Begin(*given_, first + next_given_, values);
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
