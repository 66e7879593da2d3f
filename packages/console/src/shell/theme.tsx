import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

const KEY = "lethe-theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** Light, dark, or what the system says; remembered in this browser. */
export function ThemeSwitch(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(
    () => THEMES.find((each) => each === localStorage.getItem(KEY)) ?? "system",
  );
  useEffect(() => {
    if (theme === "system") {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(KEY);
    } else {
      document.documentElement.dataset.theme = theme;
      localStorage.setItem(KEY, theme);
    }
  }, [theme]);
  return (
    <label class="theme">
      <span>Theme</span>
      <select value={theme} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}
