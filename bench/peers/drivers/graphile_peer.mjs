// Graphile Worker. `node graphile_peer.mjs worker` runs jobs; the desk takes them in.
import { makeWorkerUtils, run } from "graphile-worker";
import * as recording from "./recording.mjs";

const connectionString = process.env.RACE_STORE;
const BATCH = 5000;
const ABREAST = 3;

export class Peer {
  async open() {
    this.utils = await makeWorkerUtils({ connectionString, maxPoolSize: ABREAST });
    await this.utils.migrate();
  }

  submit = (task, number = 0) => this.utils.addJob(task, { number });

  submitMany = (task, numbers) => this.add(numbers.map((number) => ({ identifier: task, payload: { number } })));

  submitDue = (numbers, runAt) =>
    this.add(numbers.map((number) => ({ identifier: "stamp", payload: { number }, runAt })));

  async add(specs) {
    const caller = async () => {
      while (specs.length > 0) await this.utils.addJobs(specs.splice(-BATCH));
    };
    await Promise.all(Array.from({ length: ABREAST }, caller));
  }

  fill = (count) => this.submitMany("noop", Array.from({ length: count }, () => 0));

  remaining = () =>
    this.utils.withPgClient(async (client) => {
      const { rows } = await client.query("select count(*)::int as n from (select from graphile_worker.jobs limit 1) j");
      return rows[0].n;
    });
}

async function work() {
  const settings = JSON.parse(process.env.RACE_SETTINGS);
  const runner = await run({
    noHandleSignals: false,
    taskList: {
      noop: () => recording.noop(),
      stamp: (payload) => recording.stamp(payload.number),
      work: (payload) => recording.work(payload.number),
    },
    preset: { worker: { connectionString, ...settings } },
  });
  await runner.promise;
}

if (process.argv[2] === "worker") await work();
