import { Link, useLocation } from "wouter";
import { useSession } from "~/api/session";
import { Icon } from "~/components/Icon";
import { classes } from "~/lib/classes";
import { Account } from "./Account";
import { PLACES, type Place, useHref } from "./navigation";
import styles from "./Sidebar.module.css";
import { TenantChooser } from "./TenantChooser";

/** The places of the console; beside the page, or in front of it on a phone. */
export function Sidebar({ onGo }: { onGo?: () => void }) {
  const permissions = useSession()?.permissions ?? [];
  const href = useHref();
  return (
    <div className={styles.side}>
      <Link href={href("/")} className={styles.brand} onClick={onGo}>
        <Mark />
        Horae
      </Link>
      <TenantChooser />
      <nav className={styles.nav} aria-label="Console">
        {PLACES.map((group) => {
          const seen = group.places.filter((place) => permissions.includes(place.permission));
          if (seen.length === 0) return null;
          return (
            <section key={group.title} className={styles.group} aria-label={group.title}>
              <h2>{group.title}</h2>
              <ul>
                {seen.map((place) => (
                  <Entry key={place.href} place={place} onGo={onGo} />
                ))}
              </ul>
            </section>
          );
        })}
      </nav>
      <Account />
    </div>
  );
}

function Entry({ place, onGo }: { place: Place; onGo?: () => void }) {
  const [location] = useLocation();
  const href = useHref();
  const here =
    place.href === "/" ? location === "/" : location === place.href || location.startsWith(`${place.href}/`);
  return (
    <li>
      <Link
        href={href(place.href)}
        className={classes(styles.entry, here && styles.here)}
        aria-current={here ? "page" : undefined}
        onClick={onGo}
      >
        <Icon name={place.icon} />
        {place.label}
      </Link>
    </li>
  );
}

export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg className={styles.mark} width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <g fill="none" strokeWidth="2.6" strokeLinecap="round">
        <path d="M16 6.6a9.4 9.4 0 0 1 8.14 14.1" />
        <path d="M21.5 23.6a9.4 9.4 0 0 1-14.9-7.1" opacity=".65" />
        <path d="M7.6 11.8A9.4 9.4 0 0 1 11.8 7.6" opacity=".4" />
        <path d="M16 11.4V16l3.4 2.2" />
      </g>
    </svg>
  );
}
