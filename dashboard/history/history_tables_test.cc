#include "dashboard/history/history_tables.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>

#include "dashboard/history/history_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kStartMs = 1'767'225'600'000;
constexpr Clock::WallTime kStart{std::chrono::milliseconds(kStartMs)};
constexpr HistoryPlace kMl{JobKind::kTrainingJob, "ml"};

HistoryJob JobAt(const std::string& uid, int over_seconds, const HistoryPlace& place = kMl) {
  HistoryJob job{.uid = uid, .kind = place.kind, .ns = place.ns, .name = "name-" + uid};
  if (over_seconds >= 0) job.over = kStart + seconds(over_seconds);
  job.search = place.ns + "/name-" + uid;
  job.row = json{{"uid", uid}}.dump(-1, ' ', false, json::error_handler_t::replace);
  job.detail = json{{"attempt", 1}}.dump();
  return job;
}

HistoryEvent EventAt(const std::string& id, int at, const std::string& text) {
  return {.id = id, .at = kStart + seconds(at), .json = json{{"message", text}}.dump()};
}

class HistoryTablesTest : public testing::Test {
 protected:
  HistoryTablesTest() {
    EXPECT_NE(mkdtemp(dir_.data()), nullptr);
    Reopen({});
  }

  void Reopen(HistoryLimits limits) {
    tables_.reset();
    auto opened = OpenHistoryFile(dir_ + "/history.db");
    ASSERT_THAT(opened, IsOk());
    tables_ = std::make_unique<HistoryTables>(std::move(opened->file), limits);
  }
  void Put(const std::vector<HistoryChange>& changes) {
    ASSERT_THAT(tables_->Apply(changes), IsOk());
  }
  static std::vector<std::string> Uids(const HistoryPage& page) {
    std::vector<std::string> uids;
    for (const HistoryRow& row : page.rows) uids.push_back(row.cursor.uid);
    return uids;
  }
  std::vector<std::string> All(const std::vector<HistoryPlace>& places) {
    return Uids(*tables_->Page({.places = places, .limit = 1'000'000}));
  }
  HistoryRecord Load(const std::string& uid) {
    auto record = tables_->Load(uid, {.events = true, .manifest = true, .logs = true});
    EXPECT_THAT(record, IsOk());
    EXPECT_TRUE(record->has_value()) << uid;
    return record->value_or(HistoryRecord{});
  }
  int64_t Count(const char* sql) { return tables_->file().Number(sql).value_or(-1); }
  // All steps; how many.
  int Trim(Clock::WallTime now) {
    for (int steps = 0; steps < 100'000; ++steps) {
      const auto more = tables_->Trim(now);
      EXPECT_THAT(more, IsOk());
      if (!more.value_or(false)) return steps;
    }
    ADD_FAILURE() << "trimming does not end";
    return -1;
  }

  std::string dir_ = testing::TempDir() + "/tables.XXXXXX";
  std::unique_ptr<HistoryTables> tables_;
};

TEST_F(HistoryTablesTest, GivesBackEverythingOfAJobAfterARestart) {
  HistoryJob job = JobAt("u1", 5);
  job.events = {EventAt("b", 2, "second"), EventAt("a", 1, "first")};
  Put({job, HistoryManifest{"u1", 3, R"({"kind":"TrainingJob"})"},
       HistorySeries{"u1", R"({"series":{"loss":[[1,2,0.5]]}})"},
       HistoryLog{"u1", {.replica = "worker-0", .pod_number = 2, .lines = {{"t", "line"}},
                         .truncated = true}},
       HistoryCheckpoints{"u1", R"({"newest":[{"step":5}]})"},
       HistoryCheckpoints{"no", "{}"}, HistoryGone{"u1", kStart + seconds(9)}});
  Reopen({});
  const HistoryRecord record = Load("u1");
  EXPECT_EQ(record.row.row, job.row);
  EXPECT_EQ(record.row.deleted, kStart + seconds(9));
  EXPECT_FALSE(record.row.unseen);
  EXPECT_EQ(record.detail, job.detail);
  EXPECT_THAT(record.events, ElementsAre(HasSubstr("first"), HasSubstr("second")));
  EXPECT_EQ(record.manifest, R"({"kind":"TrainingJob"})");
  EXPECT_EQ(record.checkpoints, R"({"newest":[{"step":5}]})");
  EXPECT_EQ(json::parse(record.curves)["series"]["loss"][0][2], 0.5);
  ASSERT_THAT(record.logs, SizeIs(1));
  EXPECT_EQ(record.logs[0].replica, "worker-0");
  EXPECT_TRUE(record.logs[0].truncated);
  EXPECT_EQ(record.logs[0].lines[0].l, "line");
}

