import { useApi } from "~/api/hooks";
import { Badge } from "~/components/Badge";
import { ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { Time } from "~/components/Time";
import { safeText } from "~/lib/text";
import { differences } from "./differences";
import styles from "./schedules.module.css";
import type { Schedule, Version } from "./types";

/** Who changed it, when, why, and what. */
export function History({ schedule }: { schedule: Schedule }) {
  const found = useApi("/v1/schedules/{name}/history", {
    path: { name: schedule.definition.name },
    query: { tenant: schedule.tenant, limit: 200 },
  });
  if (found.error) return <ErrorNote error={found.error} retry={() => void found.refetch()} />;
  const versions = found.data?.items;
  return (
    <Panel flush>
      {versions === undefined ? (
        <Skeleton height="8rem" />
      ) : (
        <ol className={styles.versions} aria-label="Versions">
          {versions.map((version, at) => (
            <li key={`${version.version} ${version.at}`}>
              <span className={styles.number}>{version.version}</span>
              <VersionView version={version} before={versions[at + 1]} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function VersionView({ version, before }: { version: Version; before: Version | undefined }) {
  const changes =
    before && version.action === "changed" ? differences(before.definition, version.definition) : [];
  return (
    <div className={styles.version}>
      <div className={styles.rule}>
        <Badge>{version.action}</Badge>
        <span>
          <Time at={version.at} show="both" /> by {safeText(version.by)}
        </span>
        {version.why && <em>{safeText(version.why)}</em>}
      </div>
      {changes.length > 0 && (
        <ul className={styles.changes}>
          {changes.map(({ field, before: was, after }) => (
            <li key={field}>
              {field}: <del>{was === undefined ? "(default)" : <code>{safeText(was)}</code>}</del> →{" "}
              <ins>{after === undefined ? "(default)" : <code>{safeText(after)}</code>}</ins>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
