/** The one way to the API: typed by its own description, same origin, with the session's cookie. */
import { ApiError, problemOf, UNREACHABLE } from "./error";
import type { paths } from "./schema";

export type Method = "get" | "post" | "put" | "patch" | "delete";
export type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, infer O> ? (O extends undefined ? never : P) : never;
}[keyof paths];

type Operation<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;
type Ok = 200 | 201 | 202 | 204 | 206;

export type Answer<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R }
    ? R extends Partial<Record<Ok, unknown>>
      ? {
          [S in keyof R & Ok]: R[S] extends { content: { "application/json": infer A } } ? A : undefined;
        }[keyof R & Ok]
      : never
    : never;

export type Body<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { requestBody?: { content: { "application/json": infer B } } } ? B : undefined;

type QueryName<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { parameters: { query?: infer Q } } ? keyof NonNullable<Q> : never;

type Value = string | number | boolean | null | undefined;
export type Query<P extends keyof paths, M extends Method> = {
  [N in QueryName<P, M>]?: Value | readonly string[];
};

export interface Options<P extends keyof paths, M extends Method> {
  /** Values for the {…} of the path. */
  path?: Record<string, string | number>;
  /** Null, undefined and "" are left out; an array is repeated. */
  query?: Query<P, M>;
  body?: Body<P, M>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export async function call<M extends Method, P extends PathWith<M>>(
  method: M,
  path: P,
  options: Options<P, M> = {},
): Promise<Answer<P, M>> {
  const response = await send(method, address(path as string, options.path, options.query), options);
  if (!response.ok) throw new ApiError(await problemOf(response));
  if (response.status === 204) return undefined as Answer<P, M>;
  return (await response.json()) as Answer<P, M>;
}

/** The address of a call: for links that download, and for streams. */
export function address(
  path: string,
  values: Record<string, string | number> = {},
  query: Record<string, Value | readonly string[]> = {},
): string {
  const filled = path.replace(/{(\w+)}/g, (_, name: string) =>
    encodeURIComponent(String(values[name] ?? "")),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== "") search.append(name, String(each));
    }
  }
  const text = search.toString();
  return text === "" ? filled : `${filled}?${text}`;
}

interface Sent {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

async function send(method: Method, url: string, { body, headers, signal }: Sent): Promise<Response> {
  const all: Record<string, string> = { Accept: "application/json", ...headers };
  // No other site can set this header on a request of ours: the server asks for it before it changes anything.
  if (method !== "get") all["Horae-Console"] = "1";
  if (body !== undefined) all["Content-Type"] = "application/json";
  const sent = body === undefined ? undefined : JSON.stringify(body);
  try {
    return await fetch(url, {
      method: method.toUpperCase(),
      headers: all,
      body: sent,
      signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(UNREACHABLE);
  }
}
