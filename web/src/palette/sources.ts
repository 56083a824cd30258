import { findThings } from "./find";
import type { PaletteSource } from "./types";

/** What the palette asks beside the places of the console, in the order in which it shows the answers. */
export const SOURCES: readonly PaletteSource[] = [findThings];
