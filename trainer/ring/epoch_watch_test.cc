#include "trainer/ring/epoch_watch.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(EpochWatchTest, AnEpochIsOverWhenTheChiefSaysAnotherOrNone) {
  EpochWatch watch;
  EXPECT_TRUE(watch.Learn({.view = 2, .epoch = 5}));
  ASSERT_TRUE(watch.Enter({.view = 2, .epoch = 5}));
  EXPECT_FALSE(watch.to_leave());
  EXPECT_TRUE(watch.Learn({.view = 3}));
  EXPECT_TRUE(watch.to_leave());
  watch.Leave();
  EXPECT_FALSE(watch.to_leave());
}

TEST(EpochWatchTest, WhatIsOlderIsNoNews) {
  EpochWatch watch;
  ASSERT_TRUE(watch.Learn({.view = 4, .epoch = 6}));
  ASSERT_TRUE(watch.Enter({.view = 4, .epoch = 6}));
  EXPECT_FALSE(watch.Learn({.view = 3, .epoch = 5}));
  EXPECT_FALSE(watch.to_leave());
}

// A rank entered an epoch whose end it had been told of by another call, and stood there for 2 s,
// until its next heartbeat was answered.
TEST(EpochWatchTest, AnEpochThatIsKnownToBeOverIsNotEntered) {
  EpochWatch watch;
  ASSERT_TRUE(watch.Learn({.view = 7}));
  EXPECT_FALSE(watch.Enter({.view = 6, .epoch = 4}));
  EXPECT_EQ(watch.epoch(), 0U);
}

TEST(EpochWatchTest, AnotherChiefBeginsToCountAnew) {
  EpochWatch watch;
  ASSERT_TRUE(watch.Learn({.view = 7, .epoch = 4}));
  ASSERT_TRUE(watch.Enter({.view = 7, .epoch = 4}));
  watch.StartOver();
  EXPECT_TRUE(watch.to_leave());
  EXPECT_TRUE(watch.Learn({.view = 1}));
}

TEST(EpochWatchTest, AtTheEndOfTheJobNoEpochIsLeft) {
  EpochWatch watch;
  ASSERT_TRUE(watch.Learn({.view = 7, .epoch = 4}));
  ASSERT_TRUE(watch.Enter({.view = 7, .epoch = 4}));
  ASSERT_TRUE(watch.Learn({.view = 8, .done = true}));
  EXPECT_FALSE(watch.to_leave());
}

}  // namespace
}  // namespace taas
