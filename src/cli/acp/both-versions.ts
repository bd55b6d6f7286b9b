// What both versions of the protocol ask for in the same words, and are answered alike.
import type { ListSessionsResponse } from '@agentclientprotocol/sdk';
import type { StatusLine } from '../face/face.ts';
import { told } from './faults.ts';
import { pageOf } from './page.ts';
import type { Seat } from './seat.ts';
import type { EditorFor, Seats } from './seats.ts';

type Asking<Params> = { readonly params: Params };
type Named = { readonly sessionId: string };
type Listing = { readonly cwd?: string | null; readonly cursor?: string | null };
type Nothing = Record<string, never>;

/** The handlers of requests that are the same in both. */
export type Handlers = {
  readonly list: (asking: Asking<Listing>) => Promise<ListSessionsResponse>;
  readonly close: (asking: Asking<Named>) => Promise<Nothing>;
  readonly remove: (asking: Asking<Named>) => Promise<Nothing>;
  readonly cancel: (asking: Asking<Named>) => void;
};

/** Handlers for these sessions. */
export const handlersFor = (seats: Seats): Handlers => ({
  list: told(({ params: { cwd, cursor } }) => pageOf(seats.list(cwd ?? undefined), cursor)),
  close: told(async ({ params }) => {
    await seats.close(params.sessionId);
    return {};
  }),
  remove: told(async ({ params }) => {
    await seats.remove(params.sessionId);
    return {};
  }),
  cancel: ({ params }) => seats.at(params.sessionId).cancel(),
});

/** What a session is opened with. */
type Opening = { readonly cwd: string; readonly mcpServers?: readonly unknown[] | null };

/** Begins a session; the editor is greeted once it knows of it. */
export async function begun(
  seats: Seats,
  { cwd, mcpServers }: Opening,
  editorFor: EditorFor,
): ReturnType<Seats['begin']> {
  const made = await seats.begin({ cwd, servers: mcpServers ?? [] }, editorFor);
  greetLater(made.seat);
  return made;
}

/** Goes on with a session, after what its editor is to be told first; then the editor is greeted. */
export async function resumed(
  seats: Seats,
  { sessionId, cwd, mcpServers }: Opening & Named,
  editorFor: EditorFor,
  first: (seat: Seat) => Promise<void> | void = () => {},
): Promise<Seat> {
  const seat = await seats.resume(sessionId, { cwd, servers: mcpServers ?? [] }, editorFor);
  await first(seat);
  greetLater(seat);
  return seat;
}

const greetLater = (seat: Seat): void => void setImmediate(() => seat.greet());

/** How full the window is and what was spent; nothing where the window is not known. */
export function usageIn({ context, usd }: StatusLine): Usage | undefined {
  if (context?.window === undefined) return undefined;
  const cost = usd === undefined ? {} : { cost: { amount: usd, currency: 'USD' } };
  return { sessionUpdate: 'usage_update', used: context.used, size: context.window, ...cost };
}

type Usage = {
  readonly sessionUpdate: 'usage_update';
  readonly used: number;
  readonly size: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
};