TEST_F(HistoryTablesTest, WhatWasNotAskedForIsNotLoaded) {
  HistoryJob job = JobAt("u1", 5);
  job.events = {EventAt("a", 1, "first")};
  Put({job, HistoryManifest{"u1", 3, "{}"}, HistoryLog{"u1", {.replica = "chief-0"}}});
  const auto record = tables_->Load("u1", {});
  EXPECT_THAT((*record)->events, IsEmpty());
  EXPECT_EQ((*record)->manifest, "");
  EXPECT_THAT((*record)->logs, IsEmpty());
}

TEST_F(HistoryTablesTest, CheckpointsAreKnownAlsoOfAJobThatGoesOn) {
  Put({JobAt("u1", -1), HistoryCheckpoints{"u1", "{}"}, HistoryCheckpoints{"u1", "[1]"},
       JobAt("u2", -1)});
  EXPECT_EQ(*tables_->Checkpoints("u1"), "[1]");
  EXPECT_EQ(*tables_->Checkpoints("u2"), "");
  EXPECT_EQ(*tables_->Checkpoints("no"), "");
  Put({JobAt("u1", 5)});
  EXPECT_EQ(*tables_->Checkpoints("u1"), "[1]") << "the row that is written anew takes them along";
}

TEST_F(HistoryTablesTest, WhatReplicasUsedIsJoinedAndKnownAlsoOfAJobThatGoesOn) {
  const auto used = [](const char* uid, double at, double cpu) {
    return HistoryUsage{uid, {.at = at, .replicas = {{"worker-0", {.cpu = cpu}}}}};
  };
  Put({JobAt("u1", -1), used("u1", 100, 1.5), used("no", 100, 9)});
  Put({used("u1", 105, 2)});
  EXPECT_EQ(json::parse(*tables_->Usage("u1"))["replicas"]["worker-0"],
            json::parse("[[100,1.5],[105,2]]"));
  EXPECT_EQ(*tables_->Usage("no"), "");
  Put({JobAt("u1", 5)});
  EXPECT_EQ((*tables_->Load("u1", {}))->usage, "") << "it was not asked for";
  EXPECT_EQ((*tables_->Load("u1", {.usage = true}))->usage, *tables_->Usage("u1"));
}

// Symptom: the page of a suspended job had no curves, though the history had recorded them.
TEST_F(HistoryTablesTest, CurvesAreKnownAlsoOfAJobThatGoesOnOrIsSuspended) {
  Put({JobAt("u1", -1), HistorySeries{"u1", R"({"series":{"loss":[[1,2,0.5]]}})"},
       JobAt("u2", -1)});
  EXPECT_EQ(json::parse(*tables_->Curves("u1"))["series"]["loss"][0][2], 0.5);
  EXPECT_EQ(*tables_->Curves("u2"), "");
  EXPECT_EQ(*tables_->Curves("no"), "");
}

TEST_F(HistoryTablesTest, AJobThatGoesOnIsKeptAndNotShown) {
  Put({JobAt("u1", -1), HistoryManifest{"u1", 4, "{}"}});
  EXPECT_THAT(All({kMl}), IsEmpty());
  EXPECT_THAT(*tables_->Places(""), IsEmpty());
  EXPECT_EQ(*tables_->Locate("u1"), std::nullopt);
  EXPECT_EQ(tables_->Load("u1", {})->has_value(), false);
  const auto open = *tables_->Open();
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].uid, "u1");
  EXPECT_EQ(open[0].ns, "ml");
  EXPECT_EQ(open[0].generation, 4);
  EXPECT_FALSE(open[0].over);
}

