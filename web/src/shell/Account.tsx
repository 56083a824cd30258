import { signOut, useSession } from "~/api/session";
import { IconButton } from "~/components/Button";
import type { IconName } from "~/components/Icon";
import { Menu } from "~/components/Menu";
import { toast } from "~/components/Toast";
import { applyTheme, type Theme, theme, zone } from "~/lib/preferences";
import { useStored } from "~/lib/stored";
import { safeText } from "~/lib/text";
import { localZone } from "~/lib/time";
import styles from "./Account.module.css";

const THEMES: readonly { value: Theme; label: string; icon: IconName }[] = [
  { value: "system", label: "As the system", icon: "screen" },
  { value: "light", label: "Light", icon: "sun" },
  { value: "dark", label: "Dark", icon: "moon" },
];

function leave(): void {
  signOut().catch((error: unknown) => {
    toast.error(
      new Error(`You are still signed in; try it again. ${error instanceof Error ? error.message : ""}`),
    );
  });
}

/** Who is signed in, and how the console looks to them. */
export function Account() {
  const session = useSession();
  const [chosenTheme, setTheme] = useStored(theme);
  const [chosenZone, setZone] = useStored(zone);
  const current = THEMES.find((each) => each.value === chosenTheme) ?? THEMES[0];
  return (
    <div className={styles.account}>
      <div className={styles.who}>
        <strong>{safeText(session?.name ?? "")}</strong>
        <span>
          {session ? `${session.role}${session.tenant ? ` of ${safeText(session.tenant)}` : ""}` : ""}
        </span>
      </div>
      <Menu
        label="Time zone"
        icon="clock"
        bare
        small
        up
        align="start"
        kind="quiet"
        items={[
          {
            label: `Local: ${localZone()}`,
            checked: chosenZone === "local",
            onSelect: () => setZone("local"),
          },
          { label: "UTC", checked: chosenZone === "utc", onSelect: () => setZone("utc") },
        ]}
      />
      <Menu
        label="Theme"
        icon={current?.icon}
        bare
        small
        up
        align="start"
        kind="quiet"
        items={THEMES.map((each) => ({
          label: each.label,
          icon: each.icon,
          checked: each.value === chosenTheme,
          onSelect: () => {
            setTheme(each.value);
            applyTheme(each.value);
          },
        }))}
      />
      <IconButton small label="Sign out" icon="out" onClick={leave} />
    </div>
  );
}
