#include "localkube/api/store.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/event_log.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

using ::testing::HasSubstr;

std::string TempPath(const std::string& name) {
  std::string path = testing::TempDir() + "/" + name + ".XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  return path + "/store.db";
}

Store::Write Put(const std::string& name, uint64_t expected, const std::string& value,
                 const std::string& resource = "pods") {
  return {.key = {resource, "ns", name},
          .expected_revision = expected,
          .render = [value](uint64_t revision) { return value + "@" + std::to_string(revision); }};
}

Store::Write Delete(const std::string& name, uint64_t expected) {
  Store::Write write = Put(name, expected, "last");
  write.remove = true;
  return write;
}

std::unique_ptr<Store> OpenMemory(size_t history_events_max = 2'048) {
  auto store = Store::Open({.path = ":memory:", .history_events_max = history_events_max});
  EXPECT_THAT(store, IsOk());
  return *std::move(store);
}

TEST(StoreTest, EachWriteGetsTheNextRevisionAndRendersItsText) {
  auto store = OpenMemory();
  EXPECT_EQ(store->Commit(Put("a", 0, "x"))->revision, 1u);
  EXPECT_EQ(*store->Commit(Put("b", 0, "y"))->text, "y@2");
  EXPECT_EQ(store->Commit(Put("a", 1, "z"))->revision, 3u);
  EXPECT_EQ(*store->Get({"pods", "ns", "a"})->text, "z@3");
  EXPECT_EQ(store->revision(), 3u);
}

