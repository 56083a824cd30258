import { type Zone, zone } from "~/lib/preferences";
import { useSearchState } from "~/lib/search";
import { useStored } from "~/lib/stored";
import { localZone } from "~/lib/time";
import { bounds, type Month, monthOf, moved, readMonth } from "./month";

interface MonthState {
  month: Month;
  zone: Zone;
  /** The same as a name of the zone database. */
  tz: string;
  since: Date;
  until: Date;
  go: (by: number) => void;
  /** Back to the month of today. */
  home: () => void;
}

/** The month that is looked at; it stands in the address. */
export function useMonth(): MonthState {
  const [chosen] = useStored(zone);
  const { params, change } = useSearchState();
  const now = monthOf(new Date(), chosen);
  const month = readMonth(params.get("month")) ?? now;
  const [since, until] = bounds(month, chosen);
  const put = (next: Month) => change({ month: next === now ? null : next });
  return {
    month,
    zone: chosen,
    tz: chosen === "utc" ? "UTC" : localZone(),
    since,
    until,
    go: (by) => put(moved(month, by)),
    home: () => put(now),
  };
}
