import { useApi } from "~/api/hooks";
import { useSession, useTenant } from "~/api/session";
import { Stat, Stats } from "~/components/Facts";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Grid, Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { Table } from "~/components/Table";
import { Time } from "~/components/Time";
import { formatCount, safeText } from "~/lib/text";
import { CollisionMap } from "./CollisionMap";
import { Spread } from "./Spread";
import type { Forecast } from "./types";

/** The day ahead, minute by minute: where many schedules fire at once, and how they could be spread. */
export function Collisions() {
  // A forecast is of one tenant; without a choice the server takes the one called default.
  const chosen = useTenant();
  const tenant = chosen ?? "default";
  const own = useSession()?.tenant;
  const found = useApi("/v1/schedules/forecast", { query: { tenant, collisions: 12 }, every: 60 });
  if (found.error) return <ErrorNote error={found.error} retry={() => void found.refetch()} />;
  const forecast = found.data;
  const total = forecast?.minutes.reduce((sum, minute) => sum + minute.ticks, 0);
  return (
    <>
      {chosen === undefined && !own && (
        <Note>This is the tenant default; choose another one at the left.</Note>
      )}
      <Stats label="The day ahead">
        <Stat label="Active schedules" value={forecast && formatCount(forecast.schedules)} />
        <Stat label="Ticks in 24 hours" value={total === undefined ? undefined : formatCount(total)} />
        <Stat label="Fullest minute" value={forecast && formatCount(forecast.peak)} unit="ticks" />
        <Stat
          label="After spreading"
          value={forecast && formatCount(forecast.peak_spread)}
          unit="ticks"
          tone={forecast && forecast.peak_spread < forecast.peak ? "good" : undefined}
        />
      </Stats>
      <Panel title="Ticks by hour and minute">
        {forecast ? <CollisionMap forecast={forecast} /> : <Skeleton height="22rem" />}
      </Panel>
      <Grid least="26rem">
        <Panel title="Fullest minutes" flush>
          <Fullest forecast={forecast} />
        </Panel>
        <Panel title="To spread them" flush>
          <Spread forecast={forecast} tenant={tenant} />
        </Panel>
      </Grid>
      {forecast?.truncated && <Note tone="warn">There are more schedules than were looked at.</Note>}
    </>
  );
}

function Fullest({ forecast }: { forecast: Forecast | undefined }) {
  return (
    <Table
      label="Fullest minutes"
      rows={forecast?.collisions}
      rowKey={(row) => row.at}
      columns={[
        { id: "at", head: "Minute", cell: (row) => <Time at={row.at} show="exact" /> },
        { id: "ticks", head: "Ticks", align: "end", cell: (row) => formatCount(row.ticks) },
        {
          id: "who",
          head: "Schedules",
          grow: true,
          cell: (row) => <Who names={row.schedules} ticks={row.ticks} />,
        },
      ]}
      empty={
        <Empty title="Nothing collides" icon="check">
          No two schedules fire in the same minute of the day ahead.
        </Empty>
      }
    />
  );
}

function Who({ names, ticks }: { names: readonly string[]; ticks: number }) {
  const more = ticks - names.length;
  const words = names.map(safeText).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return <span title={words}>{words}</span>;
}
