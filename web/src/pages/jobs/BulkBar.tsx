import { useState } from "react";
import { useTenant } from "~/api/session";
import type { Job } from "~/api/types";
import { Button } from "~/components/Button";
import { Segments } from "~/components/Tabs";
import { plural } from "~/lib/text";
import { BulkDialog } from "./BulkDialog";
import { KINDS, type Kind } from "./bulk";
import type { JobFilter } from "./filter";
import styles from "./Jobs.module.css";

interface BulkBarProps {
  filter: JobFilter;
  chosen: Job[];
  onClear: () => void;
}

type Scope = "chosen" | "all";

/** At the foot of the list once something is selected: for those, or for all that match. */
export function BulkBar({ filter, chosen, onClear }: BulkBarProps) {
  const [scope, setScope] = useState<Scope>("chosen");
  const [kind, setKind] = useState<Kind>();
  const tenant = useTenant();
  if (chosen.length === 0) return null;
  const applies = (each: Kind) =>
    scope === "all" || chosen.some((job) => KINDS[each].states.includes(job.state));
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
      <div className={styles.bulkActions}>
        {(Object.keys(KINDS) as Kind[]).map((each) => (
          <Button
            key={each}
            small
            kind={KINDS[each].danger ? "danger" : "plain"}
            icon={KINDS[each].icon}
            disabled={!applies(each)}
            onClick={() => setKind(each)}
          >
            {KINDS[each].verb}
          </Button>
        ))}
        <Button small kind="quiet" onClick={onClear}>
          Clear
        </Button>
      </div>
      {kind && (
        <BulkDialog
          kind={kind}
          target={scope === "all" ? { filter, tenant } : { jobs: chosen }}
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
