#include "trainer/ring/testing/network.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>

#include "absl/status/status.h"

namespace taas::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Bytes that are on their way or have not been taken: less than a vector of a test, so that who
// sends has to wait.
constexpr size_t kWindowBytes = 96;

}  // namespace

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct End {
    int host = 0;
    std::function<void()> wake;
    std::vector<std::byte> arrived;
    size_t under_way = 0;   // To this end.
    Clock::Time last{};     // What comes to this end comes after that.
    bool ended = false;     // The other end's last byte has come.
    bool broken = false;
    bool wants_room = false;  // It had more to send than went.
  };

  Connection(Network& network, End first, End second)
      : network_(network), ends_{std::move(first), std::move(second)} {}

  End& end(int which) { return ends_[static_cast<size_t>(which)]; }

  absl::StatusOr<size_t> Send(int from, std::span<const std::byte> bytes) {
    if (end(from).broken || end(from).ended) return Gone(from);
    End& to = end(1 - from);
    const size_t used = to.arrived.size() + to.under_way;
    const size_t count = std::min(bytes.size(), kWindowBytes - std::min(kWindowBytes, used));
    end(from).wants_room = count < bytes.size();
    if (count == 0) return size_t{0};
    to.under_way += count;
    const std::span<const std::byte> sent = bytes.first(count);
    After(1 - from, [self = shared_from_this(), from,
                     bytes = std::vector<std::byte>(sent.begin(), sent.end())] {
      End& to = self->end(1 - from);
      to.under_way -= bytes.size();
      if (to.broken) return;
      to.arrived.insert(to.arrived.end(), bytes.begin(), bytes.end());
      self->Wake(1 - from);
    });
    return count;
  }

  absl::StatusOr<size_t> Receive(int at, std::span<std::byte> into) {
    End& here = end(at);
    if (here.arrived.empty()) {
      if (here.broken || here.ended) return Gone(at);
      return size_t{0};
    }
    const size_t count = std::min(into.size(), here.arrived.size());
    std::memcpy(into.data(), here.arrived.data(), count);
    here.arrived.erase(here.arrived.begin(), here.arrived.begin() + static_cast<ptrdiff_t>(count));
    if (std::exchange(end(1 - at).wants_room, false)) Wake(1 - at);
    return count;
  }

  // Whoever has this end closes it, or is gone.
  void Close(int at) {
    if (end(at).broken) return;
    // The kernel throws away what was not read, and says so to the other end.
    const bool reset = !end(at).arrived.empty() && network_.Chance(0.5);
    Break(at);
    After(1 - at, [self = shared_from_this(), at, reset] {
      End& other = self->end(1 - at);
      other.ended = true;
      if (reset) other.arrived.clear();
      self->Wake(1 - at);
    });
  }
  void Break(int at) {
    end(at).broken = true;
    end(at).arrived.clear();
    Wake(at);
  }
  void Wake(int at) {
    if (end(at).wake) end(at).wake();
  }

 private:
  // In the order in which it was sent.
  void After(int to, std::function<void()> what) {
    End& end = this->end(to);
    end.last = std::max(end.last, network_.Arrival(this->end(1 - to).host, end.host));
    network_.events().At(end.last, std::move(what));
    end.last += Clock::Duration(1);
  }
  static absl::Status Gone(int at) {
    return absl::UnavailableError("the other end of " + std::to_string(at) + " has gone");
  }

  Network& network_;
  std::array<End, 2> ends_;
};

namespace {

class SimLink : public collective::Link {
 public:
  SimLink(std::shared_ptr<Connection> connection, int end)
      : connection_(std::move(connection)), end_(end) {}
  ~SimLink() override {
    connection_->end(end_).wake = nullptr;
    connection_->Close(end_);
  }

  const std::string& peer() const override { return name_; }
  absl::StatusOr<size_t> Send(std::span<const std::byte> bytes) override {
    return connection_->Send(end_, bytes);
  }
  absl::StatusOr<size_t> Receive(std::span<std::byte> into) override {
    return connection_->Receive(end_, into);
  }
  pollfd Sleep(Wanted) override { return {-1, 0, 0}; }
  void Wake() override {}
  void Close() override { connection_->Close(end_); }

 private:
  const std::shared_ptr<Connection> connection_;
  const int end_;
  const std::string name_ = "a rank";
};

}  // namespace

void Network::Silence(int from, int to, Clock::Duration duration) {
  Clock::Time& until = silent_until_[{from, to}];
  until = std::max(until, events_.now() + duration);
  if (duration < kSilenceBreaks) return;
  std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    for (const int end : {0, 1}) {
      if (connection->end(end).host != from || connection->end(1 - end).host != to) continue;
      for (const int broken : {end, 1 - end}) {
        events_.In(kSilenceBreaks + Between(seconds(0), seconds(2)), [weak, broken] {
          const auto still = weak.lock();
          if (still != nullptr && !still->end(broken).broken) still->Break(broken);
        });
      }
    }
  }
}

Clock::Time Network::Arrival(int from, int to) {
  Clock::Duration takes = Between(microseconds(30), microseconds(300));
  if (events_.now() < slow_until_) takes += Between(milliseconds(1), milliseconds(40));
  if (Chance(0.003)) takes += Between(milliseconds(5), milliseconds(250));
  Clock::Time sent = events_.now();
  const auto silent = silent_until_.find({from, to});
  // It is sent again a moment after one can hear again.
  if (silent != silent_until_.end() && silent->second > sent) {
    sent = silent->second + Between(milliseconds(0), milliseconds(200));
  }
  return sent + takes;
}

Network::Ends Network::Connect(int host, int other, std::function<void()> wake,
                               std::function<void()> wake_other) {
  Connection::End near, far;
  near.host = host;
  near.wake = std::move(wake);
  far.host = other;
  far.wake = std::move(wake_other);
  auto connection = std::make_shared<Connection>(*this, std::move(near), std::move(far));
  if (connections_.size() > 100) {
    std::erase_if(connections_, [](const auto& each) { return each.expired(); });
  }
  connections_.push_back(connection);
  auto first = std::make_unique<SimLink>(connection, 0);
  return {std::move(first), std::make_unique<SimLink>(std::move(connection), 1)};
}

bool Network::CutOneSided(int host) {
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (connection == nullptr) continue;
    for (const int end : {0, 1}) {
      if (connection->end(end).host != host || connection->end(end).broken) continue;
      connection->Break(end);
      events_.In(kSilenceBreaks, [weak, end] {
        const auto still = weak.lock();
        if (still != nullptr && !still->end(1 - end).broken) still->Break(1 - end);
      });
      return true;
    }
  }
  return false;
}

}  // namespace taas::sim
