import { Dialog } from "~/components/Dialog";
import { Kbd } from "~/components/Facts";
import styles from "./Help.module.css";
import { KEYS } from "./shortcuts";

export function Help({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog title="Keyboard" open={open} onClose={onClose}>
      <dl className={styles.keys}>
        {KEYS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
