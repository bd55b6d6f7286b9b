// The names of calls that clients make: they say which run made the call, so that its result finds the way back.
import type { FleetRun } from '../../core/index.ts';

/** A call of a run, as its client knows it. */
export type ClientCallId = { readonly run: string; readonly call: string };

/** The name of a call for a client. */
export const formatCallId = ({ id }: Pick<FleetRun, 'id'>, call: string): string => `call_${id}_${call}`;

/** What a name says; nothing where it is none of ours. */
export function parseCallId(id: string): ClientCallId | undefined {
  const [, run, call] = /^call_(.+)_(c[0-9a-z]{8})$/.exec(id) ?? [];
  return run === undefined || call === undefined ? undefined : { run, call };
}

/** The name of an answer, by which a client goes on with it. */
export const formatResponseId = ({ id }: Pick<FleetRun, 'id'>): string => `resp_${id}`;
