// Folds the log of a session into what the flow policy reads: texts of the user, trusted values, texts of third parties, approvals and refusals. Compaction removes nothing from it.
import { setImmediate } from 'node:timers/promises';
import { messageToolCalls, type Event, type Json, type MessagePart } from '../../core/index.ts';
import { decideCall } from './decide-call.ts';
import { toFlowCall } from './flow-call.ts';
import { prepareState } from './prepare-state.ts';
import { nameSources, readPrivateData } from './private-data.ts';
import { callKey, FlowState, type FlowEntry, type FlowStateOptions } from './flow-state.ts';
import { flowViewName, readStoredEvents, subagentAnnotation, type FlowLog } from './flow-log.ts';
import { applyLabels } from './apply-labels.ts';
import { readEffect } from './pending-effect.ts';
import { readFiles, readInput } from './read-input.ts';
import { dependsOnInput, readResult } from './read-result.ts';
import { restoreFlowState, serializeFlowState } from './stored-state.ts';
import { readToolDescriptions } from './tool-descriptions.ts';
import type { FlowCall, FlowDeclarations, FlowSource, ToolDeclaration } from './types.ts';

/** The state of the flow policy, and the calls of the last response. */
export type FlowSession = {
  readonly state: FlowState;
  readonly open: readonly OpenCall[];
  /** In a sub-agent no input is written by the user. `seeded`: it has the state of its parent; `started`: and its task. */
  readonly subagent?: 'unseeded' | 'seeded' | 'started';
  /** The state of a session in which nothing happened yet: it has descriptions of tools only. */
  readonly fresh?: FlowState;
};

/** A call that has no result yet. */
export type OpenCall = FlowCall & {
  /** The state when it was asked about or started; absent before. */
  readonly before?: FlowState;
  /** Whether the flow policy asked about it. */
  readonly isAsked?: boolean;
};

/** Options of createFlowFold. */
export type FlowFoldOptions = FlowStateOptions & { readonly declarations: FlowDeclarations };

/** So many events are read in a few milliseconds. */
const eventsPerSlice = 200;
const charsPerSlice = 100_000;

/** Reads a log. */
export type FlowFold = {
  /** The state of a session in which nothing happened. */
  readonly empty: FlowState;
  /** The session after the last event of a log. What was read of a log is kept with it. */
  readonly read: (log: FlowLog) => FlowSession;
  /** The same, with pauses in which the program can do other work. */
  readonly readInSlices: (log: FlowLog) => Promise<FlowSession>;
  /** Serializes the session for a baseline. */
  readonly serialize: (log: FlowLog) => Json;
};

