#include "dashboard/server/row_table.h"

#include <algorithm>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;

Sight Everything() {
  Sight sight;
  sight.jobs[JobKind::kTrainingJob].all = true;
  return sight;
}

RowTable::Place At(const std::string& uid, const std::string& ns = "a") {
  return {.uid = uid, .ns = ns, .kind = JobKind::kTrainingJob};
}

std::string Text(const std::string& uid, int value) {
  return json{{"uid", uid}, {"value", value}}.dump();
}

TEST(RowTableTest, WhoHasSeenNothingGetsAllAndThenWhatHasChanged) {
  RowTable table("e");
  table.Put("a/x", At("1"), Text("1", 1));
  table.Put("a/y", At("2"), Text("2", 1));
  const json full = json::parse(table.Since(0, Everything()));
  EXPECT_TRUE(full["full"]);
  EXPECT_EQ(full["rows"].size(), 2);
  const uint64_t seen = table.last();
  EXPECT_EQ(table.Since(seen, Everything()), "");
  EXPECT_FALSE(table.Put("a/x", At("1"), Text("1", 1)));
  EXPECT_TRUE(table.Put("a/x", At("1"), Text("1", 2)));
  table.Put("a/x", At("1"), Text("1", 3));
  table.Remove("a/y");
  const json delta = json::parse(table.Since(seen, Everything()));
  EXPECT_FALSE(delta["full"]);
  EXPECT_EQ(delta["rows"], json::array({json{{"uid", "1"}, {"value", 3}}}));
  EXPECT_EQ(delta["gone"], json({"2"}));
}

TEST(RowTableTest, AnEmptyTableIsNewsOnce) {
  RowTable table("e");
  EXPECT_EQ(json::parse(table.Since(0, Everything()))["rows"], json::array());
  EXPECT_EQ(table.Since(table.last(), Everything()), "");
}

TEST(RowTableTest, AnotherJobOfTheSameNameTakesTheFirstOnesPlace) {
  RowTable table("e");
  table.Put("a/x", At("1"), Text("1", 1));
  const uint64_t seen = table.last();
  table.Put("a/x", At("2"), Text("2", 1));
  const json delta = json::parse(table.Since(seen, Everything()));
  EXPECT_EQ(delta["gone"], json({"1"}));
  EXPECT_EQ(delta["rows"][0]["uid"], "2");
  EXPECT_EQ(table.size(), 1);
}

TEST(RowTableTest, WhatIsOutOfSightIsNeitherShownNorMissed) {
  RowTable table("e");
  Sight sight;
  sight.jobs[JobKind::kTrainingJob].namespaces = {"a"};
  table.Put("a/x", At("1", "a"), Text("1", 1));
  table.Put("b/y", At("2", "b"), Text("2", 1));
  EXPECT_EQ(json::parse(table.Since(0, sight))["rows"].size(), 1);
  const uint64_t seen = table.last();
  table.Remove("b/y");
  table.Put("b/z", At("3", "b"), Text("3", 1));
  EXPECT_EQ(table.Since(seen, sight), "");
  EXPECT_EQ(json::parse(table.All(sight))["jobs"].size(), 1);
}

TEST(RowTableTest, ACursorOfAnotherProcessOrOfNobodyIsNone) {
  RowTable table("epoch");
  table.Put("a/x", At("1"), Text("1", 1));
  EXPECT_EQ(table.NumberOf(table.CursorOf(table.last())), table.last());
  for (const char* cursor : {"", "other-1", "epoch-", "epoch-x", "epoch-1x", "epoch-99", "epoch--1",
                             "epoch-99999999999999999999"}) {
    EXPECT_EQ(table.NumberOf(cursor), 0) << cursor;
  }
}

TEST(RowTableTest, WhoWasAwayForLongerThanTombsAreKeptGetsAll) {
  RowTable table("e");
  table.Put("a/keep", At("keep"), Text("keep", 1));
  const uint64_t seen = table.last();
  for (size_t i = 0; i <= RowTable::kTombsMax; ++i) {
    table.Put("a/x", At("x" + std::to_string(i)), "{}");
    table.Remove("a/x");
  }
  EXPECT_TRUE(json::parse(table.Since(seen, Everything()))["full"]);
}

TEST(RowTableTest, NamespacesAreCounted) {
  RowTable table("e");
  const uint64_t version = table.namespaces_version();
  table.Put("a/x", At("1", "a"), "{}");
  table.Put("a/y", At("2", "a"), "{}");
  EXPECT_EQ(table.namespaces_version(), version + 1);
  table.Put("a/y", At("3", "a"), "{}");
  table.Remove("a/x");
  EXPECT_EQ(table.namespaces().count("a"), 1);
  table.Remove("a/y");
  EXPECT_EQ(table.namespaces().count("a"), 0);
}

// Tabs that join, fall behind and come back all end with the table as it is.
TEST(RowTableTest, EveryTabEndsWithWhatIsThere) {
  SeededRandom random(7);
  RowTable table("e");
  std::map<std::string, json> truth;  // By uid.
  struct Tab {
    uint64_t seen = 0;
    std::map<std::string, json> rows;
  };
  std::vector<Tab> tabs(5);
  const auto catch_up = [&](Tab& tab) {
    const std::string text = table.Since(tab.seen, Everything());
    tab.seen = table.last();
    if (text.empty()) return;
    const json event = json::parse(text);
    if (event["full"]) tab.rows.clear();
    // Gone first: a job may have gone and another have come in one event.
    for (const json& uid : event["gone"]) tab.rows.erase(uid);
    for (const json& row : event["rows"]) tab.rows[row["uid"]] = row;
  };
  int next_uid = 0;
  std::map<std::string, std::string> uids;
  for (int step = 0; step < 20'000; ++step) {
    const std::string key = "a/" + std::to_string(random.Next() % 20);
    const uint64_t dice = random.Next() % 10;
    if (dice == 0 && uids.count(key) > 0) {
      table.Remove(key);
      truth.erase(uids[key]);
      uids.erase(key);
    } else if (dice < 6) {
      if (uids.count(key) == 0 || dice == 1) {
        if (uids.count(key) > 0) truth.erase(uids[key]);
        uids[key] = std::to_string(next_uid++);
      }
      const std::string text = Text(uids[key], static_cast<int>(random.Next() % 5));
      table.Put(key, At(uids[key]), text);
      truth[uids[key]] = json::parse(text);
    } else {
      catch_up(tabs[random.Next() % tabs.size()]);
    }
  }
  for (Tab& tab : tabs) {
    catch_up(tab);
    EXPECT_EQ(tab.rows, truth);
  }
}

}  // namespace
}  // namespace taas::dashboard
