import { QueryClientProvider } from "@tanstack/react-query";
import { Component, type ReactNode, Suspense, useEffect } from "react";
import { Redirect, Route, Router, Switch, useLocation } from "wouter";
import styles from "./App.module.css";
import { client } from "./api/client";
import { useApi } from "./api/hooks";
import { ButtonLink } from "./components/Button";
import { Empty, ErrorNote } from "./components/Note";
import { Page } from "./components/Page";
import { Skeleton } from "./components/Skeleton";
import SignIn from "./pages/signin/SignIn";
import { ROUTES } from "./routes";
import { Shell } from "./shell/Shell";

export function App() {
  return (
    <QueryClientProvider client={client}>
      <Router base="/console">
        <Switch>
          <Route path="/sign-in" component={SignIn} />
          <Route component={SignedIn} />
        </Switch>
      </Router>
    </QueryClientProvider>
  );
}

function SignedIn() {
  const session = useApi("/v1/session", { every: 300 });
  const [location] = useLocation();
  if (session.error?.status === 401) {
    const here = location + window.location.search;
    return <Redirect to={here === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(here)}`} replace />;
  }
  if (session.data === undefined) {
    return session.error ? <Waiting error={session.error} again={() => void session.refetch()} /> : null;
  }
  return (
    <Shell>
      <Boundary key={location}>
        <Suspense fallback={<Loading />}>
          <Switch>
            {ROUTES.map(([path, page]) => (
              <Route key={path} path={path} component={page} />
            ))}
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </Boundary>
    </Shell>
  );
}

const AGAIN = 3000;

/** Before it is known who is here, nothing can be shown but why not. */
function Waiting({ error, again }: { error: unknown; again: () => void }) {
  useEffect(() => {
    const timer = setInterval(again, AGAIN);
    return () => clearInterval(timer);
  }, [again]);
  return (
    <main className={styles.alone}>
      <ErrorNote error={error} />
    </main>
  );
}

function Loading() {
  return (
    <Page title="Loading…">
      <Skeleton height="10rem" />
    </Page>
  );
}

function NotFound() {
  useEffect(() => {
    document.title = "Not found · Horae";
  }, []);
  return (
    <Page title="Not found">
      <Empty title="There is no such page" icon="search" action={<ButtonLink href="/">Home</ButtonLink>}>
        The address may be mistyped. Ctrl K finds pages, jobs, tasks, schedules and workers.
      </Empty>
    </Page>
  );
}

/** One page that breaks must not take the rest of the console with it. */
class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <Page title="This page broke">
        <ErrorNote error={this.state.error} retry={() => window.location.reload()} />
      </Page>
    );
  }
}
