// What of the map shows, kept in the URL: text, product, owner, "not working", "so many free".

import { Button, Segmented, Select } from "antd";
import type { ReactNode } from "react";
import { useMemo } from "react";
import { productName } from "../../components/product";
import { SearchBox } from "../../components/SearchBox";
import { useText } from "../../i18n";
import type { NodeCells } from "./cells";
import type { View } from "./view";
import { GROUPINGS, isFiltered, optionsOf } from "./view";

const FREE_COUNTS = [0, 1, 2, 4, 8];

interface Props {
  all: readonly NodeCells[];
  nodesVisible: boolean;
  view: View;
  setView: (change: Partial<View>) => void;
  clear: () => void;
}

export function Filters({ all, nodesVisible, view, setView, clear }: Props): ReactNode {
  const { t } = useText();
  const { products, owners } = useMemo(() => optionsOf(all), [all]);
  const free = [...new Set([...FREE_COUNTS, view.free])].sort((a, b) => a - b);
  return (
    <search className="gpus-filters">
      <SearchBox
        className="gpus-search"
        label={t.gpus.search}
        text={view.text}
        onText={(text) => setView({ text })}
      />
      {(products.length > 1 || view.product.length > 0) && (
        <Many
          name={t.gpus.product}
          values={products}
          chosen={view.product}
          label={(product) => (product === "" ? t.gpus.noProduct : productName(product, t))}
          onChange={(product) => setView({ product })}
        />
      )}
      <Many
        name={t.gpus.owner}
        values={owners}
        chosen={view.owner}
        onChange={(owner) => setView({ owner })}
      />
      {nodesVisible && (
        <Select
          aria-label={t.gpus.freeAtLeast}
          value={view.free}
          options={free.map((value) => ({
            value,
            label: value === 0 ? t.gpus.freeAny : t.gpus.freeN(value),
          }))}
          onChange={(value) => setView({ free: value })}
          popupMatchSelectWidth={false}
        />
      )}
      {!view.table && (
        <Select
          aria-label={t.gpus.groupBy}
          value={view.group}
          options={GROUPINGS.map((value) => ({ value, label: t.gpus.group[value] }))}
          onChange={(group) => setView({ group })}
          popupMatchSelectWidth={false}
        />
      )}
      <Segmented
        aria-label={t.gpus.viewAs}
        value={view.table ? "table" : "map"}
        options={[
          { value: "map", label: t.gpus.map },
          { value: "table", label: t.gpus.table },
        ]}
        onChange={(value) => setView({ table: value === "table" })}
      />
      {isFiltered(view) && (
        <Button type="link" size="small" onClick={clear}>
          {t.gpus.clearFilter}
        </Button>
      )}
    </search>
  );
}

interface ManyProps {
  name: string;
  values: readonly string[];
  chosen: string[];
  label?: (value: string) => string;
  onChange: (chosen: string[]) => void;
}

function Many({ name, values, chosen, label = (value) => value, onChange }: ManyProps): ReactNode {
  const { t } = useText();
  return (
    <Select<string[]>
      className="gpus-many"
      mode="multiple"
      placeholder={name}
      aria-label={name}
      value={chosen}
      options={values.map((value) => ({ value, label: label(value) }))}
      onChange={onChange}
      maxTagCount={chosen.length > 1 ? 0 : 1}
      maxTagPlaceholder={`${name}: ${chosen.length}`}
      popupMatchSelectWidth={false}
      notFoundContent={t.common.none}
    />
  );
}
