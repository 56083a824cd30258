import { type FormEvent, useEffect, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { ApiError } from "~/api/error";
import { signIn } from "~/api/session";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { TextField } from "~/components/Field";
import { ErrorNote } from "~/components/Note";
import { Mark } from "~/shell/Sidebar";
import { safePath } from "./next";
import styles from "./SignIn.module.css";

/** Sign-in with a key, or by the one-time address that `horae up` prints: its ticket stands behind the #. */
export default function SignIn() {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(() => ticketOf(window.location.hash) !== null);
  const [error, setError] = useState<unknown>(null);
  const [, go] = useLocation();
  const [params] = useSearchParams();
  const next = safePath(params.get("next"));

  useEffect(() => {
    document.title = "Sign in · Horae";
    const ticket = ticketOf(window.location.hash);
    if (ticket === null) return;
    // The ticket leaves the address at once: it must not stay in the history.
    window.history.replaceState(null, "", window.location.pathname + window.location.search);
    signIn({ ticket })
      .then(() => go(next, { replace: true }))
      .catch((failed: unknown) => {
        setError(failed instanceof ApiError && failed.status === 401 ? new Error(USED) : failed);
        setBusy(false);
      });
  }, [go, next]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    signIn({ key: key.trim() })
      .then(() => go(next, { replace: true }))
      .catch(setError)
      .finally(() => setBusy(false));
  };

  return (
    <main className={styles.page}>
      <form className={styles.card} onSubmit={submit}>
        <Mark size={40} />
        <h1>Sign in to Horae</h1>
        <TextField
          label="API key"
          type="password"
          name="key"
          value={key}
          onChange={setKey}
          mono
          autoFocus
          required
          autoComplete="current-password"
          placeholder="hk_…"
        />
        <Button kind="primary" type="submit" busy={busy} disabled={key.trim() === ""}>
          Sign in
        </Button>
        {error !== null && <ErrorNote error={error} />}
        <div className={styles.other}>
          <p>No key at hand? On the machine where Horae runs, this opens the console signed in:</p>
          <Command text="horae console --open" />
        </div>
      </form>
    </main>
  );
}

const USED =
  "This address has been used or is too old. Make another with horae console, or sign in with a key.";

function ticketOf(hash: string): string | null {
  return new URLSearchParams(hash.slice(1)).get("ticket");
}
