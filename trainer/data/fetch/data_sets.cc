#include "trainer/data/fetch/data_sets.h"

#include "trainer/data/fetch/fetch_cifar.h"
#include "trainer/data/fetch/fetch_mnist.h"

namespace taas {

std::span<const DataSet> DataSets() {
  static constexpr DataSet kSets[] = {
      {"mnist", "handwritten digits, 28 x 28; drawn ones without a network", FetchMnist},
      {"cifar10", "small pictures in ten classes, 32 x 32 x 3; drawn ones without a network",
       FetchCifar10},
      {"text", "a million letters of Shakespeare; sentences by a grammar without a network",
       FetchText},
      {"clicks", "clicks on advertisements, as a table; always made", FetchClicks},
  };
  return kSets;
}

}  // namespace taas
