import type { Schemas } from "~/api/types";

export type Schedule = Schemas["Schedule"];
export type Definition = Schemas["ScheduleDefinition"];
export type Tick = Schemas["Tick"];
export type LatestTick = Schemas["LatestTick"];
export type TickRecord = Schemas["TickRecord"];
export type Version = Schemas["ScheduleVersion"];
export type Backfill = Schemas["Backfill"];
export type Forecast = Schemas["Forecast"];
export type Agenda = Schemas["Agenda"];
export type AgendaDay = Schemas["AgendaDay"];
export type AgendaItem = Schemas["AgendaItem"];
export type Rule = Schemas["Rule"];
