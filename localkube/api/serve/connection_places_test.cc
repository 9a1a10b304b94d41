#include "localkube/api/serve/connection_places.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace taas::localkube {
namespace {

class ConnectionPlacesTest : public testing::Test {
 protected:
  using Places = ConnectionPlaces<std::string>;

  Places::Place Take(const std::string& name) {
    names_.push_back(std::make_shared<std::string>(name));
    return places_.Take(names_.back());
  }
  static std::string Dropped(const Places::Place& place) {
    return place.dropped == nullptr ? "" : *place.dropped;
  }

  Places places_{{.all_max = 3, .probes_max = 1}};
  std::vector<std::shared_ptr<std::string>> names_;
};

// 988 connections that sent half a line each kept kubectl out for five minutes.
TEST_F(ConnectionPlacesTest, TheOldestStrangerGivesWay) {
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(Dropped(Take(name)), "");
  EXPECT_EQ(Dropped(Take("d")), "a");
  EXPECT_EQ(Dropped(Take("e")), "b");
  EXPECT_EQ(places_.All().size(), 3u);
}

TEST_F(ConnectionPlacesTest, WhoIsTrustedKeepsItsPlace) {
  places_.Trust(Take("owner").id);
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_NE(Dropped(Take(name)), "owner");
  EXPECT_EQ(places_.All().size(), 3u);
}

TEST_F(ConnectionPlacesTest, WhenAllAreTrustedAProbeIsHeard) {
  std::vector<uint64_t> trusted;
  for (const char* name : {"a", "b", "c"}) {
    trusted.push_back(Take(name).id);
    places_.Trust(trusted.back());
  }
  const Places::Place probe = Take("probe");
  EXPECT_TRUE(probe.spare);
  EXPECT_EQ(Dropped(probe), "");
  EXPECT_EQ(Dropped(Take("another")), "probe");
  places_.Leave(trusted[0]);
  const Places::Place next = Take("next");
  EXPECT_FALSE(next.spare);
  EXPECT_EQ(Dropped(next), "another");
}

}  // namespace
}  // namespace taas::localkube
