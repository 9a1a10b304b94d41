#include "trainer/ps/version_store.h"

#include <thread>

#include "gtest/gtest.h"

namespace taas::ps {
namespace {

void AddOne(VersionStore& store, int64_t step) {
  store.Update(step, [](std::span<const float> in, std::span<float> out) {
    for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] + 1;
  });
}

TEST(VersionStoreTest, HeldVersionStaysAsItIsWhileUpdatesGoOn) {
  VersionStore store({1, 2, 3}, 0);
  const VersionStore::Reader cut = store.Hold();
  for (int64_t step = 1; step <= 10; ++step) AddOne(store, step);
  EXPECT_EQ(cut.step(), 0);
  EXPECT_EQ(cut.values()[2], 3);
  EXPECT_EQ(store.Hold().step(), 10);
  EXPECT_EQ(store.Hold().values()[2], 13);
  EXPECT_EQ(store.buffers(), 2u);
}

TEST(VersionStoreTest, WithoutReadersOneBufferIsEnough) {
  VersionStore store({1}, 0);
  for (int64_t step = 1; step <= 10; ++step) AddOne(store, step);
  EXPECT_EQ(store.buffers(), 1u);
}

TEST(VersionStoreTest, AReservedBufferTakesTheFirstUpdateBesideAReader) {
  VersionStore store({1, 2}, 0);
  store.Reserve();
  store.Reserve();
  EXPECT_EQ(store.buffers(), 2u);
  const VersionStore::Reader cut = store.Hold();
  AddOne(store, 1);
  EXPECT_EQ(store.buffers(), 2u);
  EXPECT_EQ(cut.values()[1], 2);
  EXPECT_EQ(store.Hold().values()[1], 3);
}

TEST(VersionStoreTest, ReleasedBuffersAreUsedAgain) {
  VersionStore store({1}, 0);
  for (int64_t step = 1; step <= 100; ++step) {
    const VersionStore::Reader reader = store.Hold();
    AddOne(store, step);
  }
  EXPECT_EQ(store.buffers(), 2u);
}

TEST(VersionStoreTest, ReadersOnOtherThreadsSeeWholeVersions) {
  VersionStore store(std::vector<float>(4096, 0.0f), 0);
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (int64_t step = 0; step < 500;) {
        const VersionStore::Reader reader = store.Hold();
        step = reader.step();
        for (const float value : reader.values()) ASSERT_EQ(value, static_cast<float>(step));
      }
    });
  }
  for (int64_t step = 1; step <= 500; ++step) AddOne(store, step);
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace taas::ps
