import styles from "./Skeleton.module.css";

/** Holds the place of what has not come yet, so that nothing jumps. */
export function Skeleton({ width = "100%", height = "0.75rem" }: { width?: string; height?: string }) {
  return <span className={styles.skeleton} style={{ width, height }} aria-hidden="true" />;
}
