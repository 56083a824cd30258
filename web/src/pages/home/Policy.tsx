import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useMay, useTenant } from "~/api/session";
import type { Overview, Schemas } from "~/api/types";
import { Badge } from "~/components/Badge";
import { ButtonLink } from "~/components/Button";
import { Empty } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { plural, safeText } from "~/lib/text";
import { isUsedUp } from "~/pages/limits/words";
import { useHref } from "~/shell/navigation";
import styles from "./Home.module.css";

const SHOWN = 4;
const GATE_WORDS = { hold: "holds", drop: "drops", reject: "refuses" };

/** Gates and limits in force: what holds jobs back on purpose. */
export function Policy({ overview }: { overview: Overview | undefined }) {
  const href = useHref();
  const tenant = useTenant();
  const may = useMay("gates:read");
  const { gates = 0, limits = 0 } = overview ?? {};
  const listed =
    useApi("/v1/gates", { query: { tenant }, enabled: may && gates > 0, every: 10 }).data?.items ?? [];
  const nothing = overview !== undefined && gates === 0 && limits === 0;
  return (
    <Panel
      title="Gates and limits in force"
      actions={
        <ButtonLink href={href("/gates")} kind="quiet" small>
          Gates
        </ButtonLink>
      }
    >
      {overview === undefined && <Skeleton height="8rem" />}
      {nothing && (
        <Empty title="Nothing is held back" icon="gates">
          A gate holds jobs until it is opened; a limit lets only so many run at once or start in a time.
        </Empty>
      )}
      <ul className={styles.rows}>
        {gates > 0 && listed.slice(0, SHOWN).map((gate) => <GateRow key={gate.id} gate={gate} />)}
        {gates > SHOWN && <li className={styles.tick}>and {plural(gates - SHOWN, "more gate")}</li>}
        {limits > 0 && <LimitRows limits={limits} full={overview?.limits_full ?? 0} />}
      </ul>
    </Panel>
  );
}

function GateRow({ gate }: { gate: Schemas["Gate"] }) {
  const href = useHref();
  return (
    <li className={styles.tick}>
      <Link href={href("/gates", { gate: String(gate.id) })}>
        {safeText(gate.reason || `Gate ${gate.id}`)}
      </Link>
      <span className={styles.figure}>
        <Badge tone="warn" dot>
          {GATE_WORDS[gate.action]}
        </Badge>
      </span>
    </li>
  );
}

/** Those that are used up, by name: they are the ones that hold jobs back. */
function LimitRows({ limits, full }: { limits: number; full: number }) {
  const href = useHref();
  const tenant = useTenant();
  const listed = useApi("/v1/limits", { query: { tenant }, enabled: full > 0, every: 10 }).data?.items ?? [];
  const used = full > 0 ? listed.filter(isUsedUp) : [];
  return (
    <>
      {used.slice(0, SHOWN).map((limit) => (
        <li key={`${limit.tenant ?? ""} ${limit.name}`} className={styles.tick}>
          <Link href={href("/limits", { limit: limit.name, of: limit.tenant })}>{safeText(limit.name)}</Link>
          <span className={styles.figure}>
            <Badge tone="warn" dot>
              used up
            </Badge>
          </span>
        </li>
      ))}
      <li className={styles.tick}>
        <Link href={href("/limits")}>{plural(limits, "limit")}</Link>
        <span className={styles.figure}>{full > 0 ? `${full} used up` : "none used up"}</span>
      </li>
    </>
  );
}
