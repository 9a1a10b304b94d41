// Light, dark, or as the system: for our own CSS and for Ant Design.

import { App as AntApp, ConfigProvider, theme as antTheme } from "antd";
import enUS from "antd/es/locale/en_US";
import zhCN from "antd/es/locale/zh_CN";
import type { ReactNode } from "react";
import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import type { Language } from "../i18n/language";
import type { Palette } from "./palette";
import { DARK, LIGHT, MONO, SANS } from "./palette";
import type { ThemeChoice } from "./preferences";

export interface Theme {
  dark: boolean;
  /** For what is drawn on a canvas. */
  palette: Palette;
}

const ThemeContext = createContext<Theme>({ dark: false, palette: LIGHT });

export function useTheme(): Theme {
  return useContext(ThemeContext);
}

function useMedia(query: string): boolean {
  const media = useMemo(() => window.matchMedia(query), [query]);
  return useSyncExternalStore(
    (listener) => {
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => media.matches,
  );
}

function antTokens(palette: Palette) {
  return {
    colorPrimary: palette.accent,
    colorInfo: palette.accent,
    colorSuccess: palette.ok,
    colorWarning: palette.warning,
    colorError: palette.critical,
    colorLink: palette.accent,
    colorSuccessBg: palette.okSoft,
    colorWarningBg: palette.warningSoft,
    colorErrorBg: palette.criticalSoft,
    colorInfoBg: palette.infoSoft,
    colorBgBase: palette.surface,
    colorBgLayout: palette.page,
    colorBgContainer: palette.surface,
    colorBgElevated: palette.surface,
    colorTextBase: palette.text,
    colorText: palette.text,
    colorTextSecondary: palette.muted,
    colorTextTertiary: palette.muted,
    colorTextDescription: palette.muted,
    colorTextPlaceholder: palette.muted,
    colorTextLightSolid: palette.onAccent,
    colorBorder: palette.edge,
    colorBorderSecondary: palette.line,
    colorSplit: palette.line,
    fontFamily: SANS,
    fontFamilyCode: MONO,
    fontSize: 13,
    borderRadius: 4,
    controlHeight: 30,
    wireframe: false,
  };
}

// Flat and dense: a tool, not a shop window.
const COMPONENTS = {
  Button: { primaryShadow: "none", dangerShadow: "none", defaultShadow: "none" },
  Alert: { withDescriptionPadding: "10px 14px", withDescriptionIconSize: 16, fontSizeLG: 13 },
  // Always on a dark ground, whatever the theme.
  Tooltip: { colorTextLightSolid: "#ffffff", colorBgSpotlight: "#39424d" },
};

interface Props {
  choice: ThemeChoice;
  language: Language;
  /** Of the page's policy for styles; "": there is none. */
  nonce: string;
  children: ReactNode;
}

export function ThemeProvider({ choice, language, nonce, children }: Props): ReactNode {
  const systemDark = useMedia("(prefers-color-scheme: dark)");
  const calm = useMedia("(prefers-reduced-motion: reduce)");
  const dark = choice === "system" ? systemDark : choice === "dark";
  const theme = useMemo(() => ({ dark, palette: dark ? DARK : LIGHT }), [dark]);
  useEffect(() => {
    const root = document.documentElement;
    for (const [name, colour] of Object.entries(theme.palette)) {
      const variable = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      root.style.setProperty(`--${variable}`, colour as string);
    }
    root.style.setProperty("--mono", MONO);
    root.style.setProperty("--sans", SANS);
    root.style.colorScheme = dark ? "dark" : "light";
    root.lang = language === "zh" ? "zh-CN" : "en";
  }, [theme, dark, language]);
  const config = useMemo(
    () => ({
      algorithm: dark ? antTheme.darkAlgorithm : antTheme.defaultAlgorithm,
      token: { ...antTokens(theme.palette), motion: !calm },
      components: COMPONENTS,
      hashed: false,
      cssVar: { key: "taas", prefix: "ant" },
    }),
    [theme, dark, calm],
  );
  return (
    <ThemeContext value={theme}>
      <ConfigProvider
        locale={language === "zh" ? zhCN : enUS}
        theme={config}
        button={{ autoInsertSpace: false }}
        {...(nonce === "" ? {} : { csp: { nonce } })}
      >
        <AntApp component={false} message={{ maxCount: 3 }}>
          {children}
        </AntApp>
      </ConfigProvider>
    </ThemeContext>
  );
}
