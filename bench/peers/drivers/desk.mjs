// The desk, as desk.py does it, for the peers from npm: `node desk.mjs PEER`.
import readline from "node:readline";

const peer = new (await import(`./${process.argv[2]}_peer.mjs`)).Peer();
const nanoseconds = () => process.hrtime.bigint();
const since = (began) => Number(nanoseconds() - began) / 1e9;
const numbers = (count) => Array.from({ length: count }, (_, number) => number);

const orders = {
  async single({ seconds }) {
    for (let warm = 0; warm < 20; warm++) await peer.submit("noop");
    const began = nanoseconds();
    let jobs = 0;
    for (; since(began) < seconds; jobs++) await peer.submit("noop");
    return { jobs, seconds: since(began) };
  },
  async bulk({ jobs, task = "noop" }) {
    const began = nanoseconds();
    await peer.submitMany(task, numbers(jobs));
    return { jobs, seconds: since(began) };
  },
  async fill({ jobs, seconds }) {
    const began = nanoseconds();
    let done = 0;
    while (done < jobs && since(began) < seconds) {
      const part = Math.min(jobs - done, 20_000);
      await peer.fill(part);
      done += part;
    }
    return { jobs: done, seconds: since(began) };
  },
  async stamp({ number }) {
    const began = nanoseconds();
    await peer.submit("stamp", number);
    return { began: Number(began), seconds: since(began) };
  },
  async due({ jobs, ahead }) {
    const at = Date.now() + ahead * 1000;
    const due = nanoseconds() + BigInt(Math.round(ahead * 1e9));
    await peer.submitDue(numbers(jobs), new Date(at));
    return { due: Number(due), spare: (at - Date.now()) / 1000 };
  },
  async remaining() {
    return { jobs: await peer.remaining() };
  },
};

const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
await peer.open();
say({ ready: process.pid });
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { do: order, ...given } = JSON.parse(line);
  say(await orders[order](given));
}
process.exit(0);
