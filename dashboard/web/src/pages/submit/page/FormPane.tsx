// The form beside the text.

import { Alert, Tabs } from "antd";
import type { ReactNode } from "react";
import { useText } from "../../../i18n";
import { AdvancedForm, Wrong } from "../form/advanced/AdvancedForm";
import { isSimple } from "../form/advanced/sections";
import { useEditing } from "../form/editing";
import type { SwitchProgram } from "../form/ProgramGroup";
import { SimpleForm } from "../form/SimpleForm";
import type { FormView, Tab } from "./use_go_to";

const BODY = ":scope > .ant-tabs-content-holder, :scope > .ant-tabs-body-holder";

interface Props {
  view: FormView;
  onSwitch: SwitchProgram;
}

export function FormPane({ view, onSwitch }: Props): ReactNode {
  const { t } = useText();
  const { issues, disabled, isOnForm } = useEditing();
  const placed = issues.filter(({ path }) => isOnForm(path));
  const simple = placed.filter(({ path }) => isSimple(path)).length;
  return (
    <>
      {disabled && <Alert type="warning" showIcon title={t.submit.stale} banner />}
      <Tabs
        className="submit-tabs"
        activeKey={view.tab}
        onChange={(key) => view.setTab(key as Tab)}
        onTabClick={(key, { currentTarget }) => {
          if (key !== view.tab) toTop(currentTarget);
        }}
        destroyOnHidden
        items={[
          {
            key: "simple",
            label: <TabLabel text={t.submit.simple} wrong={simple} />,
            children: <SimpleForm onSwitch={onSwitch} />,
          },
          {
            key: "advanced",
            label: <TabLabel text={t.submit.advanced} wrong={placed.length - simple} />,
            children: <AdvancedForm open={view.open} onOpen={view.setOpen} />,
          },
        ]}
      />
    </>
  );
}

/** Another tab is read from its beginning. */
function toTop(tab: Element): void {
  const body = tab.closest(".submit-tabs")?.querySelector(BODY);
  if (body) body.scrollTop = 0;
}

function TabLabel({ text, wrong }: { text: string; wrong: number }): ReactNode {
  return (
    <span className="submit-tab">
      {text} <Wrong count={wrong} />
    </span>
  );
}
