// Which connections a server has, and which of them gives way when all places are taken.
//
// Who has shown the token is trusted and keeps its place. Of the others the oldest is dropped for
// a new one, so that strangers cannot lock out the owner however many connections they hold. When
// all places are trusted ones' there are a few more for probes: who comes then is heard, and told
// to come later unless it asks how the server is.
//
// Ownership: connections are their own owners'. Threads: any. Errors: none.
//
//   const auto place = places.Take(session);  // place.dropped->Close()
//   places.Trust(place.id);
//   places.Leave(place.id);

#ifndef LOCALKUBE_API_SERVE_CONNECTION_PLACES_H_
#define LOCALKUBE_API_SERVE_CONNECTION_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace taas::localkube {

template <typename Connection>
class ConnectionPlaces {
 public:
  struct Limits {
    size_t all_max = 0;
    size_t probes_max = 0;  // Beyond these, of connections that are not trusted.
  };
  struct Place {
    uint64_t id = 0;
    bool spare = false;                   // All other places are trusted ones'.
    std::shared_ptr<Connection> dropped;  // Null: nobody gave way.
  };

  explicit ConnectionPlaces(Limits limits) : limits_(limits) {}

  Place Take(const std::shared_ptr<Connection>& connection) {
    std::lock_guard lock(mutex_);
    Place place{.id = ++last_id_};
    place.spare = trusted_.size() >= limits_.all_max;
    const size_t room = place.spare ? limits_.probes_max : limits_.all_max - trusted_.size();
    if (strangers_.size() >= room && !strangers_.empty()) {
      place.dropped = strangers_.begin()->second.lock();
      strangers_.erase(strangers_.begin());
    }
    strangers_[place.id] = connection;
    return place;
  }

  // It has shown who it is.
  void Trust(uint64_t id) {
    std::lock_guard lock(mutex_);
    auto stranger = strangers_.extract(id);
    if (!stranger.empty()) trusted_.insert(std::move(stranger));
  }

  void Leave(uint64_t id) {
    std::lock_guard lock(mutex_);
    strangers_.erase(id);
    trusted_.erase(id);
  }

  std::vector<std::shared_ptr<Connection>> All() const {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Connection>> out;
    for (const auto* connections : {&strangers_, &trusted_}) {
      for (const auto& [id, weak] : *connections) {
        if (auto connection = weak.lock()) out.push_back(std::move(connection));
      }
    }
    return out;
  }

 private:
  const Limits limits_;
  mutable std::mutex mutex_;
  uint64_t last_id_ = 0;
  std::map<uint64_t, std::weak_ptr<Connection>> strangers_;  // The oldest first.
  std::map<uint64_t, std::weak_ptr<Connection>> trusted_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_SERVE_CONNECTION_PLACES_H_
