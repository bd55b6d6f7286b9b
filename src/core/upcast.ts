// Upcasts events that an older version wrote to today's names and fields, so that every log ever written can be read.
import { isObject, type JsonObject } from './json.ts';

const renamedTypes: Readonly<Record<string, string>> = {
  'ask-raised': 'approval-requested',
  'ask-answered': 'approval-resolved',
  'remark-made': 'annotation-added',
  'checks-ended': 'check-ended',
  'compaction-refused': 'compaction-failed',
};

/** The event types as older versions wrote them, by their name of today. */
export const oldEventTypes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(renamedTypes).map(([old, now]) => [now, old]),
);

type EventFields = Record<string, unknown>;

/** Renames what an older version wrote, in place: the value was just parsed and has no other owner. Returns the same value. */
export function upcastEvent(value: unknown): unknown {
  if (!isObject(value) || typeof value['type'] !== 'string') return value;
  const event: EventFields = value;
  const renamed = renamedTypes[value['type']];
  if (renamed !== undefined) event['type'] = renamed;
  upcasters[event['type'] as string]?.(event);
  return value;
}

const renameField = (fields: unknown, from: string, to: string): void => {
  if (!isObject(fields) || !Object.hasOwn(fields, from)) return;
  const own: EventFields = fields;
  if (own[to] === undefined) own[to] = own[from];
  delete own[from];
};

/** Renames what an older version called the fields of spending, in place. Returns the same value. */
export function upcastUsageTotals(spent: unknown): unknown {
  renameField(spent, 'unpriced', 'turnsWithoutPrice');
  return spent;
}

function upcastLimits(limits: unknown): void {
  renameField(limits, 'reasks', 'maxRetriesPerAnswer');
  renameField(limits, 'repeats', 'stuckAfter');
}

/** Renames what an older version called the kind of a question, in place. Returns the same value. */
export function upcastQuestion(question: unknown): unknown {
  renameField(question, 'about', 'kind');
  if (!isObject(question) || question['kind'] !== 'outcome') return question;
  const own: EventFields = question;
  own['kind'] = 'unknown-outcome';
  return question;
}

function upcastBaseline(baseline: unknown): void {
  if (!isObject(baseline)) return;
  upcastUsageTotals(baseline['total']);
  renameField(baseline, 'going', 'activeRun');
  const { activeRun, calls } = baseline;
  renameField(activeRun, 'reasks', 'answerRetries');
  renameField(activeRun, 'rounds', 'callBatches');
  renameField(activeRun, 'due', 'needsTurn');
  if (isObject(activeRun)) {
    upcastLimits(activeRun['limits']);
    upcastUsageTotals(activeRun['spent']);
  }
  if (Array.isArray(calls)) for (const call of calls) if (isObject(call)) upcastQuestion(call['ask']);
}

/** Sentences in logs written before the event names of this version: what they state is a field of the event today. */
const cwdSentence = /^You are Fairlead, an agent in a person's terminal\. The working folder is (.*)\.$/m;
const clientToolQuestion = 'It was handed to the client, who makes it.';
const hookEndedRunText = 'A hook ended the run';
const deniedByRule = /^The rule (.+?) does not allow this call/;
const deniedByHook = /^The hook (.+?) (?:does not allow|guards) this call/;

const hookInput = /^A \w+ hook of the (?:user|person) adds:\n|^<outside-text[^>\n]* hook of the project/;
const programInput = /^I (?:undid your last changes to these files|ran this command myself):\n/;

/** Returns what wrote an input, by the words that older versions gave it. */
function parseInputSource(parts: unknown): 'hook' | 'program' | undefined {
  const first: unknown = Array.isArray(parts) ? parts[0] : undefined;
  const text = isObject(first) ? first['text'] : undefined;
  if (typeof text !== 'string') return undefined;
  if (hookInput.test(text)) return 'hook';
  return programInput.test(text) ? 'program' : undefined;
}

function parseDecisionSource(text: string): JsonObject | undefined {
  if (text.startsWith(hookEndedRunText)) return { kind: 'hook', endsRun: true };
  if (text === 'A person said no to this call.') return { kind: 'user' };
  const rule = deniedByRule.exec(text)?.[1];
  if (rule !== undefined) return { kind: 'rule', name: rule };
  const hook = deniedByHook.exec(text)?.[1];
  return hook === undefined ? undefined : { kind: 'hook', name: hook };
}

const upcasters: Readonly<Record<string, (event: EventFields) => void>> = {
  'epoch-started'(event) {
    upcastUsageTotals(event['spent']);
    upcastBaseline(event['baseline']);
    if (event['cwd'] !== undefined || typeof event['system'] !== 'string') return;
    const cwd = cwdSentence.exec(event['system'])?.[1];
    if (cwd !== undefined) event['cwd'] = cwd;
  },
  'compaction-failed': (event) => void upcastUsageTotals(event['spent']),
  'input-received'(event) {
    if (event['how'] !== 'steer' || event['by'] !== undefined) return;
    const by = parseInputSource(event['parts']);
    if (by !== undefined) event['by'] = by;
  },
  'run-started': (event) => upcastLimits(event['limits']),
  'turn-ended': (event) => renameField(event, 'finish', 'finishReason'),
  'approval-requested'(event) {
    upcastQuestion(event);
    if (event['kind'] === undefined && event['question'] === clientToolQuestion) event['kind'] = 'client-tool';
  },
  'tool-ended'(event) {
    upcastUsageTotals(event['spent']);
    renameField(event, 'beside', 'overlappedMs');
    renameField(event, 'loads', 'loadsTools');
    renameField(event, 'completes', 'endsRun');
    if (event['outcome'] !== 'denied' || event['deniedBy'] !== undefined || typeof event['text'] !== 'string') return;
    const origin = parseDecisionSource(event['text']);
    if (origin) event['deniedBy'] = origin;
  },
};
