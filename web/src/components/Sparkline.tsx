import styles from "./Sparkline.module.css";

interface SparklineProps {
  /** Null where there was nothing to measure. */
  values: readonly (number | null)[];
  /** What it shows, with the figures that matter: it is read aloud. */
  label: string;
  /** A colour token, as "--state-running". */
  color?: string;
  kind?: "line" | "bars";
  width?: number;
  height?: number;
  /** The top of the scale; the largest value, unless given. */
  most?: number;
}

/** A trend the size of a word. */
export function Sparkline({
  values,
  label,
  color = "--accent",
  kind = "line",
  width = 96,
  height = 24,
  most,
}: SparklineProps) {
  const top = Math.max(most ?? 0, ...values.map((value) => value ?? 0)) || 1;
  const step = width / Math.max(1, kind === "bars" ? values.length : values.length - 1);
  const y = (value: number) => height - 1.5 - (Math.min(value, top) / top) * (height - 3);
  return (
    <svg
      className={styles.spark}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
      style={{ color: `var(${color})` }}
    >
      <title>{label}</title>
      {kind === "bars" ? (
        values.map((value, at) =>
          value === null ? null : (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a bar stands for
              key={at}
              x={at * step + step * 0.1}
              width={Math.max(1, step * 0.8)}
              y={value === 0 ? height - 1 : y(value)}
              height={value === 0 ? 1 : height - y(value)}
              opacity={value === 0 ? 0.35 : 1}
              fill="currentColor"
            />
          ),
        )
      ) : (
        <path
          d={linePath(values, step, y)}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          strokeLinejoin="round"
        />
      )}
    </svg>
  );
}

function linePath(values: readonly (number | null)[], step: number, y: (value: number) => number): string {
  let path = "";
  let down = false;
  values.forEach((value, at) => {
    if (value !== null) path += `${down ? "L" : "M"}${(at * step).toFixed(1)} ${y(value).toFixed(1)}`;
    down = value !== null;
  });
  return path;
}