/** Creates a fold with the declarations of the tools of an agent. */
export function createFlowFold({ declarations, ...options }: FlowFoldOptions): FlowFold {
  const empty = FlowState.create(options);
  const initial: FlowSession = { state: empty, open: [], fresh: empty };

  const update = (session: FlowSession, id: string, change: (call: OpenCall) => OpenCall): FlowSession => ({
    ...session,
    open: session.open.map((each) => (each.id === id ? change(each) : each)),
  });

  function resolve(
    session: FlowSession,
    { call: id, allowed }: Event & { readonly type: 'approval-resolved' },
  ): FlowSession {
    const call = session.open.find((each) => each.id === id);
    if (!call?.isAsked) return session;
    const decision = decideCall(session.state, declarations, call);
    const values = decision.type === 'allow' ? [] : decision.bad.map(({ role, value }) => ({ role, value }));
    const entries: FlowEntry[] = [{ type: allowed ? 'approved' : 'refused', call: callKey(call), values }];
    if (!allowed) entries.push(...readEffect(declarations, call.tool, false));
    return update({ ...session, state: session.state.add(...entries) }, id, (each) => ({
      ...each,
      before: session.state,
      isAsked: false,
    }));
  }

  function end(session: FlowSession, event: Event & { readonly type: 'tool-ended' }): FlowSession {
    const call = session.open.find((each) => each.id === event.call);
    if (!call) return addText(session, event.text, { tool: 'unknown', call: event.call });
    const rest = session.open.filter((each) => each !== call);
    if (event.outcome === 'denied') {
      const isRefused = event.deniedBy?.kind === 'flow';
      return {
        ...session,
        state: isRefused ? session.state.add(...readEffect(declarations, call.tool, false)) : session.state,
        open: rest,
      };
    }
    const declaration: Partial<ToolDeclaration> = declarations.tools.get(call.tool) ?? {};
    const labelled = applyLabels(
      // A confirmation that is an error can quote a file.
      declaration.output === 'none' && event.outcome !== 'ok' ? { ...declaration, output: 'untrusted' } : declaration,
      event.labels,
    );
    const values = dependsOnInput(labelled.output)
      ? decideCall(call.before ?? session.state, declarations, call).values
      : [];
    // What the result of an effect says is not new after the effect.
    const entries = [
      ...readPrivateData(call, event.text, { ...declaration, ...(labelled.private ? { private: true } : {}) }, options),
      ...nameSources(
        [
          ...readResult(session.state, call, event.text, labelled, values, event.data),
          // What a quarantined result holds is untrusted, whatever its tool declares.
          ...readWithheld(event.withheld, { tool: call.tool, call: call.id }),
        ],
        call,
        declaration,
      ),
      ...(event.files?.length ? [readFiles({ tool: call.tool, call: call.id })] : []),
      // A code that was wrong completes nothing: the next one can.
      ...readEffect(declarations, call.tool, true).filter((entry) => !isFailedConfirm(entry, event.outcome)),
    ];
    return { ...session, state: session.state.add(...entries), open: rest };
  }

  function startEpoch(
    session: FlowSession,
    { tools, baseline, reason }: Event & { readonly type: 'epoch-started' },
  ): FlowSession {
    const isFresh = session.state === session.fresh;
    const state = session.state.add(...readToolDescriptions(session.state, tools));
    // The history of a fork may have texts of third parties that are not in this log.
    if (baseline && !isFresh && reason === 'edited') {
      // A program wrote this history: what of it the user typed before is known, the rest can be anything.
      const others = baseline.messages.filter(
        ({ role, parts }) => role === 'tool' || (role === 'user' && !state.userTexts.includes(textOf(parts))),
      );
      const read = others.some(({ role }) => role === 'user') ? baseline.messages : others;
      return read.reduce<FlowSession>(
        (all, { parts }) => addText(all, textOf(parts), { tool: 'an edited history', call: '' }),
        { ...session, state },
      );
    }
    if (!baseline || !isFresh) return { ...session, state, ...(isFresh ? { fresh: state } : {}) };
    const stored = restoreFlowState(baseline.views?.[flowViewName], options);
    if (stored) return { state: stored.add(...readToolDescriptions(stored, tools)), open: [] };
    return baseline.messages.reduce<FlowSession>(
      (all, { role, parts }) =>
        role === 'assistant' ? all : addText(all, textOf(parts), { tool: 'an earlier session', call: '' }),
      { ...session, state },
    );
  }

  function on(session: FlowSession, event: Event): FlowSession {
    switch (event.type) {
      case 'input-received': {
        const text = textOf(event.parts);
        if (event.by !== undefined) return addText(session, text, { tool: event.by, call: event.input });
        // What the parent knows of the values of a task is in its state; without it, and for later messages, the text is that of a third party.
        if (session.subagent === 'seeded') return text.trim() === '' ? session : { ...session, subagent: 'started' };
        if (session.subagent) return addText(session, text, { tool: 'the parent', call: event.input });
        return { ...session, state: session.state.add(...readInput(event.parts, event.input)) };
      }
      case 'turn-ended':
        return { ...session, open: messageToolCalls(event.message).map(toFlowCall) };
      case 'approval-requested':
        return event.by?.kind === 'flow'
          ? update(session, event.call, (each) => ({ ...each, isAsked: true }))
          : session;
      case 'approval-resolved':
        return resolve(session, event);
      case 'tool-started': {
        const { call, tool, input } = event;
        return update(session, call, (each) => {
          const started = input === undefined ? each : { id: call, tool, input };
          return { ...started, before: session.state };
        });
      }
      case 'tool-ended':
        return end(session, event);
      case 'branch-started':
        return session.open.length === 0 ? session : { ...session, open: [] };
      case 'epoch-started':
        return startEpoch(session, event);
      case 'annotation-added': {
        if (event.key === subagentAnnotation) return { ...session, subagent: 'unseeded' };
        if (event.key !== flowViewName || session.subagent !== 'unseeded') return session;
        return { ...session, state: session.state.add(...restore(event.value).state.entries), subagent: 'seeded' };
      }
      case 'session-started':
      case 'run-started':
      case 'turn-started':
      case 'turn-failed':
      case 'answer-rejected':
      case 'check-ended':
      case 'compaction-failed':
      case 'run-ended':
      default:
        return session;
    }
  }

  const sessions = new WeakMap<FlowLog, FlowSession>();

  function read(log: FlowLog): FlowSession {
    const pending: FlowLog[] = [];
    let session: FlowSession | undefined;
    for (let at: FlowLog | undefined = log; at && session === undefined; at = at.previous) {
      // Where another fold has read the log, such as that of an agent with another model, its events are gone: what it read counts.
      session = sessions.get(at) ?? (at.read as FlowSession | undefined);
      if (session === undefined) pending.push(at);
    }
    session ??= initial;
    for (const { event, stored } of pending.toReversed()) {
      if (stored !== undefined) session = restore(stored);
      if (event) session = on(session, event);
    }
    sessions.set(log, session);
    if (log.previous) {
      log.previous = undefined;
      log.read = session;
    }
    return session;
  }

  /** The logs up to this one that were not read, the oldest first. */
  function listUnread(log: FlowLog): readonly FlowLog[] {
    const unread: FlowLog[] = [];
    for (let at: FlowLog | undefined = log; at && !at.read && !sessions.has(at); at = at.previous) unread.push(at);
    return unread.toReversed();
  }

  /** One session is read at a time: two readers of one log would each build an index. */
  let reading: Promise<unknown> = Promise.resolve();

  async function readSlices(log: FlowLog): Promise<void> {
    for (const at of listSliceEnds(listUnread(log))) {
      if (sessions.has(log)) return;
      await prepareState(read(at).state, declarations.tools);
      await setImmediate();
    }
  }

  async function readInSlices(log: FlowLog): Promise<FlowSession> {
    if (listSliceEnds(listUnread(log)).length > 0) {
      const turn = reading.then(() => readSlices(log));
      reading = turn.catch(() => {});
      await turn;
    }
    const session = read(log);
    await prepareState(session.state, declarations.tools);
    return session;
  }

  function restore(stored: Json): FlowSession {
    const state = restoreFlowState(stored, options);
    if (state) return { state, open: [] };
    const raw = readStoredEvents(stored);
    if (raw) return raw.events.reduce(on, raw.stored === null ? initial : restore(raw.stored));
    // What was stored cannot be read, so that the origin of values is not known: every value counts as new.
    return addText(initial, 'unreadable', { tool: 'an earlier part of this session', call: '' });
  }

  return { empty, read, readInSlices, serialize: (log) => serializeFlowState(read(log).state) };
}

