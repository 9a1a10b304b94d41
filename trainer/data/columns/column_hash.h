// Ids of texts, and of several values together, as TensorFlow makes them: a model that was trained
// with its hashed and crossed columns finds the same ids here.
//
// Source: tf.strings.to_hash_bucket_fast and tf.sparse.cross_hashed (FarmHash's Fingerprint64, and
// FingerprintCat64 of tensorflow/core/platform/fingerprint.h).
//
// Ownership: values. Threads: any. Errors: none; `buckets` ≥ 1.
//
//   const int64_t id = HashBucket("Bachelors", 1000);
//   Cross cross;
//   cross.Add(Fingerprint("Bachelors"));
//   cross.Add(3);  // The id of a bucket.
//   const int64_t pair = cross.Bucket(10'000);

#ifndef TRAINER_DATA_COLUMNS_COLUMN_HASH_H_
#define TRAINER_DATA_COLUMNS_COLUMN_HASH_H_

#include <cstdint>
#include <string_view>

namespace taas {

uint64_t Fingerprint(std::string_view text);

inline int64_t HashBucket(std::string_view text, int64_t buckets) {
  return static_cast<int64_t>(Fingerprint(text) % static_cast<uint64_t>(buckets));
}

class Cross {
 public:
  // The fingerprint of a text, or an id; their order counts.
  void Add(uint64_t value);
  int64_t Bucket(int64_t buckets) const {
    return static_cast<int64_t>(hash_ % static_cast<uint64_t>(buckets));
  }

 private:
  uint64_t hash_ = 0xDECAFCAFFE;  // TensorFlow's default key.
};

}  // namespace taas

#endif  // TRAINER_DATA_COLUMNS_COLUMN_HASH_H_
