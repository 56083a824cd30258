import { stored } from "./stored";

export type Theme = "system" | "light" | "dark";
export type Zone = "local" | "utc";

export const theme = stored<Theme>("theme", "system");
export const zone = stored<Zone>("zone", "local");

/** Puts the chosen theme on the page; `public/theme.js` does the same before the first paint. */
export function applyTheme(chosen: Theme): void {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}