TEST(StoreTest, AWriteThatExpectsAnotherRevisionChangesNothing) {
  auto store = OpenMemory();
  ASSERT_THAT(store->Commit(Put("a", 0, "x")), IsOk());
  EXPECT_THAT(store->Commit(Put("a", 0, "y")), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(store->Commit(Put("a", 7, "y")),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("has revision 1, expected 7")));
  EXPECT_THAT(store->Commit(Put("b", 1, "y")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store->Commit(Delete("b", 1)), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(store->revision(), 1u);
}

TEST(StoreTest, ADeletedEntryIsGoneAndItsEventCarriesTheRevisionOfTheDeletion) {
  auto store = OpenMemory();
  ASSERT_THAT(store->Commit(Put("a", 0, "x")), IsOk());
  EXPECT_EQ(*store->Commit(Delete("a", 1))->text, "last@2");
  EXPECT_THAT(store->Get({"pods", "ns", "a"}), StatusIs(absl::StatusCode::kNotFound));
}

TEST(StoreTest, AReopenedStoreHasAllEntriesAndGoesOnCounting) {
  const std::string path = TempPath("reopen");
  {
    auto store = Store::Open({.path = path});
    ASSERT_THAT(store, IsOk());
    ASSERT_THAT((*store)->Commit(Put("a", 0, "x")), IsOk());
    ASSERT_THAT((*store)->Commit(Put("b", 0, "y")), IsOk());
    ASSERT_THAT((*store)->Commit(Delete("b", 2)), IsOk());
  }
  auto store = Store::Open({.path = path});
  ASSERT_THAT(store, IsOk());
  EXPECT_EQ(*(*store)->Get({"pods", "ns", "a"})->text, "x@1");
  EXPECT_EQ((*store)->List({.resource = "pods"})->entries.size(), 1u);
  EXPECT_EQ((*store)->Commit(Put("c", 0, "z"))->revision, 4u);
  // History is not kept: who resumes from before must list again.
  EXPECT_THAT((*store)->Watch({.after_revision = 1}, [](const StoreEvent&) {}),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST(StoreTest, ASecondOpenOfTheSameFileIsRefusedWithASentence) {
  const std::string path = TempPath("twice");
  auto store = Store::Open({.path = path});
  ASSERT_THAT(store, IsOk());
  EXPECT_THAT(Store::Open({.path = path}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another process")));
}

TEST(StoreTest, AFileThatIsNoStoreIsRefusedWithItsPath) {
  const std::string path = TempPath("text");
  FILE* file = fopen(path.c_str(), "w");
  for (int i = 0; i < 1'000; ++i) fputs("not a database\n", file);
  fclose(file);
  EXPECT_THAT(Store::Open({.path = path}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(path)));
}

TEST(StoreTest, PagesOfAListShowTheStateOfTheFirstPage) {
  auto store = OpenMemory();
  for (const char* name : {"a", "b", "c", "d"}) {
    ASSERT_THAT(store->Commit(Put(name, 0, "x")), IsOk());
  }
  auto first = store->List({.resource = "pods", .limit = 2});
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->remaining, 2u);
  ASSERT_THAT(store->Commit(Delete("c", 3)), IsOk());
  ASSERT_THAT(store->Commit(Put("d", 4, "changed")), IsOk());
  ASSERT_THAT(store->Commit(Put("e", 0, "late")), IsOk());
  auto second = store->List({.resource = "pods",
                             .at_revision = first->revision,
                             .after = first->entries.back().key,
                             .limit = 2});
  ASSERT_THAT(second, IsOk());
  ASSERT_EQ(second->entries.size(), 2u);
  EXPECT_EQ(*second->entries[0].text, "x@3");
  EXPECT_EQ(*second->entries[1].text, "x@4");
}

TEST(StoreTest, AListAtACompactedRevisionIsOutOfRange) {
  auto store = OpenMemory(2);
  for (const char* name : {"a", "b", "c", "d"}) {
    ASSERT_THAT(store->Commit(Put(name, 0, "x")), IsOk());
  }
  EXPECT_THAT(store->List({.at_revision = 1}), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(store->List({.at_revision = 5}), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(store->List({.at_revision = 2}), IsOk());
}

TEST(StoreTest, AListOfANamespaceShowsOnlyThat) {
  auto store = OpenMemory();
  for (const char* ns : {"one", "two"}) {
    Store::Write write = Put("a", 0, ns);
    write.key.ns = ns;
    ASSERT_THAT(store->Commit(write), IsOk());
  }
  EXPECT_EQ(store->List({.resource = "pods", .ns = "two"})->entries.size(), 1u);
  EXPECT_EQ(store->List({.ns = "one"})->entries.size(), 1u);
  EXPECT_EQ(store->List({.resource = "nodes"})->entries.size(), 0u);
}

TEST(StoreWatchTest, WithoutARevisionTheStateComesFirstThenItsEndThenWhatFollows) {
  auto store = OpenMemory();
  ASSERT_THAT(store->Commit(Put("a", 0, "x")), IsOk());
  EventLog log;
  auto watch = store->Watch({.resource = "pods"}, log.callback());
  ASSERT_THAT(watch, IsOk());
  ASSERT_THAT(store->Commit(Put("b", 0, "y", "nodes")), IsOk());
  ASSERT_THAT(store->Commit(Delete("a", 1)), IsOk());
  EXPECT_EQ(log.WaitFor(3), (std::vector<std::string>{"+a@1", "end@1", "-a@3"}));
}

TEST(StoreWatchTest, AResumedWatchGetsEveryLaterEventOnceAndInOrder) {
  auto store = OpenMemory();
  ASSERT_THAT(store->Commit(Put("a", 0, "x")), IsOk());
  ASSERT_THAT(store->Commit(Put("a", 1, "y")), IsOk());
  ASSERT_THAT(store->Commit(Put("a", 2, "z")), IsOk());
  EventLog log;
  auto watch = store->Watch({.after_revision = 1}, log.callback());
  ASSERT_THAT(watch, IsOk());
  ASSERT_THAT(store->Commit(Put("b", 0, "x")), IsOk());
  EXPECT_EQ(log.WaitFor(3), (std::vector<std::string>{"~a@2", "~a@3", "+b@4"}));
}

TEST(StoreWatchTest, ABookmarkStandsBehindAllEventsBeforeIt) {
  auto store = OpenMemory();
  EventLog log;
  auto watch = store->Watch({.resource = "pods", .after_revision = 0}, log.callback());
  ASSERT_THAT(watch, IsOk());
  ASSERT_THAT(store->Commit(Put("a", 0, "x")), IsOk());
  ASSERT_THAT(store->Commit(Put("n", 0, "x", "nodes")), IsOk());
  log.WaitFor(1);
  (*watch)->RequestBookmark();
  EXPECT_EQ(log.WaitFor(2), (std::vector<std::string>{"+a@1", "bookmark@2"}));
}

TEST(StoreWatchTest, AWatchThatFallsBehindTheHistoryIsToldAndEnds) {
  auto store = OpenMemory(4);
  EventLog log;
  log.Block();
  auto watch = store->Watch({.after_revision = 0}, log.callback());
  ASSERT_THAT(watch, IsOk());
  ASSERT_THAT(store->Commit(Put("first", 0, "x")), IsOk());
  log.WaitUntilBlocked();
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(store->Commit(Put("p" + std::to_string(i), 0, "x")), IsOk());
  }
  log.Unblock();
  EXPECT_EQ(log.WaitFor(2), (std::vector<std::string>{"+first@1", "gone@11"}));
}

TEST(StoreWatchTest, NoCallbackRunsAfterTheHandleIsGone) {
  auto store = OpenMemory();
  EventLog log;
  auto watch = store->Watch({.after_revision = 0}, log.callback());
  ASSERT_THAT(watch, IsOk());
  ASSERT_THAT(store->Commit(Put("a", 0, "x")), IsOk());
  log.WaitFor(1);
  watch->reset();
  ASSERT_THAT(store->Commit(Put("b", 0, "x")), IsOk());
  EventLog later;
  auto second = store->Watch({.after_revision = 1}, later.callback());
  later.WaitFor(1);
  EXPECT_EQ(log.count(), 1u);
}

// Symptom: a server that ended while an event was under way freed the account of a watch twice.
TEST(StoreWatchTest, NothingIsLeftOfWhatACallbackHoldsWhenTheHandleIsGone) {
  auto store = OpenMemory();
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = held;
  auto watch = store->Watch({.after_revision = 0, .ready = [held] { return *held == 0; }},
                            [held](const StoreEvent&) {});
  held.reset();
  // The second one's turn comes in the same round; there it is kept.
  std::promise<void> reached, go_on;
  auto second = store->Watch({.after_revision = 0}, [&](const StoreEvent&) {
    reached.set_value();
    go_on.get_future().wait();
  });
  ASSERT_THAT(store->Commit(Put("a", 0, "x")), IsOk());
  reached.get_future().wait();
  watch->reset();
  EXPECT_TRUE(seen.expired());
  go_on.set_value();
}

TEST(StoreWatchTest, ManyWritersLoseNoUpdateAndEveryWatchSeesOneOrder) {
  auto store = OpenMemory(100'000);
  EventLog log;
  auto watch = store->Watch({.after_revision = 0}, log.callback());
  ASSERT_THAT(watch, IsOk());
  constexpr int kThreads = 4, kWrites = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&store] {
      for (int done = 0; done < kWrites;) {
        auto now = store->Get({"pods", "ns", "shared"});
        if (store->Commit(Put("shared", now.ok() ? now->revision : 0, "x")).ok()) ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->revision(), uint64_t{kThreads * kWrites});
  const std::vector<std::string> seen = log.WaitFor(kThreads * kWrites);
  ASSERT_EQ(seen.size(), size_t{kThreads * kWrites});
  EXPECT_EQ(seen.front(), "+shared@1");
  for (size_t i = 1; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], "~shared@" + std::to_string(i + 1));
  }
}

// The child acknowledges each write on a pipe after Commit returned; the parent kills it in the
// middle.
void WriteUntilKilled(const std::string& path, int pipe, int round) {
  auto store = Store::Open({.path = path});
  if (!store.ok()) _exit(1);
  for (uint32_t i = 0;; ++i) {
    const std::string name = std::to_string(round) + "-" + std::to_string(i);
    if (!(*store)->Commit(Put(name, 0, std::string(200, 'x'))).ok()) _exit(2);
    if (write(pipe, &i, sizeof i) != sizeof i) _exit(3);
  }
}

TEST(StoreCrashTest, EveryAcknowledgedWriteIsThereAfterKillMinusNine) {
  const std::string path = TempPath("crash");
  const uint64_t seed = 20261121;
  SeededRandom random(seed);
  std::set<std::string> acknowledged;
  for (int round = 0; round < 10; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      WriteUntilKilled(path, ends[1], round);
    }
    close(ends[1]);
    const uint64_t kill_after = 1 + random.Below(120);
    uint32_t i = 0;
    bool killed = false;
    for (uint64_t count = 1; read(ends[0], &i, sizeof i) == sizeof i; ++count) {
      acknowledged.insert(std::to_string(round) + "-" + std::to_string(i));
      if (count == kill_after && !killed) {
        killed = true;
        kill(child, SIGKILL);
      }
    }
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "seed " << seed << ", round " << round;
    auto store = Store::Open({.path = path});
    ASSERT_THAT(store, IsOk());
    for (const std::string& name : acknowledged) {
      ASSERT_THAT((*store)->Get({"pods", "ns", name}), IsOk()) << "seed " << seed;
    }
  }
}

// A write whose text could not be made (no memory, a value that cannot be written) left the group
// commit with nobody to lead it: it and every later write of the cluster waited for ever.
TEST(StoreTest, AWriteThatThrowsFailsAloneAndLaterWritesGoOn) {
  auto store = OpenMemory();
  Store::Write bad = Put("bad", 0, "x");
  bad.render = [](uint64_t) -> std::string { throw std::runtime_error("no text"); };
  EXPECT_THAT(store->Commit(bad), StatusIs(absl::StatusCode::kInternal, HasSubstr("no text")));
  EXPECT_EQ(store->Commit(Put("a", 0, "x"))->revision, 1u) << "no revision is lost";
  // In one batch with others, too.
  std::vector<std::thread> writers;
  std::atomic<int> written = 0, failed = 0;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        const bool good = store->Commit(Put("w" + std::to_string(i * 50 + k), 0, "x")).ok();
        written += good ? 1 : 0;
        failed += store->Commit(bad).ok() ? 0 : 1;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(written, 400);
  EXPECT_EQ(failed, 400);
  EXPECT_EQ(store->revision(), 401u);
  EXPECT_THAT(store->Get({"pods", "ns", "bad"}), StatusIs(absl::StatusCode::kNotFound));
}

// A watch got all that exists at once, however slowly its client read, and was cut off when that
// was more than a connection may hold back; the next one ended in the same way.
TEST(StoreWatchTest, WhatExistsWaitsUntilTheWatchIsReady) {
  auto store = OpenMemory();
  for (const char* name : {"a", "b", "c"}) ASSERT_THAT(store->Commit(Put(name, 0, "x")), IsOk());
  EventLog log;
  std::atomic<int> room = 1;
  std::atomic<int> asked = 0;
  auto watch = store->Watch({.resource = "pods",
                             .ready =
                                 [&] {
                                   ++asked;
                                   return room-- > 0;
                                 }},
                            log.callback());
  ASSERT_THAT(watch, IsOk());
  EXPECT_EQ(log.WaitFor(1), std::vector<std::string>{"+a@1"});
  while (asked < 2) std::this_thread::yield();
  ASSERT_THAT(store->Commit(Put("d", 0, "x")), IsOk());
  room = 100;
  (*watch)->Resume();
  EXPECT_EQ(log.WaitFor(5),
            (std::vector<std::string>{"+a@1", "+b@2", "+c@3", "end@3", "+d@4"}));
}

TEST(StoreWatchTest, WhoWaitsWhileTheHistoryPassesIsToldInsteadOfTheRest) {
  auto store = OpenMemory(/*history_events_max=*/4);
  for (const char* name : {"a", "b", "c"}) ASSERT_THAT(store->Commit(Put(name, 0, "x")), IsOk());
  EventLog log;
  std::atomic<int> room = 1;
  std::atomic<int> asked = 0;
  auto watch = store->Watch({.resource = "pods",
                             .ready =
                                 [&] {
                                   ++asked;
                                   return room-- > 0;
                                 }},
                            log.callback());
  ASSERT_THAT(watch, IsOk());
  EXPECT_EQ(log.WaitFor(1), std::vector<std::string>{"+a@1"});
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(store->Commit(Put("d" + std::to_string(i), 0, "x")), IsOk());
  }
  // It was asked, and so looked at, after the last of them.
  const int before = asked;
  while (asked == before) {
    (*watch)->Resume();
    std::this_thread::yield();
  }
  room = 100;
  (*watch)->Resume();
  EXPECT_THAT(log.WaitFor(2), testing::ElementsAre("+a@1", testing::StartsWith("gone@")));
}

TEST(StoreWatchTest, ACallbackThatThrowsMissesOneEventAndNoOther) {
  auto store = OpenMemory();
  std::promise<std::string> second;
  auto watch = store->Watch({}, [&](const StoreEvent& event) {
    if (event.key.name == "bad") throw std::runtime_error("cannot be read");
    if (event.key.name == "good") second.set_value(*event.text);
  });
  ASSERT_THAT(watch, IsOk());
  ASSERT_THAT(store->Commit(Put("bad", 0, "x")), IsOk());
  ASSERT_THAT(store->Commit(Put("good", 0, "y")), IsOk());
  EXPECT_EQ(second.get_future().get(), "y@2");
}

}  // namespace
}  // namespace taas::localkube
