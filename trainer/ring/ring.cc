#include "trainer/ring/ring.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/collective/exchange.h"
#include "trainer/graph/machine_fault.h"

namespace taas {
namespace {

using collective::Group;

std::vector<size_t> EndsOf(const std::vector<Bucket>& buckets) {
  std::vector<size_t> ends;
  for (const Bucket& bucket : buckets) ends.push_back(bucket.elements);
  return ends;
}

size_t DenseOf(const Session& session, std::span<const OrderedGradient> order) {
  const auto lists = [&](const OrderedGradient& gradient) {
    return session.gradient_rows(gradient.variable).has_value();
  };
  const auto first = std::ranges::find_if(order, lists);
  CHECK(std::all_of(first, order.end(), lists)) << "gradients behind those that list rows";
  return static_cast<size_t>(first - order.begin());
}

std::vector<RowTable> TablesOf(const Session& session, std::span<const OrderedGradient> order,
                               size_t dense) {
  std::vector<RowTable> tables;
  for (size_t i = dense; i < order.size(); ++i) {
    const VariableInfo& variable = session.variables()[order[i].variable];
    tables.push_back({.name = variable.name,
                      .begin = i == 0 ? 0 : order[i - 1].end,
                      .end = order[i].end,
                      .rows = static_cast<size_t>(variable.shape.dim(0)),
                      .width = static_cast<size_t>(variable.shape.dim(1))});
  }
  return tables;
}

float SecondsOf(Clock::Duration duration) {
  return std::chrono::duration<float>(duration).count();
}

}  // namespace

Ring::Ring(collective::Meeting& meeting, Session& session, int cores, const RingOptions& options)
    : meeting_(meeting),
      session_(session),
      cores_(cores),
      order_(session.gradient_order()),
      dense_(DenseOf(session, order_)),
      buckets_(PlanBuckets(std::span(order_).first(dense_), options.buckets)),
      core_(session.model(), {.bucket_ends = EndsOf(buckets_),
                              .tables = TablesOf(session, order_, dense_),
                              .rows = options.rows}),
      narrow_(options.rows.wire == collective::Wire::kBFloat16),
      late_(options.device_limits.arrival) {
  if (options.device != nullptr) {
    means_.emplace(*options.device, clock_, options.device_limits, options.stuck);
  }
  meeting_.SetNote(means_ ? means_->note() : NoteOfSums(false, options.no_device));
  meeting_.SetTerms(BucketTerms(buckets_, order_, session.variables()) + ", sent in " +
                    std::string(NameOf(options.rows.wire)));
  if (buckets_.size() == 1) return;
  beside_.reserve(buckets_.size());
  side_ = std::make_unique<SideThread>([this](size_t buckets) { ExchangeBeside(buckets); });
  session_.WatchGradients([this](size_t count) { GradientsAre(count); });
}

Ring::~Ring() {
  LeaveDevices();
  if (side_ == nullptr) return;
  EndBeside();
  session_.WatchGradients(nullptr);
}

absl::Status Ring::Enter(const Epoch& epoch) {
  own_error_ = absl::OkStatus();
  EndBeside();
  LeaveDevices();
  {
    std::lock_guard lock(mutex_);
    group_ = nullptr;
    epoch_ = epoch.number;
  }
  core_.Enter(epoch);
  auto links = meeting_.Meet({.epoch = epoch.number,
                              .rank = epoch.rank,
                              .addresses = epoch.addresses});
  if (absl::IsInvalidArgument(links.status())) own_error_ = links.status();
  RETURN_IF_ERROR(links.status());
  RETURN_IF_ERROR(Form(epoch, *std::move(links)));
  const bool forms = by_devices_ && ranks() > 1;
  absl::Status entered = forms ? means_->Begin(*group_, epoch) : absl::OkStatus();
  Clock::Time losses_came{};
  if (entered.ok()) entered = Exchange(&losses_came);
  // Meanwhile the model was given.
  if (entered.ok() && forms) entered = means_->AwaitFormed();
  if (!entered.ok()) {
    LeaveDevices();
    if (IsMachineFault(entered)) own_error_ = entered;
  }
  ended_ = clock_.Now();
  return entered;
}

absl::Status Ring::Form(const Epoch& epoch, std::vector<std::unique_ptr<collective::Link>> links) {
  const auto agreed = AgreeOnSums(meeting_.notes(), epoch.addresses, epoch.rank);
  if (absl::IsInvalidArgument(agreed.status())) own_error_ = agreed.status();
  RETURN_IF_ERROR(agreed.status());
  by_devices_ = agreed->by_devices;
  if (by_devices_) core_.SumByDevices();
  if (agreed->words != std::exchange(told_sums_, agreed->words) && !agreed->words.empty()) {
    Log(LogLevel::kInfo,
        by_devices_ ? "gradients are summed between GPUs"
                    : "gradients go through memory of the hosts",
        {{by_devices_ ? "by" : "why", agreed->words}});
  }
  Group::Options options{
      .place = core_.place(), .links = std::move(links), .spins = ranks() <= cores_};
  if (by_devices_) {
    options.late = late_;
    options.on_late = [late = late_](const std::string& peer) {
      const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(late);
      Log(LogLevel::kWarning, "a rank is waited for: it computes, hangs or has stopped",
          {{"peer", peer}, {"milliseconds", std::to_string(waited.count())}});
    };
  }
  auto group = std::make_shared<Group>(std::move(options));
  std::lock_guard lock(mutex_);
  if (epoch.number <= over_) return absl::AbortedError("enter an epoch: it is over");
  group_ = std::move(group);
  return absl::OkStatus();
}

void Ring::LeaveDevices() {
  if (!means_) return;
  means_->End();
  meeting_.SetNote(means_->note());
}

absl::Status Ring::SumByDevices() {
  const TensorRef gradients = core_.sums_by_devices();
  if (gradients.empty()) return absl::OkStatus();
  const absl::Status summed = means_->Make(core_.turn(), gradients, narrow_);
  if (!summed.ok()) {
    LeaveDevices();
    if (IsMachineFault(summed)) own_error_ = summed;
    return summed;
  }
  // What a ring sends, however it goes.
  const int64_t bytes = static_cast<int64_t>(gradients.bytes()) / (narrow_ ? 2 : 1);
  times_.bytes += 2 * bytes * (ranks() - 1) / ranks();
  return absl::OkStatus();
}

absl::Status Ring::BeginStep(int64_t step) {
  EndBeside();
  times_ = {};
  told_ = 0;
  beside_.clear();
  bytes_beside_ = 0;
  exchanged_beside_ = 0;
  beside_status_ = absl::OkStatus();
  RETURN_IF_ERROR(core_.BeginStep(step));
  in_step_ = true;
  return absl::OkStatus();
}

void Ring::GradientsAre(size_t count) {
  if (!in_step_) return;
  const size_t before = told_;
  // The last one comes after the losses.
  while (told_ + 1 < buckets_.size() && buckets_[told_].gradients <= count) ++told_;
  if (told_ > before) side_->Tell(told_);
}

void Ring::ExchangeBeside(size_t buckets) {
  if (!beside_status_.ok()) return;
  core_.BucketsAre(buckets);
  for (;;) {
    const Clock::Time begun = clock_.Now();
    const absl::StatusOr<collective::Exchange*> next = core_.Next();
    beside_status_ = next.status();
    if (!next.ok() || *next == nullptr) return;
    beside_status_ = group_->RunBeside(**next);
    if (!beside_status_.ok()) return;
    bytes_beside_ += (*next)->bytes_to_send();
    beside_.push_back({begun, clock_.Now()});
    ++exchanged_beside_;
  }
}

void Ring::EndBeside() {
  if (side_ == nullptr) return;
  // Nobody ends it: what is under way waits for others, who wait for this rank.
  if (in_step_ && group_ != nullptr) group_->Abort();
  in_step_ = false;
  side_->Await();
}

absl::StatusOr<float> Ring::Mean(float loss) {
  const Clock::Time computed = clock_.Now();
  Clock::Time losses_came = computed;
  in_step_ = false;
  own_error_ = absl::OkStatus();
  if (side_ != nullptr) side_->Await();
  absl::Status exchanged = beside_status_;
  if (exchanged.ok()) {
    own_error_ = core_.BeginMean(loss, SecondsOf(computed - ended_), OwnRows());
    RETURN_IF_ERROR(own_error_);
    exchanged = Exchange(&losses_came);
    if (exchanged.ok()) exchanged = SumByDevices();
  }
  TakeTimes(computed, losses_came);
  absl::StatusOr<float> mean = core_.EndMean(exchanged);
  // Also where not all sums have come: what others have added to a table has to be cleared.
  if (absl::Status set = SetGradientRows(); !set.ok()) mean = std::move(set);
  if (!mean.ok() && mean.status() != exchanged) own_error_ = mean.status();
  return mean;
}

void Ring::TakeTimes(Clock::Time computed, Clock::Time losses_came) {
  times_.bytes += bytes_beside_;
  for (const Span& span : beside_) {
    times_.hidden += std::max(Clock::Duration(0), std::min(span.end, computed) - span.begin);
  }
  // With several buckets the losses come after others, which the network may be slow for: for the
  // slowest rank all wait, and no longer than it took more than this one.
  times_.wait = losses_came - computed;
  if (buckets_.size() > 1) {
    const std::chrono::duration<double> behind(core_.slowest() - SecondsOf(computed - ended_));
    times_.wait = std::clamp(std::chrono::duration_cast<Clock::Duration>(behind),
                             Clock::Duration(0), times_.wait);
  }
  ended_ = clock_.Now();
  times_.exchange = ended_ - computed - times_.wait;
}

std::vector<TableRows::Ids> Ring::OwnRows() const {
  std::vector<TableRows::Ids> rows;
  for (size_t i = dense_; i < order_.size(); ++i) {
    rows.push_back(session_.gradient_rows(order_[i].variable)->ids);
  }
  return rows;
}

// Of the largest table, once and for all: the session keeps what it is told of.
const std::vector<int32_t>& Ring::AllRows() {
  if (!all_rows_.empty()) return all_rows_;
  size_t most = 0;
  for (const RowTable& table : core_.tables().tables()) most = std::max(most, table.rows);
  all_rows_.resize(most);
  std::iota(all_rows_.begin(), all_rows_.end(), 0);
  return all_rows_;
}

absl::Status Ring::SetGradientRows() {
  const TableRows& tables = core_.tables();
  for (size_t table = 0; table < tables.tables().size(); ++table) {
    const size_t variable = order_[dense_ + table].variable;
    const size_t rows = tables.tables()[table].rows;
    switch (tables.holds(table)) {
      case TableRows::Holds::kOwn: break;
      case TableRows::Holds::kUnited:
        RETURN_IF_ERROR(session_.SetGradientRows(variable, tables.united(table)));
        break;
      case TableRows::Holds::kAny:
        RETURN_IF_ERROR(session_.SetGradientRows(variable, std::span(AllRows()).first(rows)));
        break;
    }
  }
  return absl::OkStatus();
}

absl::Status Ring::Exchange(Clock::Time* losses_came) {
  for (bool knew = false;;) {
    const absl::StatusOr<collective::Exchange*> next = core_.Next();
    own_error_ = next.status();
    RETURN_IF_ERROR(own_error_);
    if (core_.knows_losses() && !std::exchange(knew, true)) *losses_came = clock_.Now();
    if (*next == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(group_->Run(**next));
    times_.bytes += (*next)->bytes_to_send();
  }
}

std::optional<int> Ring::lost() const {
  return group_ == nullptr ? std::nullopt : group_->lost();
}

void Ring::Abort(uint32_t epoch) {
  meeting_.Cancel(epoch);
  std::lock_guard lock(mutex_);
  over_ = std::max(over_, epoch);
  if (group_ != nullptr && epoch_ <= over_) group_->Abort();
}

}  // namespace taas
