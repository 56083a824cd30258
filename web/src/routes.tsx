/** Every page and its path; each is loaded when it is first opened. One line a page: add yours. */
import { type ComponentType, type LazyExoticComponent, lazy } from "react";

type Page = LazyExoticComponent<ComponentType>;

export const ROUTES: readonly (readonly [path: string, page: Page])[] = [
  ["/", lazy(() => import("./pages/home/Home"))],
  ["/jobs", lazy(() => import("./pages/jobs/Jobs"))],
  ["/jobs/:id", lazy(() => import("./pages/job/Job"))],
  ["/dead-letters", lazy(() => import("./pages/deadletters/DeadLetters"))],
  ["/actions", lazy(() => import("./pages/actions/Actions"))],
  ["/schedules", lazy(() => import("./pages/schedules/Schedules"))],
  ["/schedules/:name", lazy(() => import("./pages/schedules/Schedule"))],
  ["/tasks", lazy(() => import("./pages/tasks/Tasks"))],
  ["/tasks/:name", lazy(() => import("./pages/tasks/TaskPage"))],
  ["/workers", lazy(() => import("./pages/workers/Workers"))],
  ["/workers/:id", lazy(() => import("./pages/workers/Worker"))],
  ["/queues", lazy(() => import("./pages/queues/Queues"))],
  ["/limits", lazy(() => import("./pages/limits/Limits"))],
  ["/gates", lazy(() => import("./pages/gates/Gates"))],
];
