/** What went wrong with a call, in words for people, and what to do about it. */

export interface Problem {
  title: string;
  status: number;
  code: string;
  detail: string;
  field?: string;
  errors?: { pointer: string; detail: string }[];
  retry_after?: number;
  state?: string;
}

export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.name = "ApiError";
    this.code = problem.code;
    this.status = problem.status;
    this.problem = problem;
  }

  /** One sentence, or nothing where the message itself says it. */
  get advice(): string | undefined {
    return ADVICE[this.code];
  }
}

const ADVICE: Record<string, string> = {
  unreachable: "Is the server running? The console tries again by itself.",
  store_unavailable: "The console tries again by itself; horae doctor says what is wrong.",
  overloaded: "Wait a moment and try again.",
  quota_exceeded: "Wait a moment and try again, or ask for a larger quota.",
  unauthenticated: "Sign in again.",
  forbidden: "Ask an administrator for a key with another role.",
  outcome_unknown: "Look whether it happened before you repeat it.",
  internal: "The server's log has the details; horae doctor says what is wrong.",
};

export async function problemOf(response: Response): Promise<Problem> {
  const fallback: Problem = {
    title: response.statusText || "The server did not answer as expected",
    status: response.status,
    code: response.status === 401 ? "unauthenticated" : "internal",
    detail: "",
  };
  try {
    return { ...fallback, ...((await response.json()) as Partial<Problem>) };
  } catch {
    return fallback;
  }
}

export const UNREACHABLE: Problem = {
  title: "The server does not answer",
  status: 0,
  code: "unreachable",
  detail: "The server does not answer.",
};
