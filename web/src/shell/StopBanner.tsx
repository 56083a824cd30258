/** The emergency stops in force, on every page, and ending them. */
import { useState } from "react";
import { useAction, useApi } from "~/api/hooks";
import { useMay, useSession, useTenant } from "~/api/session";
import { Button } from "~/components/Button";
import { Dialog } from "~/components/Dialog";
import { TextField } from "~/components/Field";
import { ErrorNote, Note } from "~/components/Note";
import { Time } from "~/components/Time";
import { safeText } from "~/lib/text";
import type { Gate } from "~/pages/gates/words";
import styles from "./StopBanner.module.css";

export function StopBanner() {
  const tenant = useTenant();
  const mayRead = useMay("gates:read");
  const mayManage = useMay("gates:manage");
  const ownTenant = useSession()?.tenant;
  const [ending, setEnding] = useState<Gate | null>(null);
  const gates = useApi("/v1/gates", {
    query: { tenant, kind: "stop" },
    enabled: mayRead,
    live: 5,
    every: 10,
  });
  const stops = gates.data?.items.filter((gate) => gate.state === "closed") ?? [];
  if (stops.length === 0 && ending === null) return null;
  return (
    <div className={styles.stops}>
      {stops.map((stop) => (
        <Note
          key={stop.id}
          tone="danger"
          title={`Emergency stop of ${stop.tenant ? `tenant ${safeText(stop.tenant)}` : "all tenants"}`}
          action={
            mayManage &&
            (!ownTenant || stop.tenant === ownTenant) && (
              <Button icon="play" onClick={() => setEnding(stop)}>
                End the stop…
              </Button>
            )
          }
        >
          {safeText(stop.reason)}. By {safeText(stop.owner)}, <Time at={stop.made_at} />
          {stop.expires_at && (
            <>
              ; it ends <Time at={stop.expires_at} />
            </>
          )}
          .
        </Note>
      ))}
      {ending && <EndDialog stop={ending} onClose={() => setEnding(null)} />}
    </div>
  );
}

function EndDialog({ stop, onClose }: { stop: Gate; onClose: () => void }) {
  const [rate, setRate] = useState("");
  const end = useAction("delete", "/v1/stop", {
    done: "The stop is over",
    toastErrors: false,
    onDone: onClose,
  });
  return (
    <Dialog
      open
      title="End the emergency stop"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            kind="primary"
            busy={end.running}
            onClick={() => void end.run({ query: { tenant: stop.tenant, rate: rate.trim() } })}
          >
            End the stop
          </Button>
        </>
      }
    >
      <p>What waited starts again, in its order.</p>
      {end.error && <ErrorNote error={end.error} />}
      <TextField
        label="Rate"
        value={rate}
        onChange={setRate}
        placeholder="100/s"
        hint="How fast what waited is let out, such as 10/s or 600/m; empty: all at once."
      />
    </Dialog>
  );
}
