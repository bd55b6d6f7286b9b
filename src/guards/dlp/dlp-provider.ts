// A provider that applies the policy to requests and answers: values become tokens before a model that is not local sees them, and are restored in its answer.
import {
  FairleadError,
  errorMessage,
  providerTraits,
  toArray,
  type Chunk,
  type Json,
  type Message,
  type ModelRequest,
  type Provider,
} from '../../core/index.ts';
import { blockedError } from './blocked-error.ts';
import { dlpAuditKey, processAudit, type DlpAuditBuffer } from './audit.ts';
import { createGuardedText, type GuardedText } from './answer-stream.ts';
import type { DlpPolicy } from './policy.ts';
import { mapStrings, replaceInRequest, scanMessages, type FoundValue, type Replace } from './scan-request.ts';
import { countFindings, formatCounts } from './scanner.ts';
import type { DlpAction, DlpAudit } from './types.ts';
import { createDlpVault, type DlpVault } from './vault.ts';

/** Options of createDlpProvider. */
export type DlpProviderOptions = {
  readonly policy: DlpPolicy;
  /** Whether the model is on a machine of the user: its requests are not scanned. */
  readonly isLocal?: boolean;
  /** The name of the model in audit facts and questions. */
  readonly to?: string;
  /** Asks the user whether values may be sent; without it, and after a no, they are replaced by tokens. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Whether the answers leave this machine, as those of a server do: the policy of the way `answers` applies to their text. */
  readonly guardsAnswers?: boolean;
  readonly audit?: DlpAuditBuffer;
};

type SessionState = {
  readonly vault: DlpVault;
  readonly approved: Set<string>;
  scanned: WeakSet<Message>;
  /** How many private values there were: a new one is searched for in all messages. */
  privateValues: number;
  /** Messages as they are sent; a message that was sent once stays the same object. */
  replaced: WeakMap<Message, Message>;
  system: string;
};

const maxSessions = 256;

/** Wraps a provider with the policy. */
export function createDlpProvider(provider: Provider, options: DlpProviderOptions): Provider {
  const sessions = new Map<string, SessionState>();
  const stateOf = (session: string | undefined): SessionState => {
    const known = session === undefined ? undefined : sessions.get(session);
    const state = known ?? {
      vault: createDlpVault(session ?? crypto.randomUUID()),
      approved: new Set(),
      scanned: new WeakSet(),
      privateValues: options.policy.scanner.privateValues.size,
      replaced: new WeakMap(),
      system: '',
    };
    if (session === undefined) return state;
    sessions.delete(session);
    sessions.set(session, state);
    const [oldest] = sessions.keys();
    if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
    return state;
  };
  return {
    ...providerTraits(provider),
    stream: (request, signal) => streamGuarded(provider, options, stateOf(request.session), request, signal),
  };
}