TEST_F(HistoryTablesTest, AJobThatVanishedUnseenIsHistoryFromWhenThatWasNoticed) {
  Put({JobAt("u1", -1), HistoryGone{"u1", kStart + seconds(7), /*unseen=*/true}});
  const auto page = *tables_->Page({.places = {kMl}});
  ASSERT_THAT(page.rows, SizeIs(1));
  EXPECT_TRUE(page.rows[0].unseen);
  EXPECT_EQ(page.rows[0].deleted, kStart + seconds(7));
  EXPECT_THAT(*tables_->Open(), IsEmpty());
}

TEST_F(HistoryTablesTest, AJobKeepsItsPlaceWhateverBecomesOfItLater) {
  Put({JobAt("u1", 1), JobAt("u2", 2)});
  Put({JobAt("u1", 50), HistoryGone{"u1", kStart + seconds(60)}});
  EXPECT_THAT(All({kMl}), ElementsAre("u2", "u1"));
  // The first deletion is the one, and what was still on its way does not undo it.
  Put({HistoryGone{"u1", kStart + seconds(90), true}});
  Put({JobAt("u1", 50)});
  EXPECT_EQ(Load("u1").row.deleted, kStart + seconds(60));
}

TEST_F(HistoryTablesTest, AJobWhoseEndWasTakenBackIsHistoryNoMore) {
  Put({JobAt("u1", 1)});
  Put({JobAt("u1", -1)});
  EXPECT_THAT(All({kMl}), IsEmpty());
  Put({JobAt("u1", 30)});
  EXPECT_EQ(tables_->Page({.places = {kMl}})->rows[0].cursor.over_ms, kStartMs + 30'000);
}

TEST_F(HistoryTablesTest, TheSameEventIsKeptOnceAndOnlyTheNewestAre) {
  HistoryJob job = JobAt("u1", 5);
  for (int i = 0; i < 150; ++i) {
    job.events.push_back(EventAt("e" + std::to_string(i), i, "old " + std::to_string(i)));
  }
  Put({job});
  job.events.clear();
  for (int i = 100; i < 260; ++i) {
    job.events.push_back(EventAt("e" + std::to_string(i), i, "new " + std::to_string(i)));
  }
  Put({job});
  const HistoryRecord record = Load("u1");
  ASSERT_THAT(record.events, SizeIs(kHistoryEventsMax));
  EXPECT_THAT(record.events.front(), HasSubstr("old 60"));
  EXPECT_THAT(record.events[40], HasSubstr("new 100"));
  EXPECT_THAT(record.events.back(), HasSubstr("new 259"));
}

TEST_F(HistoryTablesTest, TheLogOfTheNewestPodOfAReplicaStays) {
  const auto log = [](int number, const std::string& text) {
    return HistoryLog{"u1", {.replica = "ps-0", .pod_number = number, .lines = {{"t", text}}}};
  };
  Put({JobAt("u1", 5), log(2, "second"), log(2, "second, longer"), log(1, "first, late")});
  const HistoryRecord record = Load("u1");
  ASSERT_THAT(record.logs, SizeIs(1));
  EXPECT_EQ(record.logs[0].lines[0].l, "second, longer");
}

TEST_F(HistoryTablesTest, WhatBelongsToNoJobIsPassedOver) {
  Put({HistoryManifest{"no", 1, "{}"}, HistorySeries{"no", R"({"series":{"a":[[1,2,3]]}})"},
       HistoryLog{"no", {.replica = "ps-0"}}, HistoryGone{"no", kStart}});
  for (const char* sql : {"SELECT count(*) FROM jobs", "SELECT count(*) FROM series",
                          "SELECT count(*) FROM logs", "SELECT count(*) FROM bodies"}) {
    EXPECT_EQ(Count(sql), 0) << sql;
  }
}

TEST_F(HistoryTablesTest, HostileTextsStayWhatTheyAre) {
  const std::string evil = std::string("'); DROP TABLE jobs; -- \" \0 % _ \\ \xff \xf0\x9f\x98\x80",
                                       39);
  HistoryJob job = JobAt(evil, 5, {JobKind::kTfJob, "a\"b','[]"});
  job.search = evil;
  job.row = json{{"name", "x' OR 1=1"}}.dump();
  job.events = {{.id = evil, .at = kStart, .json = "{}"}};
  Put({job, HistoryManifest{evil, 1, evil},
       HistoryLog{evil, {.replica = evil, .lines = {{"t", "a\0b\xff"}}}}});
  Reopen({});
  EXPECT_THAT(All({{JobKind::kTfJob, "a\"b','[]"}}), ElementsAre(evil));
  EXPECT_THAT(All({{JobKind::kTfJob, "a"}, kMl}), IsEmpty());
  EXPECT_EQ(Load(evil).manifest, evil);
  EXPECT_THAT(*tables_->Places("a\"b','[]"), SizeIs(1));
  // A search means what it says: no pattern, no expression.
  const auto search = [&](const std::string& word) {
    const HistoryPlace place{JobKind::kTfJob, "a\"b','[]"};
    return tables_->Page({.places = {place}, .words = {word}})->rows.size();
  };
  EXPECT_EQ(search("drop table"), 0u);
  EXPECT_EQ(search("DROP TABLE"), 1u);
  EXPECT_EQ(search("% _"), 1u);
  EXPECT_EQ(search("%x%"), 0u);
  EXPECT_EQ(search("'); "), 1u);
}

TEST_F(HistoryTablesTest, AllWordsOfASearchAreInTheJob) {
  Put({JobAt("bert", 1), JobAt("gpt", 2)});
  const auto search = [&](std::vector<std::string> words) {
    return Uids(*tables_->Page({.places = {kMl}, .words = std::move(words)}));
  };
  EXPECT_THAT(search({"ml/", "gpt"}), ElementsAre("gpt"));
  EXPECT_THAT(search({"name"}), ElementsAre("gpt", "bert"));
  EXPECT_THAT(search({"bert", "gpt"}), IsEmpty());
}

// Of random jobs of random places with many at the same moment, pages of any length put together
// are the rows of the caller in order, and never one more.
TEST_F(HistoryTablesTest, PagesPutTogetherAreAllRowsOfTheCaller) {
  const uint64_t seed = SystemRandom().Next();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  std::vector<HistoryPlace> places;
  for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    for (const char* ns : {"a", "b", "a/b", ""}) places.push_back({kind, ns});
  }
  std::vector<HistoryChange> changes;
  std::vector<std::pair<int, std::string>> shown;
  const std::vector<HistoryPlace> mine = {places[random.Below(8)], places[random.Below(8)]};
  for (int i = 0; i < 300; ++i) {
    const HistoryPlace& place = places[random.Below(places.size())];
    const int over = static_cast<int>(random.Below(6)) - 1;
    const std::string uid = "u" + std::to_string(random.Next());
    changes.push_back(JobAt(uid, over, place));
    if (over >= 0 && std::count(mine.begin(), mine.end(), place) > 0) shown.emplace_back(over, uid);
  }
  Put(changes);
  std::sort(shown.rbegin(), shown.rend());
  std::vector<std::string> wanted, got;
  for (const auto& [over, uid] : shown) wanted.push_back(uid);
  HistoryQuery query{.places = mine, .limit = 1 + static_cast<int>(random.Below(7))};
  for (bool more = true; more;) {
    const auto page = tables_->Page(query);
    ASSERT_THAT(page, IsOk());
    for (const std::string& uid : Uids(*page)) got.push_back(uid);
    more = page->more;
    ASSERT_TRUE(!more || page->rows.size() == static_cast<size_t>(query.limit));
    if (more) query.before = page->rows.back().cursor;
  }
  EXPECT_EQ(got, wanted);
}

