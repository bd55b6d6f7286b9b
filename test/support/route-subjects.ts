// Subjects of the walk over all routes: sessions, runs and schedules of every owner.
import type { TestContext } from 'node:test';
import { defaultTenant, type Event, type Fact, type FleetStore } from '../../src/core/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import { createApiFixture } from './api-server.ts';
import type { WalkSubject } from './route-table.ts';

/** The owner of a subject: a tenant, or the tenant of runs that name none. */
export type Owner = 'acme' | 'bolt' | typeof defaultTenant;
/** What a request names, and its owner. */
export type Subject = WalkSubject & { readonly owner: Owner; readonly auto: boolean };

/** All owners. */
export const owners: readonly Owner[] = ['acme', 'bolt', defaultTenant];
/** A text that only what belongs to an owner contains. */
export const secretOf = (owner: Owner): string => `secret-of-${owner}`;

/** Runs an agent once, and returns the facts that it recorded: of a run that waits for an approval, and of one that has ended. */
export async function recordTemplates(t: TestContext): Promise<Readonly<Record<'active' | 'ended', Template>>> {
  const { store, waitForStatus } = await createApiFixture(t, {
    script: ({ prompt, results }) =>
      prompt.includes('TEMPLATE-ASK') && results.length === 0 ? calls('act', {}) : says(`${prompt} is done`),
    tools: [
      { name: 'act', description: 'Acts.', input: { type: 'object' }, effect: 'external', execute: () => 'done' },
    ],
    gates: [() => ({ type: 'ask', question: 'May it act?' })],
  });
  const record = async (id: string, prompt: string, status: 'waiting' | 'ended'): Promise<Template> => {
    await store.queue.enqueue([{ id, prompt }]);
    const { pendingApprovals } = await waitForStatus(id, status);
    const log = await store.sessions.reader(id);
    const events: Event[] = [];
    for await (const batch of log.read()) events.push(...batch);
    await log.close();
    return { id, prompt, text: JSON.stringify(events), call: pendingApprovals[0]?.call ?? 'none' };
  };
  return {
    active: await record('template-active', 'TEMPLATE-ASK', 'waiting'),
    ended: await record('template-ended', 'TEMPLATE-END', 'ended'),
  };
}

type Template = { readonly id: string; readonly prompt: string; readonly text: string; readonly call: string };

/** Writes subjects into a store: a session with the facts of a template, its run, and a schedule. */
export function createSubjects(store: FleetStore, templates: Readonly<Record<'active' | 'ended', Template>>) {
  let count = 0;
  return async (owner: Owner, state: 'active' | 'ended', auto: boolean): Promise<Subject> => {
    const name = `thing-${String(++count).padStart(6, '0')}`;
    const { id, prompt, text, call } = templates[state];
    const events = JSON.parse(text.replaceAll(id, name).replaceAll(prompt, secretOf(owner))) as readonly Event[];
    const facts = events.map(({ seq: _, id: __, time: ___, parent: ____, ...fact }) => fact as Fact);
    const settings = { answer: secretOf(owner), ...(auto ? { auto } : {}) };
    const run = { prompt: secretOf(owner), tenant: owner };
    const record = async (): Promise<void> => {
      const log = await store.sessions.open(name, { tenant: owner });
      await log.append(0, facts);
      await log.close();
    };
    const enqueue = async (): Promise<void> => {
      await store.queue.enqueue([{ id: name, ...run, settings }]);
      if (state === 'ended') await store.queue.cancel(name, secretOf(owner));
    };
    // Writes at the same time share a transaction.
    await Promise.all([record(), enqueue(), store.queue.setSchedule({ name, cron: '0 3 * * *', run })]);
    return { run: name, session: name, schedule: name, call, owner, auto };
  };
}

/** Returns subjects to send requests about. A subject that no request may have changed is used again. */
export function createSubjectPool(store: FleetStore, create: ReturnType<typeof createSubjects>) {
  const pool = new Map<string, Subject>();
  return {
    async take(owner: Owner, state: 'active' | 'ended', auto: boolean): Promise<Subject> {
      const key = `${owner} ${state} ${auto}`;
      const subject = pool.get(key) ?? (await create(owner, state, auto));
      pool.set(key, subject);
      return subject;
    },
    /** Replaces a subject that a request may have changed. */
    async discard(subject: Subject): Promise<void> {
      for (const [key, each] of pool) if (each === subject) pool.delete(key);
      await store.queue.setSchedule({ name: subject.schedule });
    },
  };
}

/** Everything that a request could change of a subject. */
export async function fingerprint(
  { queue, sessions, inbox }: FleetStore,
  { run, session, schedule }: WalkSubject,
): Promise<string> {
  const { holder: _, ...info } = (await sessions.find(session)) ?? {};
  return JSON.stringify([
    await queue.run(run),
    (await queue.list({ session })).length,
    (await queue.list({ parent: run })).length,
    info,
    await inbox.read(session, 0),
    (await queue.schedules()).filter(
      ({ name, run: { session: runSession } }) => name === schedule || runSession === session,
    ),
  ]);
}
