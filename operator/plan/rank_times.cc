#include "operator/plan/rank_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace taas {
namespace {

// Beyond what one rank sends in a step: 1 TiB.
constexpr double kBytesMax = static_cast<double>(int64_t{1} << 40);
// No name of the contract, and no "worker-2147483647", is as long.
constexpr size_t kNameBytesMax = 32;

double Bounded(double value, double most) {
  return std::isnan(value) ? 0 : std::clamp(value, 0.0, most);
}

std::string NameOf(std::string_view name) {
  return name.size() <= kNameBytesMax ? std::string(name) : std::string();
}

void TakeShare(double value, std::string_view key, RankTime* time) {
  if (key == "compute") time->compute = Bounded(value, 1);
  if (key == "wait") time->wait = Bounded(value, 1);
  if (key == "exchange") time->exchange = Bounded(value, 1);
  if (key == "hiddenExchange") time->hidden = Bounded(value, 1);
  if (key == "bytesPerStep") time->bytes_per_step = std::llround(Bounded(value, kBytesMax));
}

}  // namespace

std::string RankTime::name() const {
  return std::string(RoleName(role)) + "-" + std::to_string(index);
}

RankSums& RankSums::Add(const RankSums& other, int64_t sign) {
  ranks += sign * other.ranks;
  compute_thousandths += sign * other.compute_thousandths;
  wait_thousandths += sign * other.wait_thousandths;
  exchange_thousandths += sign * other.exchange_thousandths;
  hidden_thousandths += sign * other.hidden_thousandths;
  bytes_per_step += sign * other.bytes_per_step;
  jobs_with_slowest += sign * other.jobs_with_slowest;
  return *this;
}

RankSums SumOf(const RankTimes& times) {
  RankSums sums{.jobs_with_slowest = times.slowest.empty() ? 0 : 1};
  for (const RankTime& time : times.ranks) {
    sums += {.ranks = 1,
             .compute_thousandths = std::llround(1000 * time.compute),
             .wait_thousandths = std::llround(1000 * time.wait),
             .exchange_thousandths = std::llround(1000 * time.exchange),
             .hidden_thousandths = std::llround(1000 * time.hidden),
             .bytes_per_step = time.bytes_per_step};
  }
  return sums;
}

void RankReader::Enter(int depth, bool list) {
  if (depth == 2) {
    in_peers_ = list && own_.key == "peers";
    if (!list && own_.key == "shares") shares_ = 2, own_.tells = true;
  }
  if (depth == 3 && in_peers_) peer_ = {};
  if (depth == 4 && !list && in_peers_ && peer_.key == "shares") shares_ = 4, peer_.tells = true;
  if (depth == shares_) share_key_.clear();
}

void RankReader::Leave(int depth) {
  if (depth == shares_) shares_ = 0;
  if (depth == 3 && in_peers_) {
    Keep(peer_);
    peer_ = {};
  }
  if (depth == 2) in_peers_ = false;
}

void RankReader::Keep(const Seen& seen) {
  if (!seen.tells || !seen.role.has_value() || times_.ranks.size() >= kRanksMax) return;
  times_.ranks.push_back(seen.time);
  times_.ranks.back().role = *seen.role;
}

void RankReader::Key(int depth, std::string_view name) {
  if (depth == 1) own_.key = NameOf(name);
  if (depth == 3 && in_peers_) peer_.key = NameOf(name);
  if (depth == shares_) share_key_ = NameOf(name);
}

// The last of two under one name counts.
void RankReader::Number(int depth, double value) {
  if (shares_ != 0 && depth == shares_) {
    return TakeShare(value, share_key_, shares_ == 2 ? &own_.time : &peer_.time);
  }
  Seen* const seen = depth == 1 ? &own_ : depth == 3 && in_peers_ ? &peer_ : nullptr;
  if (seen == nullptr || seen->key != "index") return;
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  seen->time.index = static_cast<int32_t>(Bounded(value, kMost));
}

void RankReader::Text(int depth, std::string_view value) {
  if (depth == 1 && own_.key == "role") own_.role = RoleFromName(value);
  if (depth == 1 && own_.key == "slowest") slowest_ = NameOf(value);
  if (depth == 3 && in_peers_ && peer_.key == "role") peer_.role = RoleFromName(value);
}

RankTimes RankReader::Take() {
  std::vector<RankTime> peers = std::exchange(times_.ranks, {});
  Keep(own_);
  // The peers may fill it.
  times_.ranks.insert(times_.ranks.end(), peers.begin(), peers.end());
  if (times_.ranks.size() > kRanksMax) times_.ranks.resize(kRanksMax);
  const bool known = std::any_of(times_.ranks.begin(), times_.ranks.end(),
                                 [this](const RankTime& time) { return time.name() == slowest_; });
  if (known) times_.slowest = slowest_;
  return std::exchange(times_, {});
}

}  // namespace taas
