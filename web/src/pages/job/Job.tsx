import { useParams } from "wouter";
import { useAllTenants } from "~/api/session";
import type { Job as JobRecord } from "~/api/types";
import { ButtonLink } from "~/components/Button";
import { Copy } from "~/components/Copy";
import { Made } from "~/components/JobParts";
import { Empty, ErrorNote } from "~/components/Note";
import { Grid, Page, Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { ENDED_STATES, StateBadge } from "~/components/StateBadge";
import { Tabs } from "~/components/Tabs";
import { Text } from "~/components/Text";
import { useSearchState } from "~/lib/search";
import { useHref } from "~/shell/navigation";
import { Attempts } from "./Attempts";
import { Commands } from "./Commands";
import { Details } from "./Details";
import { Files } from "./Files";
import styles from "./Job.module.css";
import { JobActions } from "./JobActions";
import { Log } from "./log/Log";
import { ErrorWords, Params } from "./Params";
import { Pieces } from "./Pieces";
import { Progress } from "./Progress";
import { Timeline } from "./Timeline";
import { useJob } from "./useJob";
import { Why } from "./Why";

export default function Job() {
  const id = useParams<{ id: string }>().id;
  const job = useJob(id);
  const href = useHref();
  if (job.error?.status === 404) return <NoSuchJob id={id} />;
  return (
    <Page
      title={job.data?.task ?? "Job"}
      mark={job.data && <StateBadge state={job.data.state} />}
      about={<About id={id} job={job.data} />}
      back={{ href: href("/jobs"), label: "Jobs" }}
      actions={job.data && <JobActions job={job.data} />}
    >
      {job.error && <ErrorNote error={job.error} retry={() => void job.refetch()} />}
      {job.data === undefined ? !job.error && <Skeleton height="16rem" /> : <Parts job={job.data} />}
    </Page>
  );
}

function About({ id, job }: { id: string; job: JobRecord | undefined }) {
  const tenants = useAllTenants();
  return (
    <span className={styles.about}>
      <code>{id}</code>
      <Copy text={id} label="Copy the id" />
      {job && tenants && (
        <span>
          tenant <Text value={job.tenant} />
        </span>
      )}
      {job && (
        <span>
          <Made job={job} word="made" />
        </span>
      )}
    </span>
  );
}

const TABS = [
  { id: "log", label: "Log" },
  { id: "data", label: "Params and result" },
  { id: "attempts", label: "Attempts" },
  { id: "pieces", label: "Partial results" },
  { id: "files", label: "Files" },
  { id: "commands", label: "Commands" },
];

function Parts({ job }: { job: JobRecord }) {
  const { params, change } = useSearchState();
  const tab = TABS.find((each) => each.id === params.get("tab"))?.id ?? "log";
  return (
    <>
      {job.state === "running" && <Progress job={job} />}
      {job.error && (
        <Panel title="Error">
          <ErrorWords error={job.error} />
        </Panel>
      )}
      <Grid least="28rem">
        {!ENDED_STATES.includes(job.state) && <Why job={job} />}
        <Timeline job={job} />
      </Grid>
      <Panel title="Details">
        <Details job={job} />
      </Panel>
      <Tabs label="Parts of the job" tabs={TABS} current={tab} onChange={(id) => change({ tab: id })}>
        {tab === "log" && <Log key={job.id} job={job} />}
        {tab === "data" && <Params job={job} />}
        {tab === "attempts" && <Attempts job={job} />}
        {tab === "pieces" && <Pieces job={job} />}
        {tab === "files" && <Files job={job} />}
        {tab === "commands" && <Commands job={job} />}
      </Tabs>
    </>
  );
}

function NoSuchJob({ id }: { id: string }) {
  const href = useHref();
  return (
    <Page title="No such job" back={{ href: href("/jobs"), label: "Jobs" }}>
      <Empty
        title="There is no such job"
        icon="search"
        action={<ButtonLink href={href("/jobs")}>All jobs</ButtonLink>}
      >
        <Text value={id.slice(0, 80)} mono /> is not the id of a job that your key may see, or it is older
        than what is kept.
      </Empty>
    </Page>
  );
}
