/** Commands to copy into a terminal. */

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Words as a POSIX shell reads them back, whatever is in them. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}

/** A call of the API by curl, with the key from the environment. */
export function curl(method: string, path: string, body?: unknown): string {
  const words = ["curl", "-sS"];
  if (method !== "GET") words.push("-X", method);
  const rest = [new URL(path, window.location.origin).href];
  if (body !== undefined) rest.push("-H", "Content-Type: application/json", "-d", JSON.stringify(body));
  return `${shellWords(words)} -H "Authorization: Bearer $HORAE_KEY" ${shellWords(rest)}`;
}
