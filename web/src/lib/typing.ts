/** Between typing and asking: nobody wants an answer to half a word. */
import { useEffect, useRef, useState } from "react";

const PAUSE = 300;

/** The value once it has not changed for a moment. */
export function useSettled<T>(value: T, pause = PAUSE): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return settled;
}

const tidy = (text: string) => text.trim().replace(/\s+/g, " ");

/**
 * What is typed is in the field at once and is told after a pause. When `value` is changed by something else, a saved
 * view or the way back, that is shown instead; not when it is what was typed but for its spaces.
 */
export function useDraft(value: string, tell: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  const [told, setTold] = useState(value);
  const latest = useRef(tell);
  latest.current = tell;
  if (tidy(value) !== tidy(told)) {
    setTold(value);
    setText(value);
  }
  useEffect(() => {
    if (text === told) return;
    const timer = setTimeout(() => {
      setTold(text);
      latest.current(text);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text, told]);
  return [text, setText];
}
