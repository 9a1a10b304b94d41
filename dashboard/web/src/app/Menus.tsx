// The menus at the right of the header: language and theme, and the user.

import { LogoutOutlined, SettingOutlined, UserOutlined } from "@ant-design/icons";
import type { MenuProps } from "antd";
import { App, Button, Dropdown } from "antd";
import type { ReactNode } from "react";
import { createContext, useContext } from "react";
import { useCell } from "../api/cell";
import { asApiError } from "../api/problem";
import { useLogout } from "../api/queries";
import { useText } from "../i18n";
import { LANGUAGE_NAMES, LANGUAGES } from "../i18n/language";
import type { PreferencesStore } from "./preferences";
import { THEMES } from "./preferences";
import { useSession } from "./session";

const PreferencesContext = createContext<PreferencesStore | undefined>(undefined);
export const PreferencesProvider = PreferencesContext.Provider;

export function usePreferences(): PreferencesStore {
  const store = useContext(PreferencesContext);
  if (!store) throw new Error("usePreferences() outside of PreferencesProvider");
  return store;
}

export function SettingsMenu(): ReactNode {
  const { t } = useText();
  const store = usePreferences();
  const { language, theme } = useCell(store);
  const items: MenuProps["items"] = [
    {
      key: "language",
      type: "group",
      label: t.shell.language,
      children: LANGUAGES.map((one) => ({
        key: `language.${one}`,
        label: <span lang={one === "zh" ? "zh-CN" : "en"}>{LANGUAGE_NAMES[one]}</span>,
        onClick: () => store.setLanguage(one),
      })),
    },
    {
      key: "theme",
      type: "group",
      label: t.shell.theme,
      children: THEMES.map((one) => ({
        key: `theme.${one}`,
        label: t.shell.themes[one],
        onClick: () => store.setTheme(one),
      })),
    },
  ];
  const selectedKeys = [`language.${language}`, `theme.${theme}`];
  return (
    <Dropdown menu={{ items, selectedKeys, selectable: true, multiple: true }} trigger={["click"]}>
      <Button
        type="text"
        icon={<SettingOutlined />}
        aria-label={t.shell.settings}
        title={t.shell.settings}
      />
    </Dropdown>
  );
}

export function UserMenu(): ReactNode {
  const { t } = useText();
  const session = useSession();
  const logout = useLogout();
  const { message } = App.useApp();
  const onLogOut = (): void => {
    logout.mutate(undefined, {
      onError: (error) => void message.error(t.errors.title[asApiError(error).reason]),
    });
  };
  const items: MenuProps["items"] = [
    {
      key: "who",
      type: "group",
      label: (
        <span className="user-menu-who">
          <bdi>{session.user}</bdi>
          <span className="muted">{t.shell.version(session.version)}</span>
        </span>
      ),
      children: [
        { key: "out", icon: <LogoutOutlined />, label: t.shell.logOut, onClick: onLogOut },
      ],
    },
  ];
  return (
    <Dropdown menu={{ items }} trigger={["click"]}>
      <Button type="text" icon={<UserOutlined />} aria-label={`${t.shell.user}: ${session.user}`}>
        <bdi className="user-name">{session.user}</bdi>
      </Button>
    </Dropdown>
  );
}
