// BullMQ on Redis. `node bullmq_peer.mjs worker` runs jobs; the desk takes them in.
import { Queue, Worker } from "bullmq";
import IORedis from "ioredis";
import * as recording from "./recording.mjs";

const settings = JSON.parse(process.env.RACE_SETTINGS);
const connected = () => new IORedis(process.env.RACE_STORE, { maxRetriesPerRequest: null });
const BATCH = 1000;
const removed = { removeOnComplete: true };

export class Peer {
  async open() {
    this.queue = new Queue("race", { connection: connected() });
    await this.queue.waitUntilReady();
  }

  submit = (task, number = 0) => this.queue.add(task, { number }, removed);

  submitMany = (task, numbers) => this.add(numbers.map((number) => ({ name: task, data: { number }, opts: removed })));

  submitDue = (numbers, at) => {
    const opts = { ...removed, delay: Math.max(at.getTime() - Date.now(), 1) };
    return this.add(numbers.map((number) => ({ name: "stamp", data: { number }, opts })));
  };

  async add(jobs) {
    while (jobs.length > 0) await this.queue.addBulk(jobs.splice(-BATCH));
  }

  fill = (count) => this.submitMany("noop", Array.from({ length: count }, () => 0));

  async remaining() {
    const counts = await this.queue.getJobCounts("waiting", "active", "delayed", "prioritized");
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }
}

async function work() {
  const run = { noop: recording.noop, stamp: recording.stamp, work: recording.work };
  const worker = new Worker("race", async (job) => run[job.name](job.data.number), { connection: connected(), ...settings });
  worker.on("error", (error) => console.error(error));
  // Closing waits for Redis, which may be gone already.
  const end = () => {
    setTimeout(() => process.exit(1), 3000);
    worker.close().then(() => process.exit(0));
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, end);
}

if (process.argv[2] === "worker") await work();
