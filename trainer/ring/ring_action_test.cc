#include "trainer/ring/ring_action.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace taas {
namespace {

constexpr RankView kTrains{.in_epoch = true};
constexpr RankView kLeft{.in_epoch = true, .waiting = true};
constexpr RankView kJoins{.waiting = true};
constexpr RankView kStarts{};
constexpr RankView kSilent{.in_epoch = true, .answers = false};

struct Case {
  const char* name;
  RingView view;
  RingAction action;
};

const Case kCases[] = {
    {"nobody is here", {.expected = 2}, RingAction::kWait},
    {"the first waits for all",
     {.here = {kJoins}, .expected = 2, .min = 1, .max = 2},
     RingAction::kWait},
    {"a fixed number is waited for however long it takes",
     {.here = {kJoins}, .expected = 2, .min = 2, .max = 2, .gathered = true},
     RingAction::kWait},
    {"fewer begin when the others have had their time",
     {.here = {kJoins, kStarts}, .expected = 2, .min = 1, .max = 2, .gathered = true},
     RingAction::kForm},
    {"all are there", {.here = {kJoins, kJoins}, .expected = 2, .min = 2, .max = 2},
     RingAction::kForm},
    {"nothing begins without the chief",
     {.here = {kStarts, kJoins, kJoins}, .expected = 2, .min = 2, .max = 2},
     RingAction::kWait},
    {"all train", {.begun = true, .here = {kTrains, kTrains}, .max = 2}, RingAction::kGoOn},
    {"one gets ready beside", {.begun = true, .here = {kTrains, kStarts}, .max = 2},
     RingAction::kGoOn},
    {"one wants to join", {.begun = true, .here = {kTrains, kJoins}, .max = 2}, RingAction::kEnd},
    {"there is no place for it", {.begun = true, .here = {kTrains, kTrains, kJoins}, .max = 2},
     RingAction::kGoOn},
    {"one is gone", {.begun = true, .gone = 1, .here = {kTrains}, .max = 2}, RingAction::kEnd},
    {"one has left the epoch", {.begun = true, .here = {kTrains, kLeft}, .max = 2},
     RingAction::kEnd},
    {"one ends its step",
     {.begun = true, .over = true, .here = {kLeft, kTrains}, .min = 1, .max = 2},
     RingAction::kWait},
    {"one does not answer", {.begun = true, .over = true, .here = {kLeft, kSilent}, .max = 2},
     RingAction::kForm},
    {"those who are left are too few",
     {.begun = true, .over = true, .here = {kLeft, kSilent}, .min = 2, .max = 2},
     RingAction::kWait},
    {"one takes the place of another",
     {.begun = true, .over = true, .gone = 1, .here = {kLeft, kJoins}, .min = 2, .max = 2},
     RingAction::kForm},
};

TEST(RingActionTest, TheTable) {
  for (const Case& it : kCases) {
    EXPECT_EQ(NameOf(NextRingAction(it.view)), NameOf(it.action)) << it.name;
  }
}

}  // namespace
}  // namespace taas