/** Where to pause among logs: after a number of events, and after long texts, which later events can need. */
function listSliceEnds(unread: readonly FlowLog[]): readonly FlowLog[] {
  const ends: FlowLog[] = [];
  let [events, chars] = [0, 0];
  for (const at of unread) {
    events += 1;
    chars += countChars(at.event);
    if (events < eventsPerSlice && chars < charsPerSlice) continue;
    ends.push(at);
    [events, chars] = [0, 0];
  }
  return ends;
}

const countChars = (event: Event | undefined): number =>
  event?.type === 'tool-ended' ? event.text.length + (event.withheld?.length ?? 0) : 0;

const isFailedConfirm = (entry: FlowEntry, outcome: string): boolean =>
  entry.type === 'effect' && entry.isConfirm === true && outcome === 'failed';

const readWithheld = (text: string | undefined, source: FlowSource): readonly FlowEntry[] =>
  text === undefined || text.trim() === '' ? [] : [{ type: 'untrusted', text, source }];

const addText = (
  session: FlowSession,
  text: string,
  source: { readonly tool: string; readonly call: string },
): FlowSession =>
  text.trim() === '' ? session : { ...session, state: session.state.add({ type: 'untrusted', text, source }) };

const textOf = (parts: readonly MessagePart[]): string =>
  parts.flatMap((part) => (part.type === 'text' || part.type === 'tool-result' ? [part.text] : [])).join('\n');
