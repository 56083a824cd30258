// pg-boss. `node pgboss_peer.mjs worker` runs jobs; the desk takes them in.
import { PgBoss } from "pg-boss";
import * as recording from "./recording.mjs";

const settings = JSON.parse(process.env.RACE_SETTINGS);
const BATCH = 5000;
const ABREAST = 3;
const QUEUES = ["noop", "stamp", "work"];

const started = async (options) => {
  const boss = new PgBoss({ connectionString: process.env.RACE_STORE, ...options });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  return boss;
};

export class Peer {
  async open() {
    this.boss = await started({ max: ABREAST });
    for (const queue of QUEUES) await this.boss.createQueue(queue, { notify: settings.notify });
  }

  submit = (task, number = 0) => this.boss.send(task, { number });

  submitMany = (task, numbers) => this.insert(task, numbers.map((number) => ({ data: { number } })));

  submitDue = (numbers, startAfter) => this.insert("stamp", numbers.map((number) => ({ data: { number }, startAfter })));

  async insert(task, jobs) {
    const caller = async () => {
      while (jobs.length > 0) await this.boss.insert(task, jobs.splice(-BATCH));
    };
    await Promise.all(Array.from({ length: ABREAST }, caller));
  }

  fill = (count) => this.submitMany("noop", Array.from({ length: count }, () => 0));

  async remaining() {
    const sql = "select count(*)::int as n from (select from pgboss.job where state < 'completed' limit 1) j";
    return (await this.boss.getDb().executeSql(sql)).rows[0].n;
  }
}

async function work() {
  const boss = await started({ useListenNotify: settings.notify, max: 4 });
  const each = (run) => async (jobs) => {
    for (const job of jobs) await run(job.data.number);
  };
  await boss.work("noop", settings.work, each(recording.noop));
  await boss.work("stamp", settings.work, each(recording.stamp));
  await boss.work("work", settings.slow ?? settings.work, (jobs) => Promise.all(jobs.map((job) => recording.work(job.data.number))));
}

if (process.argv[2] === "worker") await work();