async function* streamGuarded(
  provider: Provider,
  options: DlpProviderOptions,
  state: SessionState,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<Chunk> {
  const { policy, isLocal = false, audit = processAudit, guardsAnswers = false } = options;
  const to = options.to ?? provider.model;
  const guarded =
    isLocal || policy.isOff('model') ? request : await guardRequest(request, state, { ...options, audit, to });
  const { vault } = state;
  const holdsText = guardsAnswers && !policy.isOff('answers') && policy.isEnforced('answers');
  const buffers = new Map<number, string>();
  const guardedTexts = new Map<number, GuardedText>();
  // An answer that may be stopped as a whole is shown when it is complete.
  const isHeld = holdsText && policy.mayBlock('answers');
  const startText = (index: number): void => {
    buffers.set(index, '');
    if (holdsText && !isHeld)
      guardedTexts.set(
        index,
        createGuardedText(policy.scanner, replaceInAnswer(policy), policy.scanner.privateValues.longest),
      );
  };
  for await (const chunk of provider.stream(guarded, signal)) {
    if (chunk.type === 'part-started' && chunk.part === 'text') startText(chunk.index);
    if (chunk.type === 'restarted') {
      buffers.clear();
      guardedTexts.clear();
    }
    if (chunk.type === 'part-delta' && buffers.has(chunk.index)) {
      const text = (buffers.get(chunk.index) ?? '') + chunk.text;
      const cut = isHeld ? 0 : vault.cutBefore(text);
      buffers.set(chunk.index, text.slice(cut));
      const restored = vault.restore(text.slice(0, cut));
      const shown = guardedTexts.get(chunk.index)?.add(restored) ?? restored;
      if (shown !== '') yield { ...chunk, text: shown };
      continue;
    }
    if (chunk.type === 'part-ended' && buffers.has(chunk.index)) {
      const rest = buffers.get(chunk.index) ?? '';
      buffers.delete(chunk.index);
      const restored = vault.restore(rest);
      const guardedText = guardedTexts.get(chunk.index);
      const text = guardedText
        ? guardedText.add(restored) + guardedText.end()
        : guardAnswer(restored, isHeld, { policy, audit: undefined, request, to });
      if (text !== '') yield { type: 'part-delta', index: chunk.index, text };
    }
    if (chunk.type !== 'end') {
      yield chunk;
      continue;
    }
    const message: Message = {
      ...chunk.message,
      parts: chunk.message.parts.map((part) =>
        part.type === 'text'
          ? { ...part, text: guardAnswer(vault.restore(part.text), guardsAnswers, { policy, audit, request, to }) }
          : part.type === 'tool-call'
            ? { ...part, input: mapStrings(part.input, (text) => vault.restore(text)) }
            : part,
      ),
    };
    const facts = audit.take(request.session);
    const annotations = facts.map((value) => ({ key: dlpAuditKey, value: value as unknown as Json }));
    yield { ...chunk, message, ...(annotations.length > 0 ? { annotations } : {}) };
  }
}

type GuardContext = DlpProviderOptions & { readonly audit: DlpAuditBuffer; readonly to: string };

/** Scans what is new in a request, decides about it, and returns what may be sent. */
async function guardRequest(request: ModelRequest, state: SessionState, context: GuardContext): Promise<ModelRequest> {
  const { policy, audit, to, confirm } = context;
  const { scanner, actionFor } = policy;
  try {
    if (state.privateValues !== scanner.privateValues.size) {
      state.privateValues = scanner.privateValues.size;
      state.scanned = new WeakSet();
      state.replaced = new WeakMap();
      state.system = '';
    }
    const fresh = toArray(request.messages).filter((message) => !state.scanned.has(message));
    const { findings, unscanned } = scanMessages(scanner, fresh, request.system === state.system ? '' : request.system);
    const byAction = Map.groupBy(findings, ({ finding }) => actionFor('model', finding.kind));
    const report = (action: DlpAction, found: readonly FoundValue[], more: Partial<DlpAudit> = {}): void =>
      audit.add(request.session, {
        way: 'model',
        action,
        counts: countFindings(found.map(({ finding }) => finding)),
        to,
        ...more,
      });
    const blocked = byAction.get('block') ?? [];
    if (blocked.length > 0)
      throw blockedError(countFindings(blocked.map(({ finding }) => finding)), `a request to ${to}`);
    const asked = (byAction.get('ask') ?? []).filter(({ value }) => !state.approved.has(value));
    if (asked.length > 0) {
      const counts = countFindings(asked.map(({ finding }) => finding));
      const isAllowed =
        (await confirm?.(`Send ${formatCounts(counts)} to ${to}? No replaces them by tokens.`)) === true;
      if (isAllowed) {
        for (const { value } of asked) state.approved.add(value);
        state.replaced = new WeakMap();
      }
      report(isAllowed ? 'ask' : 'redact', asked);
    }
    const redacted = byAction.get('redact') ?? [];
    if (redacted.length > 0) report('redact', redacted);
    const observed = byAction.get('observe') ?? [];
    if (observed.length > 0 || (unscanned > 0 && policy.isEnforced('model')))
      report('observe', observed, unscanned > 0 ? { unscanned } : {});
    for (const message of fresh) state.scanned.add(message);
    state.system = request.system;
    if (!policy.isEnforced('model')) return request;
    return replaceInRequest(request, state.replaced, (text) =>
      scanner.redact(text, (value, finding) => {
        const action = actionFor('model', finding.kind);
        const isSent = action === 'observe' || action === 'off' || (action === 'ask' && state.approved.has(value));
        return isSent ? value : state.vault.tokenize(value, finding);
      }),
    );
  } catch (error) {
    if (error instanceof FairleadError && error.code === 'dlp/blocked') throw error;
    if (policy.isEnforced('model')) throw failedError(error);
    audit.add(request.session, { way: 'model', action: 'observe', counts: {}, to, failed: true });
    return request;
  }
}

const replaceInAnswer =
  ({ actionFor }: DlpPolicy): Replace =>
  (value, { kind }) =>
    actionFor('answers', kind) === 'redact' ? `[removed: ${kind}]` : value;

/** Applies the policy of answers to a text. */
function guardAnswer(
  text: string,
  isGuarded: boolean,
  {
    policy,
    audit,
    request,
    to,
  }: { policy: DlpPolicy; audit: DlpAuditBuffer | undefined; request: ModelRequest; to: string },
): string {
  if (!isGuarded || policy.isOff('answers') || text === '') return text;
  const { scanner, actionFor, isEnforced } = policy;
  try {
    const findings = scanner.find(text);
    if (findings.length === 0) return text;
    const counts = countFindings(findings);
    const actions = new Set(findings.map(({ kind }) => actionFor('answers', kind)));
    // No user of the server can be asked while an answer is written.
    if (actions.has('block') || actions.has('ask')) throw blockedError(counts, 'an answer');
    audit?.add(request.session, { way: 'answers', action: actions.has('redact') ? 'redact' : 'observe', counts, to });
    return scanner.redact(text, replaceInAnswer(policy));
  } catch (error) {
    if (error instanceof FairleadError && error.code === 'dlp/blocked') throw error;
    if (isEnforced('answers')) throw failedError(error);
    audit?.add(request.session, { way: 'answers', action: 'observe', counts: {}, to, failed: true });
    return text;
  }
}

const failedError = (cause: unknown): FairleadError =>
  new FairleadError('dlp/failed', `Nothing was sent: the text could not be scanned (${errorMessage(cause)}).`, {
    blame: 'harness',
    cause,
  });