// A page that ends where the caller's rows end has no next, though others' rows follow.
TEST_F(HistoryTablesTest, OthersRowsAreNoNextPage) {
  Put({JobAt("hidden-1", 1, {JobKind::kTrainingJob, "secret"}), JobAt("mine", 2),
       JobAt("hidden-2", 3, {JobKind::kTrainingJob, "secret"})});
  const auto page = *tables_->Page({.places = {kMl}, .limit = 1});
  EXPECT_THAT(Uids(page), ElementsAre("mine"));
  EXPECT_FALSE(page.more);
  EXPECT_THAT(All({}), IsEmpty());
}

TEST_F(HistoryTablesTest, JobsGoWhenTheyAreTooOldWithAllThatTheyHad) {
  HistoryJob old = JobAt("old", 0);
  old.events = {EventAt("e", 0, "x")};
  Put({old, HistorySeries{"old", R"({"series":{"a":[[1,2,3]]}})"},
       HistoryLog{"old", {.replica = "ps-0"}}, JobAt("new", 60), JobAt("running", -1)});
  Trim(kStart + hours(24 * 30) + seconds(1));
  EXPECT_THAT(All({kMl}), ElementsAre("new"));
  EXPECT_EQ(Count("SELECT count(*) FROM jobs"), 2);
  EXPECT_EQ(Count("SELECT count(*) FROM bodies"), 2);
  for (const char* sql : {"SELECT count(*) FROM series", "SELECT count(*) FROM logs",
                          "SELECT count(*) FROM events"}) {
    EXPECT_EQ(Count(sql), 0) << sql;
  }
}

