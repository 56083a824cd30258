import { useSearchState } from "~/lib/search";
import { Causes } from "./Causes";
import { OneCause } from "./OneCause";

/** Failed jobs that nobody has run again or discarded: by cause, or those of one. */
export default function DeadLetters() {
  const { params } = useSearchState();
  const cause = params.get("cause");
  return cause === null ? <Causes /> : <OneCause key={cause} cause={cause} />;
}
