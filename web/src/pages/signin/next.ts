/** Where to go after the sign-in: only paths of the console itself, for an address from outside must not lead away. */
export function safePath(next: string | null): string {
  return next !== null && /^\/(?![/\\])/.test(next) ? next : "/";
}
