/** The few drawings of the console, 16 × 16, in the colour of the text around them. */

const PATHS = {
  home: "M2.5 7.2 8 2.5l5.5 4.7v6.3h-3.7V9.7H6.2v3.8H2.5z",
  jobs: "M2.5 4h11M2.5 8h11M2.5 12h7",
  dead: "M2.5 8.5h3l1 2h3l1-2h3M3.8 3.5h8.4l1.3 5v4h-11v-4z",
  actions: "M8.8 1.8 3.5 9h4l-.4 5.2L12.5 7h-4z",
  schedules: "M2.5 4h11v9.5h-11zM2.5 7h11M5.2 2.2V5M10.8 2.2V5",
  tasks: "M5.6 4.6 2.3 8l3.3 3.4M10.4 4.6 13.7 8l-3.3 3.4",
  workers: "M2.5 2.8h11v4.1h-11zM2.5 9.1h11v4.1h-11zM5 4.9h.01M5 11.2h.01",
  queues: "M2.5 3.5h4v9h-4zM8.2 5.8h2v4.4h-2M12 5.8h1.5v4.4H12",
  limits: "M2.6 11.6a5.7 5.7 0 1 1 10.8 0M8 9.5l2.7-3.4",
  gates: "M3 13.5v-11M13 13.5v-11M3 5.2h10M3 9.4h10",
  search: "M7 2.6a4.4 4.4 0 1 0 0 8.8 4.4 4.4 0 0 0 0-8.8zM10.2 10.2l3.4 3.4",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.4 6.4 12 13 4.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.3V2.5h-8v8h2.8",
  down: "M4 6.2 8 10.2l4-4",
  right: "M6.2 4l4 4-4 4",
  left: "M9.8 4l-4 4 4 4",
  menu: "M2.5 4.2h11M2.5 8h11M2.5 11.8h11",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  sun: "M8 5.1a2.9 2.9 0 1 0 0 5.8 2.9 2.9 0 0 0 0-5.8zM8 1.6v1.2M8 13.2v1.2M1.6 8h1.2M13.2 8h1.2M3.5 3.5l.8.8M11.7 11.7l.8.8M12.5 3.5l-.8.8M4.3 11.7l-.8.8",
  moon: "M13.3 9.6A5.8 5.8 0 0 1 6.4 2.7a5.8 5.8 0 1 0 6.9 6.9z",
  screen: "M2.3 3h11.4v7.6H2.3zM5.6 13.4h4.8M8 10.6v2.8",
  clock: "M8 2.3a5.7 5.7 0 1 0 0 11.4A5.7 5.7 0 0 0 8 2.3zM8 4.9V8l2.2 1.5",
  out: "M9.5 2.8H3.2v10.4h6.3M6.8 8h6.7M11 5.3 13.7 8 11 10.7",
  help: "M8 2.3a5.7 5.7 0 1 0 0 11.4A5.7 5.7 0 0 0 8 2.3zM6.3 6.3c.2-1 .9-1.5 1.8-1.5 1 0 1.8.6 1.8 1.5 0 1.4-1.9 1.4-1.9 2.7M8 11.2h.01",
  warn: "M8 2.4 14.2 13H1.8zM8 6.3v3.1M8 11.3h.01",
  info: "M8 2.3a5.7 5.7 0 1 0 0 11.4A5.7 5.7 0 0 0 8 2.3zM8 7.4v3.5M8 5.1h.01",
  plus: "M8 3v10M3 8h10",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M4.8 3.2v9.6L12.6 8z",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2.4v2.7h-2.7",
  download: "M8 2.5v7.6M4.8 7 8 10.2 11.2 7M2.8 13.3h10.4",
  edit: "M10.6 2.9 13.1 5.4 5.6 12.9l-3.2.7.7-3.2z",
  trash: "M2.8 4.4h10.4M6.2 4.2V2.6h3.6v1.6M4.2 4.4l.6 9h6.4l.6-9",
  filter: "M2.4 3.4h11.2L9.4 8.6v4.3l-2.8-1.2V8.6z",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  stop: "M5.2 2.4h5.6l2.8 2.8v5.6l-2.8 2.8H5.2l-2.8-2.8V5.2z",
  star: "M8 2.2l1.8 3.7 4 .5-3 2.8.8 4L8 11.3l-3.6 1.9.8-4-3-2.8 4-.5z",
  external: "M6.5 3.5h-4v10h10v-4M9.2 2.5h4.3v4.3M13.2 2.8 7.6 8.4",
  tenant: "M2.5 13.5v-8l4-2.5v10.5M6.5 6.2l7 2v5.3h-11M9.5 10.5h.01",
  up: "M4 9.8 8 5.8l4 4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
