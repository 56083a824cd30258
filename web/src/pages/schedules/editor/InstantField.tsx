import { TextField } from "~/components/Field";
import { zone } from "~/lib/preferences";
import { useStored } from "~/lib/stored";
import { fromInput, localZone, toInput } from "~/lib/time";

interface InstantFieldProps {
  label: string;
  /** RFC 3339; kept to the microsecond unless it is changed. */
  value: string | null;
  onChange: (value: string | null) => void;
  error?: string;
}

/** An instant, typed by the clock that the console shows. */
export function InstantField({ label, value, onChange, error }: InstantFieldProps) {
  const [chosen] = useStored(zone);
  return (
    <TextField
      label={label}
      type="datetime-local"
      // Chromium takes six digits of a year otherwise, so that nobody gets on to the hour by typing.
      max="9999-12-31T23:59"
      hint={chosen === "utc" ? "UTC" : localZone()}
      error={error}
      value={value === null ? "" : toInput(new Date(value), chosen)}
      onChange={(typed) => onChange(fromInput(typed, chosen)?.toISOString() ?? null)}
    />
  );
}
