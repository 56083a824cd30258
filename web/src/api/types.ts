/** Names for the records of the API, as its description calls them. */
import type { components } from "./schema";

export type Schemas = components["schemas"];
export type Job = Schemas["Job"];
export type State = Job["state"];
export type Session = Schemas["Session"];
export type Overview = Schemas["Overview"];
export type Permission = Schemas["Permission"];
