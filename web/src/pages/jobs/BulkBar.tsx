import { useState } from "react";
import { useTenant } from "~/api/session";
import type { Job } from "~/api/types";
import { Button } from "~/components/Button";
import { Segments } from "~/components/Tabs";
import { plural } from "~/lib/text";
import { BulkDialog } from "./BulkDialog";
import { hindrance, KINDS, type Kind, type Target } from "./bulk";
import type { JobFilter } from "./filter";
import styles from "./Jobs.module.css";

interface BulkBarProps {
  filter: JobFilter;
  chosen: Job[];
  /** How many of them are not on this page. */
  elsewhere: number;
  onClear: () => void;
}

type Scope = "chosen" | "all";

/** At the foot of the list while something is selected: for those, or for all that match. */
export function BulkBar({ filter, chosen, elsewhere, onClear }: BulkBarProps) {
  const [scope, setScope] = useState<Scope>("chosen");
  const [kind, setKind] = useState<Kind>();
  const tenant = useTenant();
  const target: Target = scope === "all" ? { filter, tenant } : { jobs: chosen };
  return (
    <section className={styles.bulk} aria-label="Selected jobs">
      <Segments
        label="Which jobs"
        value={scope}
        onChange={setScope}
        choices={[
          { value: "chosen", label: `${plural(chosen.length, "job")} selected` },
          { value: "all", label: "All that match" },
        ]}
      />
      {scope === "chosen" && elsewhere > 0 && (
        <span className={styles.elsewhere}>{elsewhere} of them not on this page</span>
      )}
      <div className={styles.bulkActions}>
        {(Object.keys(KINDS) as Kind[]).map((each) => (
          <Deed key={each} kind={each} hindered={hindrance(each, target)} onClick={() => setKind(each)} />
        ))}
        <Button small kind="quiet" onClick={onClear}>
          Clear
        </Button>
      </div>
      {kind && (
        <BulkDialog
          kind={kind}
          target={target}
          onClose={() => setKind(undefined)}
          onDone={() => {
            setKind(undefined);
            onClear();
          }}
        />
      )}
    </section>
  );
}

interface DeedProps {
  kind: Kind;
  /** Why it cannot be done. */
  hindered: string | undefined;
  onClick: () => void;
}

function Deed({ kind, hindered, onClick }: DeedProps) {
  const { verb, icon, danger } = KINDS[kind];
  return (
    <Button
      small
      kind={danger ? "danger" : "plain"}
      icon={icon}
      disabled={hindered !== undefined}
      title={hindered}
      aria-description={hindered}
      onClick={onClick}
    >
      {verb}
    </Button>
  );
}
