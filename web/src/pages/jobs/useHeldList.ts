/** A page of jobs that holds still under whoever is about to act on it. */
import { type FocusEvent, useCallback, useEffect, useRef, useState } from "react";
import { client } from "~/api/client";
import { usePulse } from "~/live/hooks";
import { cursorAbove, inLine, type JobFilter } from "./filter";
import { LIST_KEY, useJobList } from "./useJobList";

interface Asked {
  filter: JobFilter;
  tenant: string | undefined;
  /** Of the address: an older page, above which nothing new comes. */
  cursor: string | undefined;
  limit: number;
  enabled: boolean;
  selected: boolean;
}

interface Pin {
  /** The list that is held. */
  key: string;
  cursor: string;
  /** There are newer jobs. */
  fresh: boolean;
}

/**
 * Rows must not move under the pointer, under the focus of a keyboard, nor under a selection: while one of them is
 * there, the list begins with the job that is first now, whose states still follow, and a button tells that there are
 * newer ones. A list of jobs that live stands still meanwhile: they leave it as they go on.
 *
 * Another filter or tenant is another list. Held is only what has been read of it since it is the one that is asked
 * for: not what the one before still shows, nor what was read of it a while ago.
 */
export function useHeldList({ filter, tenant, cursor, limit, enabled, selected }: Asked) {
  const key = JSON.stringify([tenant, filter, cursor]);
  const line = inLine(filter);
  const [pointed, setPointed] = useState(false);
  const [focused, box, onFocus, onBlur] = useFocusWithin();
  const held = pointed || focused || selected;
  const [pin, setPin] = useState<Pin>();
  const [read, setRead] = useState<string>();
  const pinned = pin?.key === key && !line ? pin : undefined;
  const from = cursor ?? pinned?.cursor;
  const list = useJobList({ filter, tenant, cursor: from, limit, live: !(line && held), enabled });
  const settled = list.isSuccess && !list.isFetching && !list.isPlaceholderData;
  useEffect(() => {
    if (settled) setRead(key);
  }, [settled, key]);

  const first = list.data?.items[0]?.id;
  const hold = held && !line && !cursor && read === key && !list.isPlaceholderData;
  useEffect(() => {
    if (!hold || first === undefined) return;
    setPin((before) => (before?.key === key ? before : { key, cursor: cursorAbove(first), fresh: false }));
  }, [hold, first, key]);
  usePulse((pulse) => {
    if (pulse.submitted > 0 && pin?.fresh === false) setPin({ ...pin, fresh: true });
  });

  const release = useCallback(() => {
    setPin(undefined);
    setRead(undefined);
    // What came meanwhile is not in the list as it was before.
    void client.invalidateQueries({ queryKey: LIST_KEY });
  }, []);
  useEffect(() => (held ? release : undefined), [held, release]);
  return {
    list,
    fresh: pinned?.fresh ?? false,
    release,
    /** For what stands around the rows and the buttons below them: on the way to a button nothing moves either. */
    around: { ref: box, onPointerLeave: () => setPointed(false), onBlur },
    rows: { onPointerEnter: () => setPointed(true), onFocus },
  };
}

/** Whether the focus of a keyboard is within: what was only clicked on does not count. */
function useFocusWithin() {
  const [focused, setFocused] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  // What is removed with the focus on it says nothing.
  useEffect(() => {
    if (focused && !box.current?.contains(document.activeElement)) setFocused(false);
  });
  const onFocus = (event: FocusEvent) => {
    if (event.target.matches(":focus-visible")) setFocused(true);
  };
  const onBlur = (event: FocusEvent) => {
    if (!box.current?.contains(event.relatedTarget)) setFocused(false);
  };
  return [focused, box, onFocus, onBlur] as const;
}