TEST_F(HistoryTablesTest, OfTooManyJobsTheOldestGo) {
  Reopen({.jobs = 40});
  std::vector<HistoryChange> changes = {JobAt("running", -1)};
  for (int i = 0; i < 100; ++i) changes.push_back(JobAt("u" + std::to_string(1'000 + i), i));
  Put(changes);
  EXPECT_GT(Trim(kStart), 1) << "bit by bit";
  const auto left = All({kMl});
  ASSERT_THAT(left, SizeIs(40));
  EXPECT_EQ(left.front(), "u1099");
  EXPECT_EQ(left.back(), "u1060");
  EXPECT_THAT(*tables_->Open(), SizeIs(41));
}

std::string Noise(size_t bytes, uint64_t seed) {
  SeededRandom random(seed);
  std::string text;
  while (text.size() < bytes) text += std::to_string(random.Next());
  return text;
}

TEST_F(HistoryTablesTest, AFileThatIsTooLargeLosesItsOldestJobsAndShrinks) {
  constexpr int64_t kLimit = 4 << 20;
  Reopen({.bytes = kLimit});
  std::vector<HistoryChange> changes;
  for (int i = 0; i < 300; ++i) {
    const std::string uid = "u" + std::to_string(1'000 + i);
    changes.push_back(JobAt(uid, i));
    changes.push_back(HistoryManifest{uid, 1, Noise(200'000, static_cast<uint64_t>(i))});
  }
  Put(changes);
  constexpr int64_t kKept = HistoryTables::kFreeBytesKept + kLimit;
  EXPECT_GT(*tables_->BytesInUse(), kKept + kLimit);
  EXPECT_GT(Trim(kStart), 10) << "bit by bit";
  EXPECT_LE(*tables_->BytesInUse(), kLimit);
  EXPECT_GT(*tables_->BytesInUse(), kLimit / 3) << "no more than needed";
  EXPECT_EQ(All({kMl}).front(), "u1299");
  EXPECT_LE(Count("PRAGMA page_count") * Count("PRAGMA page_size"), kKept);
}

TEST_F(HistoryTablesTest, JobsThatGoOnDoNotTakeMoreRoomThanThereIs) {
  constexpr int64_t kLimit = 1 << 20;
  Reopen({.bytes = kLimit});
  const auto log = [](int i) {
    return HistoryLog{"u", {.replica = "worker-" + std::to_string(i),
                            .lines = {{"t", Noise(60'000, static_cast<uint64_t>(i))}}}};
  };
  Put({JobAt("u", -1)});
  for (int i = 0; i < 300; ++i) Put({log(i)});
  Trim(kStart);
  EXPECT_LT(*tables_->BytesInUse(), kLimit + kLimit / 4);
  EXPECT_THAT(*tables_->Open(), SizeIs(1));
}

TEST_F(HistoryTablesTest, AFullDiskChangesNothingAndIsToldApart) {
  Put({JobAt("u1", 1)});
  const int64_t pages = Count("PRAGMA page_count");
  const std::string limit = "PRAGMA max_page_count = " + std::to_string(pages);
  ASSERT_THAT(tables_->file().Run(limit.c_str()), IsOk());
  const auto status = tables_->Apply(
      {JobAt("u2", 2), HistoryManifest{"u2", 1, Noise(100'000, 1)}});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("full")));
  EXPECT_THAT(All({kMl}), ElementsAre("u1"));
  ASSERT_THAT(tables_->file().Run("PRAGMA max_page_count = 1000000"), IsOk());
  Put({JobAt("u2", 2)});
  EXPECT_THAT(All({kMl}), ElementsAre("u2", "u1"));
}

TEST_F(HistoryTablesTest, AValueThatIsDamagedIsAsIfItWereNotThere) {
  Put({JobAt("u1", 1), HistoryManifest{"u1", 1, R"({"a":1})"},
       HistorySeries{"u1", R"({"series":{"a":[[1,2,3]]}})"},
       HistoryLog{"u1", {.replica = "ps-0", .lines = {{"t", "x"}}}}});
  ASSERT_THAT(tables_->file().Run("UPDATE bodies SET manifest = x'1f8b08ff';"
                                  "UPDATE series SET curves = x'00';"
                                  "UPDATE logs SET tail = zeroblob(40);"),
              IsOk());
  const HistoryRecord record = Load("u1");
  EXPECT_EQ(record.manifest, "");
  EXPECT_EQ(record.curves, "");
  ASSERT_THAT(record.logs, SizeIs(1));
  EXPECT_THAT(record.logs[0].lines, IsEmpty());
}

// The time that a page takes must not depend on how many rows the caller does not see, beyond
// passing over their entries in the index.
TEST_F(HistoryTablesTest, APageOfTenThousandJobsIsFoundAtOnce) {
  std::vector<HistoryChange> changes;
  for (int i = 0; i < 10'000; ++i) {
    HistoryJob job = JobAt("uid-" + std::to_string(100'000 + i), i,
                           {JobKind::kTrainingJob, "team-" + std::to_string(i % 50)});
    job.row = std::string(1'000, 'r');
    job.detail = std::string(2'000, 'd');
    changes.push_back(std::move(job));
  }
  Put(changes);
  Reopen({});
  const auto timed = [](const char* what, const std::function<size_t()>& work, size_t rows) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(work(), rows) << what;
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin;
    std::cout << what << ": " << took.count() << " ms\n";
    // A page that went through all bodies would read 40 MB; this is for a machine that is busy.
    EXPECT_LT(took.count(), 2'000) << what;
  };
  const auto rows = [&](HistoryQuery query) { return tables_->Page(query)->rows.size(); };
  const std::vector<HistoryPlace> all = *tables_->Places("");
  EXPECT_THAT(all, SizeIs(50));
  timed("places", [&] { return tables_->Places("")->size(); }, 50);
  timed("first page", [&] { return rows({.places = all}); }, 100);
  timed("first page again", [&] { return rows({.places = all}); }, 100);
  timed("one of 50 teams", [&] { return rows({.places = {all[7]}}); }, 100);
  timed("nobody", [&] { return rows({}); }, 0);
  timed("a rare word", [&] { return rows({.places = all, .words = {"100007"}}); }, 1);
  timed("the last page", [&] {
    return rows({.places = all, .before = HistoryCursor{kStartMs + 50'000, ""}});
  }, 50);
}

}  // namespace
}  // namespace taas::dashboard
