// The main navigation: in the header, or at the bottom of a phone.

import {
  AppstoreOutlined,
  ClusterOutlined,
  HistoryOutlined,
  OrderedListOutlined,
  PlusSquareOutlined,
} from "@ant-design/icons";
import type { ReactNode } from "react";
import { NavLink } from "react-router";
import { useText } from "../i18n";
import { useKeepNamespace } from "./namespace";
import { useSession } from "./session";

export function Nav(): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const { historyDays } = useSession();
  const items = [
    { path: "/jobs", text: t.shell.jobs, icon: <OrderedListOutlined /> },
    { path: "/gpus", text: t.shell.gpus, icon: <AppstoreOutlined /> },
    { path: "/queues", text: t.shell.queues, icon: <ClusterOutlined /> },
    { path: "/submit", text: t.shell.submit, icon: <PlusSquareOutlined /> },
    ...(historyDays > 0
      ? [{ path: "/history", text: t.shell.history, icon: <HistoryOutlined /> }]
      : []),
  ];
  return (
    <nav className="nav" aria-label={t.shell.navigation}>
      <ul>
        {items.map(({ path, text, icon }) => (
          <li key={path}>
            <NavLink to={keep(path)}>
              <span className="nav-icon" aria-hidden="true">
                {icon}
              </span>
              {text}
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
