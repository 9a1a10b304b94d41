// How a product of GPUs is called. The local cluster gives its made-up ones a name in English,
// which is no product that anybody sells.

import type { Texts } from "../i18n/en";

const SIMULATED = "simulated";

export function productName(product: string, t: Texts): string {
  return product === SIMULATED ? t.gpus.simulated : product;
}
